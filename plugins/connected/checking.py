"""The last steps of the Connect view: the model, whether it is the right one, and the name of the connection."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from components.common.embedding_facts import model_option
from components.common.i18n import Words
from engine.engine import Engine
from engine.library.values import FieldMap, ProposedModel
from engine.roles import CollectionInfo
from pages.parts.knowledge.state import say
from plugins.connected.background_calls import begin, forget, result_of
from plugins.connected.cards import model_note, probe_results, self_search_note
from plugins.connected.connections import Connections
from plugins.connected.values import Connection, Place, RemoteCollection, SelfSearch

_TRY, _PROBE, _CONNECT = "connect_try", "connect_probe", "connect_connect"
_OLLAMA = "ollama:"
_MOST_QUESTIONS = 5


@dataclass(frozen=True, slots=True)
class Chosen:
    """Choices from the earlier steps."""

    place: Place
    collection: RemoteCollection
    fields: FieldMap

    @property
    def dim(self) -> int:
        return next(item.dim for item in self.collection.fields if item.name == self.fields.vector)

    @property
    def metric(self) -> str:
        found = next(item.metric for item in self.collection.fields if item.name == self.fields.vector)
        return found or "COSINE"


def check_and_connect(engine: Engine, chosen: Chosen, words: Words, steps: Sequence[str]) -> None:
    """Draw steps 4 to 6; ``steps`` are the calls to forget once the collection is connected."""
    connection = choose_model(engine, chosen, words)
    if connection is None:
        return
    checked = check(engine, connection, words)
    name_and_connect(engine, connection, checked, words, steps)


def choose_model(engine: Engine, chosen: Chosen, words: Words) -> Connection | None:
    """Step 4: models whose vectors are as wide, and the prefixes of one of Ollama."""
    st.markdown(f"##### {words('4 · Which model made its vectors')}")
    proposals = {item.model: item for item in proposed(engine, chosen)}
    if not proposals:
        st.info(
            words(
                "No model here makes vectors of {dim} dimensions. Type one of Ollama's as ollama:NAME, or add "
                "the files to a collection of your own.",
                dim=chosen.dim,
            )
        )
    key = f"connect_model_{chosen.collection.name}_{chosen.dim}"
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    model = left.selectbox(
        words("Embedding model"),
        list(proposals),
        format_func=lambda name: model_option(proposals[name], words) if name in proposals else name,
        accept_new_options=True,
        help=words("The model that embedded the passages; another one of Ollama's as ollama:NAME."),
        key=key,
    )
    if not model:
        return None
    with right:
        model_note(str(model), proposals.get(str(model)), chosen.dim, words, key="connect_why")
    query, passage = prefixes(str(model), chosen.collection, words)
    return Connection(
        name="",
        place=chosen.place,
        collection=chosen.collection.name,
        fields=chosen.fields,
        dim=chosen.dim,
        metric=chosen.metric,
        embedding_model=str(model),
        query_prefix=query,
        passage_prefix=passage,
    )


def proposed(engine: Engine, chosen: Chosen) -> tuple[ProposedModel, ...]:
    """Of the inspected collection, or for the width of other vectors of it than those proposed."""
    found = chosen.collection.models
    if chosen.collection.proposed is None or chosen.fields.vector == chosen.collection.proposed.vector:
        return found
    kept: dict[int, tuple[ProposedModel, ...]] = st.session_state.setdefault("connect_models", {})
    if chosen.dim not in kept:
        kept[chosen.dim] = Connections.of(engine).models(chosen.dim)
    return kept[chosen.dim]


def prefixes(model: str, collection: RemoteCollection, words: Words) -> tuple[str | None, str | None]:
    """Return the typed prefixes; None if the model's own are used."""
    if not model.startswith(_OLLAMA):
        st.caption(words("Prefixes are the model's own."))
        return None, None
    own, *keys = (f"connect_{name}_{model}" for name in ("prefixes", "query_prefix", "passage_prefix"))
    # A widget may be given a value only before it is drawn: better prefixes were taken in the last run of the page.
    taken: tuple[str, str] | None = st.session_state.pop("connect_better", None)
    recorded = (collection.query_prefix, collection.passage_prefix)
    for key, usual, better in zip(keys, recorded, taken or ("", ""), strict=True):
        if taken is not None:
            st.session_state[key] = better
        st.session_state.setdefault(key, usual or "")
    if taken is not None:
        st.session_state[own] = True
    st.session_state.setdefault(own, recorded[0] is not None)
    given = st.toggle(words("Set the prefixes"), key=own)
    if not given:
        return None, None
    left, right = st.columns(2)
    help_text = words("What the other program put before each text.")
    query = left.text_input(words("Before a query"), key=keys[0], max_chars=500, help=help_text)
    passage = right.text_input(words("Before a passage"), key=keys[1], max_chars=500, help=help_text)
    return query, passage


