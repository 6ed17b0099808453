"""The widgets of the panel, one for each kind of setting, each bound to the address under its own name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.i18n import Words
from components.common.markup import draw, node
from components.common.phrases import begun, fault_text, model_label
from components.common.url_state import put_into_url, take_from_url
from components.labels import help_of, name_of
from engine.errors import InvalidConfig
from engine.evaluation.measured_models import Entry, measured_models
from engine.messages import N_
from engine.model.config import BUILTIN, ROLES, SETTINGS, Parameter, RoleModel, Setting
from engine.model.values import Fault

_FITTED = re.compile(rf"{BUILTIN}#[0-9a-f]{{12}}")
_LONGEST_MODEL = 200
_SEARCHES = tuple(SETTINGS["search"].choices)
_WISHED = "search_wished"
"""Session key of the search that was chosen before a collection came that cannot do it."""
_MEASURED_SETS: Mapping[str, str] = {
    "samples": N_("samples"),
    "other words": N_("asked in other words"),
}
"""Sets of pairs that are no proper names."""
_MEASURED_WAYS: Mapping[str, str] = {
    "token": N_("{model} (probability of yes)"),
    "said": N_("{model} (confidence that it states)"),
}


def slider(
    words: Words,
    name: str,
    limits: Parameter,
    default: float,
    below: dict[str, DeltaGenerator],
    **more: Any,
) -> float:
    """A slider over the range of a parameter; ``below`` gets a place under it for a note."""
    value = bounded(words, name, limits, default, key=name, bind="query-params", persist_state="session", **more)
    below[name] = st.empty()
    return value


def bounded(words: Words, name: str, limits: Parameter, default: float, **more: Any) -> float:
    """A slider over the range of a parameter, bound to nothing unless ``more`` says so."""
    kind = int if limits.whole else float
    value = st.slider(
        words(name_of(name)),
        kind(limits.low),
        kind(limits.high),
        kind(default),
        kind(limits.step),
        format="%d" if limits.whole else "%.2f",
        help=words(help_of(name)),
        **more,
    )
    return kind(value)


def number(words: Words, name: str, limits: Parameter, default: float) -> float:
    """A box for a whole number."""
    value = st.number_input(
        words(name_of(name)),
        int(limits.low),
        int(limits.high),
        int(default),
        key=name,
        help=words(help_of(name)),
        bind="query-params",
        persist_state="session",
    )
    return float(value)


def switch(words: Words, name: str, *, default: bool = False, unavailable: str = "") -> bool:
    """A switch; ``unavailable`` says why it cannot be switched on here, and then it counts as off."""
    chosen = st.toggle(
        words(name_of(name)),
        default,
        key=name,
        help=words(help_of(name)),
        bind="query-params",
        persist_state="session",
        disabled=bool(unavailable),
    )
    if unavailable:
        st.caption(unavailable)
    return bool(chosen) and not unavailable


def one_of(words: Words, name: str, setting: Setting, *, usual: str = "") -> str:
    """A choice among few; ``usual`` is the one of an empty address, else the default."""
    usual, options = usual or setting.default, tuple(setting.choices)
    wanted = take_from_url(name, usual, lambda given: given in options)
    relabel(words, name)
    chosen = st.selectbox(
        words(setting.name),
        options,
        format_func=lambda option: words(setting.choices[option]),
        key=name,
        help=explained(words, setting),
        persist_state="session",
    )
    # In the first run after a change of page it may have none yet.
    chosen = str(chosen) if chosen in options else wanted
    put_into_url(name, chosen, usual)
    return chosen


def explained(words: Words, setting: Setting) -> str:
    """The explanation of a setting, with one of each value that has its own."""
    notes = (f"**{words(setting.choices[value])}**: {words(note)}" for value, note in setting.notes.items())
    return "\n\n".join((words(setting.help), *notes))


def control(
    words: Words,
    name: str,
    setting: Setting,
    below: dict[str, DeltaGenerator],
    *,
    usual: Any = None,
    unavailable: str = "",
) -> Any:
    """The control of a setting, of any kind; ``usual`` is its default where that is not the declared one.

    ``unavailable`` says why a switch cannot be switched on here.
    """
    usual = setting.default if usual is None else usual
    match setting.widget:
        case "choice":
            return one_of(words, name, setting, usual=usual)
        case "switch":
            return switch(words, name, default=usual, unavailable=unavailable)
    limits = setting.limits
    assert limits is not None
    value = (number if setting.widget == "box" else partial(slider, below=below))(words, name, limits, usual)
    return int(value) if limits.whole else value


def search_picker(words: Words, *, by_words: bool) -> str:
    """Let the user choose the search mode; ``by_words`` enables keyword search if the collection supports it.

    Where it cannot, vectors alone are left, and a collection that can gets the former choice back.
    """
    if not by_words:
        wished = take_from_url("search", SETTINGS["search"].default, lambda given: given in _SEARCHES)
        if wished != "vector":
            st.session_state[_WISHED] = wished
        st.session_state["search"] = "vector"
    elif _WISHED in st.session_state:
        st.session_state["search"] = st.session_state.pop(_WISHED)
    if by_words:
        return one_of(words, "search", SETTINGS["search"])
    st.selectbox(
        words("Search"),
        _SEARCHES,
        format_func=lambda option: words(SETTINGS["search"].choices[option]),
        key="search",
        persist_state="session",
        disabled=True,
    )
    put_into_url("search", "vector", "vector")
    st.page_link(
        "knowledge.py",
        label=words("No full-text index: searched by meaning alone. Add one"),
        icon=":material/library_books:",
        query_params={"view": "collections"},
    )
    return "vector"


def fixed_collection(words: Words, name: str, why: str) -> str:
    """The one collection that can be searched here, with the reason; the choice on other pages stays as it is."""
    st.selectbox(words("Collection"), [name], disabled=True, key=f"fixed_collection_{name}")
    st.caption(why)
    return name


def collection_picker(words: Words, sizes: Mapping[str, int], default: str, valid: Callable[[str], bool]) -> str:
    """Let the user choose the collection to search, shown with its size."""
    take_from_url("collection", default, valid)
    wanted = str(st.session_state["collection"])
    relabel(words, "collection")
    passages = words.count("1 passage", "{n} passages", sizes[wanted]) if wanted in sizes else ""
    chosen = st.selectbox(
        words("Collection"),
        # A link may name a collection that does not exist: running it then says so, instead of searching another one.
        list(dict.fromkeys((*sizes, wanted))),
        format_func=lambda name: words("Samples") if name == default else name,
        key="collection",
        help=f"{words(help_of('collection'))} {passages}",
        persist_state="session",
    )
    put_into_url("collection", str(chosen or default), default)
    return str(chosen or default)


def model_picker(
    words: Words,
    role: str,
    offered: Sequence[str],
    usual: str = BUILTIN,
    *,
    fitted: Sequence[str] = (),
    scorers: Sequence[str] = (),
) -> str:
    """Let the user choose the model of a role: built in, one ``offered`` by a server, or a typed ``provider:model``.

    ``fitted`` are graders that are fitted to the collection, ``scorers`` cross-encoders in files. ``usual`` is the one
    of an empty address; an address always says which where that is no built-in one, so that it means the same on a
    machine with other settings.
    """
    typed = model_wanted(role, usual)
    chats, scored = role != "screener", scorers if role in ("grader", "screener", "reranker") else ()
    relabel(words, role)
    chosen = st.selectbox(
        begun(words(ROLES[role])),
        list(dict.fromkeys((BUILTIN, usual, *fitted, *(offered if chats else ()), *scored, typed))),
        format_func=lambda model: model_label(str(model), words),
        key=role,
        accept_new_options=True,
        help=measured_graders(words) if role == "grader" else None,
        persist_state="session",
    )
    model = model_name(str(chosen or BUILTIN), offered)
    if not chats and RoleModel(model).chats:
        refused = Fault.of(InvalidConfig.screener_chats(model=model))
        warning(words, words.joined(fault_text(refused, words)), key="screener_chats")
        model = BUILTIN
    put_into_url(role, model, BUILTIN if usual == BUILTIN else "")
    return model


def measured_graders(words: Words) -> str:
    """A list in Markdown: how well each measured grader ranks, by set of questions."""
    lines = [
        words(
            "How often a passage that answers is put above one that does not (1 always, 0.5 by chance; 95 % intervals "
            "in brackets), as this project measured it:"
        ),
        "",
        *(
            f"- **{_named_grader(entry, words)}**: {found}"
            for entry in _measured()
            if (found := _ranking(entry, words))
        ),
        "",
        words("No other model was measured. On your documents, Tune → Grader shows it."),
    ]
    return "\n".join(lines)


def _measured() -> list[Entry]:
    """As shipped, on all pairs: a calibration changes no order."""
    return [entry for entry in measured_models().graders if "fitted_on" not in entry and "compared_with" not in entry]


def _named_grader(entry: Entry, words: Words) -> str:
    label, way = model_label(str(entry["model"]), words), _MEASURED_WAYS.get(str(entry["kind"]))
    return words(way, model=label) if way else label


def _ranking(entry: Entry, words: Words) -> str:
    """Of each set with enough pairs; empty where none has."""
    shown = []
    for name, figures in entry["sets"].items():
        if name != "all" and figures["auc"]:
            figure = "{:.2f} ({:.2f}–{:.2f})".format(*figures["auc"])
            if name in entry.get("learnt_from", ()):
                figure = words("{figure}, fitted on it", figure=figure)
            shown.append(f"{words(_MEASURED_SETS[name]) if name in _MEASURED_SETS else name} {figure}")
    return " · ".join(shown)


def model_wanted(role: str, usual: str) -> str:
    """The model of a role as the address or an earlier run of the page has it, before its picker is drawn."""
    return take_from_url(role, usual, lambda name: 0 < len(name) <= _LONGEST_MODEL)


def model_name(typed: str, offered: Sequence[str]) -> str:
    """A name typed without its provider can only be meant for Ollama; ``qwen3:8b`` has a colon of its own."""
    name = typed.strip()[:_LONGEST_MODEL]
    provider, colon, model = name.partition(":")
    if name.startswith(f"{BUILTIN}#"):
        return name if _FITTED.fullmatch(name) else BUILTIN
    if name in ("", BUILTIN) or (colon and not (provider.strip() and model.strip())):
        # Half a name, as while it is being typed or from a link, cannot be run.
        return BUILTIN
    return name if colon and f"ollama:{name}" not in offered else f"ollama:{name}"


def relabel(words: Words, name: str) -> None:
    """Say the value again after a change of language, or the browser keeps showing the select box's old label."""
    drawn = f"{name}_language"
    if st.session_state.get(drawn) != words.language:
        st.session_state[drawn] = words.language
        st.session_state[name] = st.session_state[name]


def warning(words: Words, text: str, *, key: str) -> None:
    """A note that asks for attention, in place."""
    draw((node("p", "note small", "! ", text),), words, key=key)
