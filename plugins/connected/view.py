"""The Connect view of the Knowledge page: collections of other programs, step by step from address to name."""

from __future__ import annotations

from functools import partial

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from components.knowledge.draw import quiet
from engine.engine import Engine
from engine.library.values import FieldMap, RemoteField
from engine.messages import N_, NC_
from pages.parts.common.actions import answer_buttons
from pages.parts.knowledge.state import attempt
from plugins.connected.background_calls import begin, forget, result_of
from plugins.connected.cards import connection_cards, field_table, remote_table
from plugins.connected.checking import Chosen, check_and_connect
from plugins.connected.connections import Connections
from plugins.connected.values import Place, RemoteCollection

_NOTHING = N_("No collection to connect here. Check the database or the address.")

_FIELDS = {
    "text": N_("Text of the passage"),
    "vector": N_("Its vector"),
    "source": N_("Source"),
    "title": N_("Title"),
    "section": N_("Section"),
}

_LOOK, _INSPECT = "connect_look", "connect_inspect"
_STEPS = (_LOOK, _INSPECT, "connect_try", "connect_probe", "connect_connect")
_PLACE = "connect_place"
_TEXTS = ("VARCHAR", "STRING", "TEXT", "dynamic", "json")


def connect_page(engine: Engine, words: Words) -> None:
    """Draw the view."""
    st.caption(words("Ask a Milvus collection of another program. It is only read."))
    connections(engine, words)
    place = choose_place(engine, words)
    if place is None:
        return
    found: tuple[RemoteCollection, ...] | None = result_of(
        _LOOK, place_key(place), words("Looking at the store …"), words
    )
    if found is None:
        return
    collection = choose_collection(found, words)
    if collection is None:
        return
    about = (*place_key(place), collection)
    begin(_INSPECT, about, partial(Connections.of(engine).inspect, place, collection))
    inspected: RemoteCollection | None = result_of(_INSPECT, about, words("Reading the collection …"), words)
    if inspected is None:
        return
    st.markdown(f"##### {words('3 · What its fields hold')}")
    field_table(inspected.fields, words, key=f"connect_fields_{collection}")
    if inspected.fault is not None:
        fault_box(inspected.fault, words, key="connect_unusable", severity="warning")
        return
    fields = choose_fields(inspected, words)
    if fields is not None:
        check_and_connect(engine, Chosen(place, inspected, fields), words, _STEPS)


def connections(engine: Engine, words: Words) -> None:
    """Show the connections with their actions."""
    if (fault := Connections.of(engine).fault) is not None:
        fault_box(fault, words, key="connect_file", severity="warning")
    states = Connections.of(engine).states()
    if not states:
        st.caption(words("Nothing connected yet."))
        return
    st.markdown(f"##### {words('Connections')}")
    pressed = connection_cards(states, words, key="connect_kept")
    if pressed is None:
        return
    what, name = pressed
    if what == "ask":
        st.switch_page("workbench.py", query_params={"collection": name})
    st.dialog(words(NC_("connection", "Disconnect")))(confirm)(engine, name, words)


def confirm(engine: Engine, name: str, words: Words) -> None:
    """The body of the dialog that asks before a connection goes."""
    st.text(words("Disconnect {name}? The collection itself stays as it is.", name=name))

    def act() -> None:
        attempt(lambda: Connections.of(engine).disconnect(name), words("{name} is disconnected.", name=name))

    answer_buttons(words(NC_("connection", "Disconnect")), words("Keep"), act, key="connect_disconnect")


def choose_place(engine: Engine, words: Words) -> Place | None:
    """Step 1; the token stays in this session and goes to no address of the page."""
    st.markdown(f"##### {words('1 · Where it is')}")
    # A new key empties the box once a connection is made: the page keeps no token longer than it needs it.
    generation = st.session_state.setdefault("connect_generation", 0)
    with st.form("connect_form", enter_to_submit=True):
        left, middle, right = st.columns([3, 2, 2])
        address = left.text_input(
            words("Address"),
            key="connect_address",
            max_chars=500,
            help=words(
                "A server, or the path of a Milvus Lite folder ending in .db. Empty: this workbench's own store."
            ),
            placeholder="http://127.0.0.1:19530",
        )
        token = middle.text_input(
            words("Token"),
            type="password",
            key=f"connect_token_{generation}",
            max_chars=500,
            help=words("`user:password` or an API key. Kept in a file that only you can read."),
        )
        database = right.text_input(
            words("Database"),
            key="connect_database",
            max_chars=100,
            help=words("Empty: the default database."),
        )
        if st.form_submit_button(words("Show collections"), type="primary", icon=":material/search:"):
            place = Place(address.strip(), token.strip(), database.strip())
            forget(*_STEPS)
            st.session_state[_PLACE] = place
            begin(_LOOK, place_key(place), partial(Connections.of(engine).look, place))
    chosen: Place | None = st.session_state.get(_PLACE)
    return chosen


def place_key(place: Place) -> tuple[str, str, str]:
    return (place.address, place.token, place.database)


def choose_collection(found: tuple[RemoteCollection, ...], words: Words) -> str | None:
    """Step 2: all collections with why some cannot be asked, and a choice of the others."""
    st.markdown(f"##### {words('2 · Which collection')}")
    usable = [item.name for item in found if item.fault is None]
    if found:
        remote_table(found, words, key="connect_found")
    if not usable:
        st.info(words(_NOTHING))
        return None
    if st.session_state.get("connect_collection") not in usable:
        st.session_state.pop("connect_collection", None)
    chosen = st.selectbox(words("Collection"), usable, key="connect_collection")
    return str(chosen)


def choose_fields(inspected: RemoteCollection, words: Words) -> FieldMap | None:
    """Step 3, preset with what the names and rows suggest; the key cannot be chosen."""
    proposed = inspected.proposed
    key = next((item.name for item in inspected.fields if item.primary), "")
    vectors = [item.name for item in inspected.fields if item.type == "FLOAT_VECTOR"]
    texts = [item.name for item in inspected.fields if item.type in _TEXTS and not item.primary]
    if proposed is None or not texts or not vectors:
        st.info(words(_NOTHING))
        return None
    columns = st.columns(5)
    chosen = {}
    for column, (name, text) in zip(columns, _FIELDS.items(), strict=True):
        options = {"text": texts, "vector": vectors}.get(name, ["", *texts])
        preset = getattr(proposed, name)
        chosen[name] = column.selectbox(
            words(text),
            options,
            index=options.index(preset) if preset in options else 0,
            format_func=lambda field: field or words("– none –"),
            key=f"connect_{name}_{inspected.name}",
        )
    vector = _field(inspected, chosen["vector"])
    metric = vector.metric or "COSINE"
    note = words("Similarities are computed here from the vectors themselves, regardless of the metric.")
    quiet(
        f"{words('{dim} dimensions, compared by {metric}', dim=vector.dim, metric=metric)} · {note}",
        words,
        key="connect_dim",
    )
    return FieldMap(key, chosen["text"], chosen["vector"], chosen["source"], chosen["title"], chosen["section"])


def _field(inspected: RemoteCollection, name: str) -> RemoteField:
    return next(item for item in inspected.fields if item.name == name)
