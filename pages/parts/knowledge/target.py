"""Target of files: an existing collection, or a new one with name, description and embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from components.common.controls import pick
from components.common.embedding_facts import has_own_prefixes, model_facts, model_name, model_option
from components.common.i18n import Words
from components.knowledge.draw import quiet
from components.labels import CONTEXT, CONTEXT_HELP, CONTEXT_NAMES, NAME_RULE
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.knowledge.milvus_schema import check_new_name
from engine.library.values import ProposedModel
from engine.model.values import NEW_CONTEXT, PassageContext
from engine.roles import CollectionInfo
from pages.parts.common.session_cache import cached_in_session
from pages.parts.knowledge.state import SAMPLES, sized
from pages.parts.knowledge.writer import writer_choice

_NEW = ""
_SUGGESTED = "my_documents"


@dataclass(frozen=True, slots=True)
class Target:
    """Chosen target of files; ``name`` is empty until one is typed."""

    name: str
    new: bool = False
    embedding_model: str = ""
    """Empty: that of the collection, or of the settings for a new one."""
    query_prefix: str | None = None
    passage_prefix: str | None = None
    context: PassageContext | None = None
    """Form of context of a new collection."""
    context_model: str = ""
    """The chat model that writes its sentences; empty in every other form, and until one is chosen."""
    description: str = ""


def target_choice(engine: Engine, collections: Sequence[CollectionInfo], words: Words) -> Target:
    """Draw the choice; one's own collections come before the samples, and those of others are not offered."""
    by_name = {info.name: info for info in writable(collections)}
    options = [*by_name, _NEW]
    if st.session_state.get("kb_into_next") in by_name:
        # What was a new collection a moment ago is there now, and takes the next files too.
        st.session_state["kb_into"] = st.session_state.pop("kb_into_next")
    if st.session_state.get("kb_into") not in options:
        st.session_state["kb_into"] = options[0] if options[0] != SAMPLES else _NEW
    chosen = st.selectbox(
        words("Collection"),
        options,
        format_func=lambda name: _option(name, by_name, words),
        key="kb_into",
        persist_state="session",
    )
    if chosen:
        info = by_name[str(chosen)]
        model = model_name(info.embedding_model, words)
        quiet(
            f"{words('Embedding model')}: {model} · {words(CONTEXT)}: {context_text(info, words)}",
            words,
            key="kb_model_existing",
        )
        return Target(info.name)
    return _new_collection(engine, set(by_name), words)


def writable(collections: Sequence[CollectionInfo]) -> list[CollectionInfo]:
    """Collections that files can go into, the samples last."""
    own = [info for info in collections if not info.read_only]
    return sorted(own, key=lambda info: info.name == SAMPLES)


def _option(name: str, by_name: dict[str, CollectionInfo], words: Words) -> str:
    if name not in by_name:
        return words("＋ New collection")
    return sized(name, by_name[name].passages, words)


def _new_collection(engine: Engine, taken: set[str], words: Words) -> Target:
    st.session_state.setdefault("kb_name", "" if _SUGGESTED in taken else _SUGGESTED)
    name = str(
        st.text_input(words("Name"), key="kb_name", max_chars=255, help=words(NAME_RULE), persist_state="session") or ""
    ).strip()
    if name in taken:
        st.caption(words("{name} exists; the files go into it.", name=name))
        return Target(name)
    if name and not _usable(name):
        st.markdown(f":orange[:small[{words(NAME_RULE)}]]")
    description = st.text_input(
        words("Description"),
        key="kb_description",
        max_chars=500,
        persist_state="session",
    )
    model = _model_choice(engine, words)
    context = context_choice(words, key="kb_context")
    writer = writer_choice(engine, words, key="kb_writer") if context == "written" else ""
    query, passage = _prefixes(words) if has_own_prefixes(model) else (None, None)
    return Target(name, True, model, query, passage, context, writer, str(description or "").strip())


def context_text(info: CollectionInfo, words: Words) -> str:
    """The form of context, with the model that writes its sentences."""
    return " · ".join(filter(None, (words(CONTEXT_NAMES[info.context]), info.context_model)))


def context_choice(words: Words, *, key: str, usual: PassageContext = NEW_CONTEXT) -> PassageContext:
    """The form of context of a collection that is made."""
    shown = {form: words(name) for form, name in CONTEXT_NAMES.items()}
    return pick(words(CONTEXT), shown, key=key, usual=usual, label_visibility="visible", help=words(CONTEXT_HELP))


def _usable(name: str) -> bool:
    try:
        check_new_name(name)
    except WorkbenchError:
        return False
    return True


def _model_choice(engine: Engine, words: Words) -> str:
    """The embedding model of a new collection, with what there is to know of it."""
    models = {item.model: item for item in embedding_models(engine)}
    usual = engine.settings.embedding_model
    if not models:
        return usual
    if st.session_state.get("kb_model") not in models:
        st.session_state["kb_model"] = usual if usual in models else next(iter(models))
    chosen = st.selectbox(
        words("Embedding model"),
        list(models),
        format_func=lambda name: model_option(models[name], words) if name in models else name,
        key="kb_model",
        persist_state="session",
    )
    item = models[str(chosen)]
    st.caption(model_facts(item, words))
    return item.model


def embedding_models(engine: Engine) -> tuple[ProposedModel, ...]:
    """List the embedding models for new collections; only the bundled ones if Ollama does not answer."""

    def ask() -> tuple[ProposedModel, ...]:
        try:
            return engine.library.embedding_models()
        except WorkbenchError:
            return ()

    # Asked once a visit: every slider runs the page again, and a server that is off takes its time to say so.
    return cached_in_session("embedding_models", engine.instance, ask)


def _prefixes(words: Words) -> tuple[str | None, str | None]:
    """Prefixes where the model lets them be chosen; left empty, those known for the model."""
    with st.expander(words("Settings")):
        query = st.text_input(
            words("Query prefix"),
            key="kb_query_prefix",
            placeholder=words("default"),
            max_chars=500,
            persist_state="session",
        )
        passage = st.text_input(
            words("Passage prefix"),
            key="kb_passage_prefix",
            placeholder=words("default"),
            max_chars=500,
            persist_state="session",
        )
    return query or None, passage or None
