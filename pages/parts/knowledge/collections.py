"""The view Collections: all of them as rows, the chosen one with its sources, a dialog for each action."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import streamlit as st

from components.common.amounts import count_text
from components.common.controls import narrowing
from components.common.embedding_facts import family, has_own_prefixes, model_facts, model_option
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import draw, node
from components.knowledge.collection_cards import (
    SAMPLES,
    Addition,
    advice_note,
    collection_card,
    collection_table,
    matching,
)
from components.labels import COLLECTION_ACTIONS, NAME_RULE
from engine.builtin.full_text import SEGMENTING
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.library.values import GrowthAdvice
from engine.messages import NC_
from engine.people import Role, current_user, signing_in
from engine.plugins import panels
from engine.roles import CollectionInfo
from pages.parts.common.actions import answer_buttons, clear, next_step
from pages.parts.common.rights import may
from pages.parts.common.session_cache import cached_in_session
from pages.parts.knowledge.sources import sources_panel
from pages.parts.knowledge.state import (
    NO_COLLECTION,
    add_files_step,
    added_views,
    aim_at,
    attempt,
    choose,
    chosen_collection,
    go_to,
)
from pages.parts.knowledge.target import embedding_models

Action = Literal["rename", "alias", "describe", "reembed", "full_text", "prefix", "limit", "drop"]
NEEDED: Mapping[str, Role] = {"describe": "editor", "full_text": "editor"}
"""The roles of those that are not for admins alone."""
_LONGEST_NAME = 255
_MANY = 8
"""From so many collections on they can be filtered."""
_ICONS: dict[Action, str] = {
    "rename": "edit",
    "alias": "label",
    "describe": "notes",
    "reembed": "cached",
    "full_text": "manage_search",
    "prefix": "short_text",
    "limit": "lock",
    "drop": "delete",
}


def collections_view(engine: Engine, collections: Sequence[CollectionInfo], words: Words) -> None:
    """Draw the rows and the chosen collection."""
    info = chosen_collection(collections)
    if info is None:
        add_files_step(words(NO_COLLECTION), words, key="kb_none_add")
        return
    if all(item.name == SAMPLES for item in collections) and may("editor"):
        _only_samples(engine, words)
    shown = _narrowed(collections, words)
    unusable = {item.name for item in collections if not usable(engine, item)}
    if not shown:
        clearing = clear("kb_find_collection")
        label = words("Clear the filter")
        next_step(words("No collection matches."), label, "filter_alt_off", key="kb_find_clear", does=clearing)
    else:
        pressed = collection_table(shown, words, key="kb_collections", chosen=info.name, unusable=unusable)
        if pressed is not None and pressed != info.name:
            choose(pressed)
    _one(engine, info, info.name not in unusable, words)


def usable(engine: Engine, info: CollectionInfo) -> bool:
    """Return whether questions to a collection can be embedded now: Ollama's models may be gone, bundled ones stay."""
    if family(info.embedding_model) != "ollama":
        return True
    known = {item.model: item.available for item in embedding_models(engine)}
    # What no one listed may be there all the same: asking is what tells.
    return known.get(info.embedding_model, not known)


def _only_samples(engine: Engine, words: Words) -> None:
    views = added_views(engine, words)
    invitation = next((view.invitation for view in views), words("Only the samples are here so far."))
    with st.container(horizontal=True, vertical_alignment="center", key="kb_only_samples"):
        st.caption(invitation, width="content")
        if may("editor") and st.button(
            words("Add files"), icon=":material/add:", type="tertiary", key="kb_samples_add"
        ):
            go_to("add")
        for view in views:
            key = f"kb_samples_{view.name}"
            if st.button(view.label, icon=f":material/{view.icon}:", type="tertiary", key=key):
                go_to(view.name)


def _narrowed(collections: Sequence[CollectionInfo], words: Words) -> list[CollectionInfo]:
    if len(collections) < _MANY:
        return list(collections)
    return matching(collections, narrowing(words("Filter collections"), key="kb_find_collection"))


def _one(engine: Engine, info: CollectionInfo, is_usable: bool, words: Words) -> None:
    with st.container(key="kb_one"):
        advice = _advice(engine, info)
        if advice is not None:
            advice_note(advice, words, key="kb_advice")
        server = bool(engine.settings.milvus_uri)
        added = _added(engine, info, words)
        facts = [item.fact(info) for item in added]
        collection_card(info, words, key="kb_facts", server=server, usable=is_usable, added=facts)
        _actions(engine, info, added, words)
        if info.fault is not None:
            if fault_box(info.fault, words, key="kb_unreadable", actions=(("again", words("Try again")),)):
                st.rerun()
            return
        st.markdown(f"##### {words('Sources')}")
        sources_panel(engine, info, words)


def _advice(engine: Engine, info: CollectionInfo) -> GrowthAdvice | None:
    def ask() -> GrowthAdvice | None:
        try:
            return engine.library.advice(info.name)
        except WorkbenchError:
            # The facts of the collection say what is wrong with it.
            return None

    return cached_in_session("kb_advice", (engine.instance, info.name, info.passages), ask)


