"""What can be done to a collection other than searching it: one dialog each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from components.common.amounts import count_text
from components.common.embedding_facts import family, has_own_prefixes, model_facts, model_name, model_option
from components.common.i18n import Words
from components.common.markup import draw, node
from components.labels import COLLECTION_ACTIONS, NAME_RULE
from engine.builtin.full_text import SEGMENTING
from engine.engine import Engine
from engine.model.values import NEW_CONTEXT
from engine.people import Role, current_user, signing_in
from engine.roles import CollectionInfo
from pages.parts.common.actions import answer_buttons
from pages.parts.common.rights import may
from pages.parts.knowledge.state import SAMPLES, Addition, aim_at, attempt
from pages.parts.knowledge.target import context_choice, context_text, embedding_models
from pages.parts.knowledge.writer import writer_choice

_LONGEST_NAME = 255
_WANTED, _PRESSES = "kb_action", "kb_actions_pressed"
"""Session keys of the action that was pressed, and of how many were."""


def actions_of(engine: Engine, info: CollectionInfo, added: Sequence[Addition], words: Words) -> list[Addition]:
    """List what the reader may do to a collection; ``added`` are actions of plug-ins.

    Collections of other programs are read only, the samples keep their name and stay, a limit is for where people sign
    in.
    """
    own = info.name != SAMPLES
    suits = {
        "rename": own,
        "full_text": not info.full_text or info.segmenting != SEGMENTING,
        "prefix": has_own_prefixes(info.embedding_model),
        "limit": signing_in(),
        "drop": own,
    }
    possible = [
        Addition(name, words(COLLECTION_ACTIONS[name]), icon, partial(body, engine, words=words))
        for name, (icon, least, body) in _OWN.items()
        if suits.get(name, True) and (name == "limit" or not info.read_only) and may(least)
    ]
    return [*possible, *(added if may("admin") else ())]


def panel(engine: Engine, info: CollectionInfo, added: Sequence[Addition], words: Words) -> None:
    """Draw a button for each action behind one name; a press opens its dialog."""
    actions = actions_of(engine, info, added, words)
    if not actions:
        return
    # A new key closes it, or it would stand over the dialog.
    key = f"kb_manage_{st.session_state.get(_PRESSES, 0)}"
    with st.popover(words("Manage"), icon=":material/more_horiz:", type="tertiary", key=key):
        for action in actions:
            icon, name = f":material/{action.icon}:", action.name
            st.button(action.label, icon=icon, type="tertiary", key=f"kb_do_{name}", on_click=_pressed, args=(name,))
    wanted = st.session_state.pop(_WANTED, "")
    for action in actions:
        if action.name == wanted:
            st.dialog(action.label)(_body)(action, info, words)


def _pressed(name: str) -> None:
    st.session_state[_WANTED] = name
    st.session_state[_PRESSES] = st.session_state.get(_PRESSES, 0) + 1


def _body(action: Addition, info: CollectionInfo, words: Words) -> None:
    draw((node("strong", "", info.name),), words, key="kb_dialog_name")
    action.dialog(info)


def _end(label: str, act: Callable[[], None], words: Words, *, disabled: bool = False, icon: str | None = None) -> None:
    answer_buttons(label, words("Cancel"), act, key="kb_dialog", disabled=disabled, icon=icon)


def _typed(key: str) -> str:
    return str(st.session_state.get(key) or "").strip()


def _name_box(label: str, key: str, usual: str, words: Words) -> None:
    st.text_input(label, usual, max_chars=_LONGEST_NAME, key=key, help=words(NAME_RULE))


def _rename(engine: Engine, info: CollectionInfo, words: Words) -> None:
    key = f"kb_rename_{info.name}"
    _name_box(words("New name"), key, info.name, words)
    st.checkbox(words("Keep the old name as an alias, for links and records"), True, key="kb_rename_keep")

    def act() -> None:
        new, keep = _typed(key), bool(st.session_state.get("kb_rename_keep"))
        if new in ("", info.name):
            return
        said = words("Saved.")
        if attempt(lambda: engine.library.rename(info.name, new, keep_old=keep), said):
            aim_at("collections", new)

    _end(words("Save"), act, words)


def _aliases(engine: Engine, info: CollectionInfo, words: Words) -> None:
    for alias in info.aliases:
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.text(alias)
            if st.button(
                words("Remove {name}", name=alias),
                icon=":material/close:",
                type="tertiary",
                key=f"kb_alias_drop_{alias}",
                on_click=_drop_alias,
                args=(engine, alias, words),
            ):
                st.rerun()
    key = f"kb_alias_{info.name}"
    _name_box(words("New name"), key, "", words)

    def act() -> None:
        new = _typed(key)
        if new:
            attempt(lambda: engine.library.set_alias(new, info.name), words("Saved."))

    _end(words("Save"), act, words)


def _drop_alias(engine: Engine, alias: str, words: Words) -> None:
    attempt(lambda: engine.library.drop_alias(alias), words("Saved."))


def _describe(engine: Engine, info: CollectionInfo, words: Words) -> None:
    key = f"kb_describe_{info.name}"
    st.text_area(words("Description"), info.description, max_chars=2000, key=key)

    def act() -> None:
        attempt(lambda: engine.library.set_description(info.name, _typed(key)), words("Saved."))

    _end(words("Save"), act, words)


def _reembed(engine: Engine, info: CollectionInfo, words: Words) -> None:
    st.caption(words("Embeds every passage into a new collection. This one stays until you delete it."))
    model = model_name(info.embedding_model, words)
    st.caption(words("Now by {model}, context: {context}.", model=model, context=context_text(info, words)))
    usual = NEW_CONTEXT if info.context == "none" else info.context
    context = context_choice(words, key=f"kb_reembed_context_{info.name}", usual=usual)
    writer = ""
    if context == "written":
        writer = writer_choice(engine, words, key=f"kb_reembed_writer_{info.name}", info=info)
    chosen = _model_for(engine, info, words)
    own, same = _same(chosen, info), (context, writer) == (info.context, info.context_model)
    changed = (*(() if same else (context,)), *(() if own else (family(chosen),)))
    suffix = "_".join(changed) or "2"
    key = f"kb_reembed_{info.name}_{suffix}"
    _name_box(words("New name"), key, f"{info.name}_{suffix}", words)
    # The samples keep their name: they come back under it at every start.
    may_switch = info.name != SAMPLES
    if may_switch:
        label = words("Give it the name {name} when done; this one is renamed with “_before”", name=info.name)
        st.checkbox(label, key="kb_reembed_switch")
    if not changed:
        st.caption(words("Nothing would change. Choose another context or another embedding model."))

    def act() -> None:
        switch = may_switch and bool(st.session_state.get("kb_reembed_switch"))
        if attempt(
            lambda: engine.ingestions.start_reembed(
                info.name, _typed(key), chosen, switch=switch, context=context, context_model=writer
            )
        ):
            aim_at("add")

    _end(words("Start"), act, words, disabled=not changed or (context == "written" and not writer))


def _model_for(engine: Engine, info: CollectionInfo, words: Words) -> str:
    """The model that embeds a collection again, its own first, with what there is to know of it."""
    models = {item.model: item for item in embedding_models(engine) if item.available}
    chosen = st.selectbox(
        words("Embedding model"),
        sorted(models, key=lambda name: not _same(name, info)),
        format_func=lambda name: model_option(models[name], words) if name in models else name,
        key=f"kb_reembed_model_{info.name}",
    )
    st.caption(model_facts(models[str(chosen)], words))
    return str(chosen)


def _same(model: str, info: CollectionInfo) -> bool:
    """Return whether a model of the choice is the one that the collection was embedded with."""
    kind = family(model)
    return kind == family(info.embedding_model) and (kind != "ollama" or model == info.embedding_model)


def _full_text(engine: Engine, info: CollectionInfo, words: Words) -> None:
    st.text(
        words(
            "Rewrites the collection so that it can be searched by words too. Vectors are copied, not embedded again."
        )
    )

    def act() -> None:
        if attempt(lambda: engine.ingestions.start_add_full_text(info.name)):
            aim_at("add")

    _end(words("Start"), act, words)


def _prefix(engine: Engine, info: CollectionInfo, words: Words) -> None:
    """The query prefix can be changed at any time: the stored vectors do not depend on it."""
    key = f"kb_prefix_{info.name}"
    st.text_input(words("Query prefix"), info.query_prefix, key=key, max_chars=500)

    def act() -> None:
        # With its spaces: many prefixes end in one.
        typed = str(st.session_state.get(key) or "")
        attempt(lambda: engine.set_query_prefix(info.name, typed), words("Saved."))

    _end(words("Save"), act, words)


def _limit(engine: Engine, info: CollectionInfo, words: Words) -> None:
    """Limit the readers to some groups, by their names at the provider."""
    st.caption(
        words("Only these groups and admins read it and see runs that searched it. Empty: everyone who signs in.")
    )
    key = f"kb_limit_{info.name}"
    limits = engine.limits.all()
    known = sorted({group for groups in limits.values() for group in groups} | current_user().groups)
    st.multiselect(
        words("Groups"),
        known,
        sorted(limits.get(info.name, ())),
        accept_new_options=True,
        placeholder="",
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
            "Deletes {n} passages, open drafts and fitted graders for good. Records of runs and query sets stay.",
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
            attempt(lambda: engine.library.drop(info.name), words("Deleted."))

    _end(words("Delete"), act, words, disabled=not sure(), icon=":material/delete:")


_OWN: dict[str, tuple[str, Role, Callable[..., None]]] = {
    "rename": ("edit", "admin", _rename),
    "alias": ("label", "admin", _aliases),
    "describe": ("notes", "editor", _describe),
    "reembed": ("cached", "admin", _reembed),
    "full_text": ("manage_search", "editor", _full_text),
    "prefix": ("short_text", "admin", _prefix),
    "limit": ("lock", "admin", _limit),
    "drop": ("delete", "admin", _drop),
}
"""The icon, the least role and the dialog of each action."""