def check(engine: Engine, connection: Connection, words: Words) -> SelfSearch | None:
    """Step 5: the verdict on the model, and what test questions find."""
    st.markdown(f"##### {words('5 · Check it')}")
    about = about_of(connection)
    if st.button(
        words("Check the model"),
        icon=":material/fact_check:",
        key="connect_check",
        help=words("Re-embeds up to 20 passages and compares; takes some seconds."),
    ):
        forget(_TRY)
        begin(_TRY, about, partial(Connections.of(engine).try_out, connection))
    found: SelfSearch | None = result_of(_TRY, about, words("Re-embedding stored passages and comparing …"), words)
    if found is not None and self_search_note(found, connection.metric, words, key="connect_verdict") and found.better:
        st.session_state["connect_better"] = (found.better.query_prefix, found.better.passage_prefix)
        st.rerun()
    with st.form("connect_probe_form", border=False):
        typed = st.text_area(
            words("Test questions, one a line"),
            key="connect_questions",
            help=words("Some that it should answer, and one that it should not."),
            max_chars=4000,
        )
        asked = st.form_submit_button(words("Ask"), icon=":material/search:")
    questions = tuple(line.strip() for line in typed.splitlines() if line.strip())[:_MOST_QUESTIONS]
    if asked and questions:
        forget(_PROBE)
        begin(_PROBE, (*about, questions), partial(Connections.of(engine).probe, connection, questions))
    probed = result_of(_PROBE, (*about, questions), words("Asking the test questions …"), words)
    if probed is not None:
        probe_results(probed, words, key="connect_probed")
    return found


def name_and_connect(
    engine: Engine, connection: Connection, checked: SelfSearch | None, words: Words, steps: Sequence[str]
) -> None:
    """Step 6; not before the model was checked, for with a wrong one nothing would be found."""
    st.markdown(f"##### {words('6 · Its name here')}")
    key = f"connect_name_{connection.collection}"
    st.session_state.setdefault(key, name_for(connection.collection))
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    name = left.text_input(
        words("Name"),
        key=key,
        max_chars=60,
        help=words("Letters, digits and underscores, beginning with a letter."),
    )
    about = (*about_of(connection), name)
    if checked is None:
        st.caption(words("Check the model first."))
    pressed = right.button(
        words("Connect"),
        type="primary",
        icon=":material/link:",
        key="connect_go",
        disabled=checked is None or not name.strip(),
    )
    if pressed:
        forget(_CONNECT)
        begin(_CONNECT, about, partial(Connections.of(engine).connect, replace(connection, name=name.strip())))
    done: CollectionInfo | None = result_of(_CONNECT, about, words("Connecting …"), words)
    if done is not None:
        say(words("{name} is connected: {passages} passages, read only.", name=done.name, passages=done.passages))
        forget(*steps, "connect_place")
        st.session_state["connect_generation"] = st.session_state.get("connect_generation", 0) + 1
        st.rerun()


def about_of(connection: Connection) -> tuple[str, ...]:
    """All that the outcome of a check depends on, the token included: another one may be refused."""
    place, fields = connection.place, connection.fields
    prefixes_given = (str(connection.query_prefix), str(connection.passage_prefix))
    names = (fields.text, fields.vector, fields.source, fields.title, fields.section)
    return (
        *(place.address, place.token, place.database, connection.collection),
        *names,
        connection.embedding_model,
        *prefixes_given,
    )


def name_for(collection: str) -> str:
    """A name of ours that resembles theirs."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", collection).strip("_")[:60]
    return plain if plain[:1].isalpha() else f"c_{plain}"[:60]