def _added(engine: Engine, info: CollectionInfo, words: Words) -> list[Addition]:
    found = (panel(engine, words) for panel in panels("collection"))
    return [item for item in found if item is not None and item.suits(info)]


def _actions(engine: Engine, info: CollectionInfo, added: Sequence[Addition], words: Words) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="kb_actions"):
        if st.button(words(NC_("knowledge", "Ask it")), icon=":material/account_tree:", type="primary", key="kb_ask"):
            st.switch_page("workbench.py", query_params={"collection": info.name})
        if st.button(words("Search in it"), icon=":material/search:", key="kb_search_in"):
            go_to("search", info.name)
        open_to = not info.read_only and may("editor")
        if open_to and st.button(words("Add files"), icon=":material/add:", key="kb_add_to"):
            st.session_state["kb_into"] = info.name
            go_to("add", info.name)
        for action in actions_of(info, added):
            if isinstance(action, Addition):
                name, icon = action.name, action.icon
            else:
                name, icon = action, _ICONS[action]
            if not may(NEEDED.get(name, "admin")):
                continue
            label = label_of(action, words)
            if st.button(label, icon=f":material/{icon}:", type="tertiary", key=f"kb_do_{name}"):
                open_dialog(action, engine, info, words)


def actions_of(info: CollectionInfo, added: Sequence[Addition] = ()) -> list[Action | Addition]:
    """List a collection's actions: those of other programs are read only, the samples stay as they are.

    ``added`` are those of plug-ins; a limit is for where people sign in.
    """
    limit: list[Action | Addition] = ["limit"] if signing_in() else []
    if info.read_only:
        return [*limit, *added]
    possible: list[Action | Addition] = ["alias", "describe", "reembed"]
    if info.name != SAMPLES:
        possible.insert(0, "rename")
    if not info.full_text or info.segmenting != SEGMENTING:
        possible.append("full_text")
    possible += added
    if has_own_prefixes(info.embedding_model):
        possible.append("prefix")
    possible += limit
    if info.name != SAMPLES:
        possible.append("drop")
    return possible


def open_dialog(action: Action | Addition, engine: Engine, info: CollectionInfo, words: Words) -> None:
    """Open the dialog of one action on a collection."""
    bodies: dict[Action, Callable[[Engine, CollectionInfo, Words], None]] = {
        "rename": _rename,
        "alias": _aliases,
        "describe": _describe,
        "reembed": _reembed,
        "full_text": _full_text,
        "prefix": _prefix,
        "limit": _limit,
        "drop": _drop,
    }

    def body() -> None:
        draw((node("strong", "", info.name),), words, key="kb_dialog_name")
        if isinstance(action, Addition):
            action.dialog(info)
        else:
            bodies[action](engine, info, words)

    st.dialog(label_of(action, words))(body)()


def label_of(action: Action | Addition, words: Words) -> str:
    """Label an action's button."""
    return action.label if isinstance(action, Addition) else words(COLLECTION_ACTIONS[action])


def _end(label: str, act: Callable[[], None], words: Words, *, disabled: bool = False, icon: str | None = None) -> None:
    answer_buttons(label, words("Cancel"), act, key="kb_dialog", disabled=disabled, icon=icon)


def _typed(key: str) -> str:
    return str(st.session_state.get(key) or "").strip()


def _name_box(label: str, key: str, usual: str, words: Words) -> None:
    st.text_input(label, usual, max_chars=_LONGEST_NAME, key=key, help=words(NAME_RULE))


def _rename(engine: Engine, info: CollectionInfo, words: Words) -> None:
    st.caption(
        words("Links and records name the collection as it was called: an alias with the old name keeps them working.")
    )
    key = f"kb_rename_{info.name}"
    _name_box(words("New name"), key, info.name, words)
    st.checkbox(words("Keep the old name as an alias"), True, key="kb_rename_keep")

    def act() -> None:
        new, keep = _typed(key), bool(st.session_state.get("kb_rename_keep"))
        if new in ("", info.name):
            return
        said = words("{name} is called {new} now.", name=info.name, new=new)
        if attempt(lambda: engine.library.rename(info.name, new, keep_old=keep), said):
            aim_at("collections", new)

    _end(words("Save"), act, words)


def _aliases(engine: Engine, info: CollectionInfo, words: Words) -> None:
    st.caption(
        words(
            "An alias is another name under which runs, links and the API can ask for this collection. It can be "
            "moved to another collection later, which switches all that use it."
        )
    )
    for alias in info.aliases:
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.text(alias)
            if st.button(
                words("Take away {name}", name=alias),
                icon=":material/close:",
                type="tertiary",
                key=f"kb_alias_drop_{alias}",
                on_click=_drop_alias,
                args=(engine, alias, words),
            ):
                st.rerun()
    key = f"kb_alias_{info.name}"
    _name_box(words("Add an alias"), key, "", words)

    def act() -> None:
        new = _typed(key)
        if new:
            attempt(lambda: engine.library.set_alias(new, info.name), words("Saved."))

    _end(words("Save"), act, words)


def _drop_alias(engine: Engine, alias: str, words: Words) -> None:
    attempt(lambda: engine.library.drop_alias(alias), words("Saved."))


def _describe(engine: Engine, info: CollectionInfo, words: Words) -> None:
    st.caption(words("Shown wherever the collection is chosen."))
    key = f"kb_describe_{info.name}"
    st.text_area(words("Description"), info.description, max_chars=2000, key=key)

    def act() -> None:
        attempt(lambda: engine.library.set_description(info.name, _typed(key)), words("Saved."))

    _end(words("Save"), act, words)


def _reembed(engine: Engine, info: CollectionInfo, words: Words) -> None:
    st.caption(
        words("Every passage is embedded again into a new collection; this one stays as it is until you delete it.")
    )
    models = {item.model: item for item in embedding_models(engine) if item.available and not _same(item.model, info)}
    if not models:
        st.info(words("No other embedding model is at hand. Pull one with Ollama, for example `ollama pull bge-m3`."))
        return
    chosen = str(
        st.selectbox(
            words("Embedding model"),
            list(models),
            format_func=lambda name: model_option(models[name], words) if name in models else name,
            key=f"kb_reembed_model_{info.name}",
        )
    )
    st.caption(model_facts(models[chosen], words))
    key = f"kb_reembed_{info.name}_{family(chosen)}"
    _name_box(words("Name of the new collection"), key, f"{info.name}_{family(chosen)}", words)
    if info.name != SAMPLES:
        # The samples keep their name: they come back under it at every start.
        label = words("Let it take the name {name} when it is complete", name=info.name)
        st.checkbox(
            label,
            help=words("Runs, links and the API that name this collection then search the new one."),
            key="kb_reembed_switch",
        )

    def act() -> None:
        switch = info.name != SAMPLES and bool(st.session_state.get("kb_reembed_switch"))
        if attempt(lambda: engine.ingestions.start_reembed(info.name, _typed(key), chosen, switch=switch)):
            aim_at("add")

    _end(words("Begin"), act, words)


def _same(model: str, info: CollectionInfo) -> bool:
    """Return whether a model of the choice is the one that the collection was embedded with."""
    kind = family(model)
    return kind == family(info.embedding_model) and (kind != "ollama" or model == info.embedding_model)


def _full_text(engine: Engine, info: CollectionInfo, words: Words) -> None:
    st.text(
        words(
            "The collection is rewritten with a field of words, so that it can be searched by words too. Its vectors "
            "are copied: nothing is embedded again."
        )
    )

    def act() -> None:
        if attempt(lambda: engine.ingestions.start_add_full_text(info.name)):
            aim_at("add")

    _end(words("Begin"), act, words)


def _prefix(engine: Engine, info: CollectionInfo, words: Words) -> None:
    """The query prefix can be changed at any time: the stored vectors do not depend on it."""
    st.caption(
        words("Put before every question to this collection. The passages' prefix is part of their vectors and stays.")
    )
    key = f"kb_prefix_{info.name}"
    st.text_input(words("Before a query"), info.query_prefix, key=key, max_chars=500)

    def act() -> None:
        # With its spaces: many prefixes end in one.
        typed = str(st.session_state.get(key) or "")
        attempt(lambda: engine.set_query_prefix(info.name, typed), words("Saved."))

    _end(words("Save"), act, words)


def _limit(engine: Engine, info: CollectionInfo, words: Words) -> None:
    """Limit the readers to some groups, by their names at the provider."""
    st.caption(
        words(
            "Only people of these groups, and admins, then read it, search it, and see runs that searched it. Without "
            "a group everybody who signs in does."
        )
    )
    key = f"kb_limit_{info.name}"
    limits = engine.limits.all()
    known = sorted({group for groups in limits.values() for group in groups} | current_user().groups)
    st.multiselect(
        words("Groups"),
        known,
        sorted(limits.get(info.name, ())),
        accept_new_options=True,
        placeholder=words("everybody"),
        key=key,
    )

    def act() -> None:
        chosen = [str(group) for group in st.session_state.get(key) or ()]
        attempt(lambda: engine.limit_collection(info.name, chosen), words("Saved."))

    _end(words("Save"), act, words)


def _drop(engine: Engine, info: CollectionInfo, words: Words) -> None:
    """One that holds something has to be named, so that no slip of the hand takes it."""
    st.text(
        words(
            "{name} goes with {n} passages for good, and with its open drafts of questions and the fits of graders to "
            "it. Records of runs keep what they saw; query sets stay.",
            name=info.name,
            n=count_text(info.passages),
        )
    )
    key = f"kb_drop_{info.name}"
    if info.passages:
        st.text_input(words("Type {name} to confirm", name=info.name), key=key, live=True)

    def sure() -> bool:
        return not info.passages or _typed(key) == info.name

    def act() -> None:
        if sure():
            attempt(lambda: engine.library.drop(info.name), words("{name} was deleted.", name=info.name))

    _end(words("Delete it"), act, words, disabled=not sure(), icon=":material/delete:")
