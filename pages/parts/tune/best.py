"""The card *Best settings*: the setting to take, how sure that is, and the ways for settings to leave the page."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from components.common.controls import download, pick
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import Node, chip, draw, fold, node
from components.common.panel import want_settings
from components.common.run_settings import setting_label, setting_text
from components.labels import VERDICTS
from components.sentences import recommendation as sentences
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.evaluation.recommend import Recommendation
from engine.evaluation.settings_out import as_curl, as_json, as_python, as_toml
from engine.evaluation.statistics import questions_to_tell
from engine.evaluation.sweep import AxisValue
from engine.model.config import RunConfig
from engine.model.values import Fault
from engine.plugins import panels
from engine.version import PROGRAM
from pages.parts.common.rights import may
from pages.parts.tune.evidence import Shown
from pages.parts.tune.guarantee import promise_text
from pages.parts.tune.tried import SWEPT, promised, recommended, swept_axes, tried_rows

_LOOKS = {"better": "pass", "worse": "warn", "not_distinguishable": "grey"}
_ONE_IN_TEN = 60
"""Questions from which on the exact test tells a setting that changes one in ten, all to one side: six of them."""


def panel(engine: Engine, shown: Shown, before: RunConfig, config: RunConfig, words: Words) -> None:
    """The recommendation over the baseline, and below it what can be done with it."""
    names = swept_axes(config)
    found = recommended(shown, config, names, before)
    changed = [
        f"{setting_label(name, words)} {setting_text(name, getattr(found.config, name), words)}"
        for name in SWEPT
        if getattr(found.config, name) != getattr(before, name)
    ]
    safe = promised(shown, config, names)
    certified = safe is not None and found.setting is not None and bool(safe.certified[found.setting])
    with st.container(border=True, key="tune_best", gap="xsmall"):
        promise = promise_text(safe, words) if safe is not None and certified else ""
        view(found, changed, words, key="tune_recommendation", promise=promise)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _try(found, config, words)
            # The switch stands after the menus, which go by it.
            menus = st.container(horizontal=True, width="content", gap="small")
            leaving = _leaving(found, config, words)
        question = next(iter(shown.cases.values())).question
        rows = partial(tried_rows, shown, config, names)
        with menus:
            menu(words("Save"), "save", lambda: save_form(engine, leaving, words))
            menu(words("Copy as curl"), "content_copy", lambda: take_away(engine, leaving, question, words))
            menu(words("Export"), "download", lambda: exports(leaving, found.tried, lambda: _csv(rows()), words))


def menu(label: str, icon: str, draw_inside: Callable[[], None]) -> None:
    """A popover whose inside is drawn, and sent to the browser, only while it is open."""
    with st.popover(label, icon=f":material/{icon}:", key=f"tune_menu_{icon}", on_change="rerun") as opened:
        if opened.open:
            draw_inside()


def view(found: Recommendation, changed: Sequence[str], words: Words, *, key: str, promise: str = "") -> None:
    """Draw the sentence; how sure it is stands behind a name.

    Only what is measurably better is called recommended; else it is at most the cheapest of equal settings. ``changed``
    names what differs from the baseline, ``promise`` says what the setting is certified to keep.
    """
    if found.choice == "too_poor":
        none = node("p", "", node("strong", "", f"{words('No recommendation')}. "), sentences.poor(found, words))
        draw((none,), words, key=key)
        return
    stop, what = words("."), sentences.what(found, changed, words)
    head: list[Node | str] = [node("strong", "", f"{sentences.heading(found, words)}{stop} "), what]
    if found.better:
        head += [" ", chip(_LOOKS[found.verdict], words(VERDICTS[found.verdict]))]
    if found.cost_verdict != "not_distinguishable":
        cost = words("cost: {verdict}", verdict=words(sentences.COSTS[found.cost_verdict]))
        head += [" ", chip(_LOOKS[found.cost_verdict], cost)]
    parts = [node("p", "", *head)]
    if promise:
        parts.append(node("p", "small", chip("pass", words("certified")), f" {promise}"))
    parts += [node("p", "note small", "! ", said) for said in sentences.cautions(found, words)]
    sure = (
        words(sentences.CHOICES[found.choice], tied=found.tied, tried=found.tried),
        sentences.figures(found, words),
        sentences.doubt(found, words),
        needed_text(found, words),
    )
    parts.append(fold("sure", words("How many more questions?"), *(node("p", "small", said) for said in sure)))
    draw(parts, words, key=key)


def needed_text(found: Recommendation, words: Words) -> str:
    """About how many questions would tell the setting from the baseline."""
    if found.better:
        return words("These questions are enough to tell it from the baseline.")
    needed = questions_to_tell(found.quality_test)
    if needed is None:
        return words(
            "No difference was seen. To notice a setting that changes one question in ten takes about {n} questions.",
            n=_ONE_IN_TEN,
        )
    return words(
        "If it differs as often as here, about {n} questions would tell it from the baseline.",
        n=max(needed, found.quality_test.n + 1),
    )


def _try(found: Recommendation, config: RunConfig, words: Words) -> None:
    if found.choice == "too_poor" or found.config == config:
        return
    label = words("Back to baseline") if found.choice == "baseline_stays" else words("Try")
    if st.button(label, key="tune_try", type="primary" if found.better else "secondary"):
        want_settings(found.config)
        st.rerun()


def _leaving(found: Recommendation, config: RunConfig, words: Words) -> RunConfig:
    """The settings that are saved, copied and exported: those on the card, or those of the sliders."""
    if found.choice == "too_poor" or found.config == config:
        return config
    names = {"card": words("Recommended") if found.better else words("as above"), "sliders": words("the sliders")}
    chosen = pick(words("Settings"), names, key="tune_leaving_choice", width="content")
    return config if chosen == "sliders" else found.config


def save_form(engine: Engine, config: RunConfig, words: Words) -> None:
    """Keep the settings by a name; take up or forget saved ones."""
    if may("editor"):
        _save_as(engine, config, words)
    for place, (saved, settings) in enumerate(engine.evaluation.settings().items()):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(saved)
            if st.button(words("Use"), key=f"tune_use_{place}", type="tertiary"):
                want_settings(settings)
                st.rerun()
            if may("editor") and st.button(words("Delete"), key=f"tune_forget_{place}", type="tertiary"):
                engine.evaluation.delete_settings(saved)
                st.rerun()


def _save_as(engine: Engine, config: RunConfig, words: Words) -> None:
    with st.form("tune_save_form", border=False):
        name = st.text_input(words("Name"), max_chars=60, key="tune_save_name")
        pressed = st.form_submit_button(words("Save"))
    for draw_panel in panels("saved_settings"):
        draw_panel(engine, words)
    if pressed and name.strip():
        try:
            engine.evaluation.save_settings(name.strip(), config)
            st.rerun()
        except WorkbenchError as error:
            fault_box(Fault.of(error), words, key="tune_save_fault")


def take_away(engine: Engine, config: RunConfig, question: str, words: Words) -> None:
    """The settings as curl, Python, JSON, the file for the command line, and what plug-ins make of them.

    ``question`` is asked.
    """
    address = engine.settings.reached_at()
    forms = {
        "curl": ("bash", as_curl(config, question, address)),
        "Python": ("python", as_python(config, question)),
        "JSON": ("json", as_json(config)),
        "eval": ("toml", as_toml(config)),
    }
    others = [draw_panel(engine, words) for draw_panel in panels("take_along")]
    tabs = st.tabs([*forms, *(name for name, _, _ in others)], key="tune_out")
    for tab, (language, text) in zip(tabs, forms.values(), strict=False):
        with tab:
            st.code(text, language=language, wrap_lines=True)
            if language == "toml":
                st.caption(words("The file for `{program} eval DATASET --config FILE`.", program=PROGRAM))
    for tab, (_, said, draw_button) in zip(tabs[len(forms) :], others, strict=True):
        with tab:
            st.caption(said)
            draw_button(config, "tune")
    if st.button(words("Open on Ask"), icon=":material/arrow_forward:", key="tune_apply"):
        want_settings(config)
        st.switch_page("workbench.py")


def exports(config: RunConfig, tried_n: int, sweep: Callable[[], bytes], words: Words) -> None:
    """The settings as files, and everything that was tried."""
    download("JSON", as_json(config).encode(), "settings.json", key="tune_export_json")
    download("TOML · eval", as_toml(config).encode(), "settings.toml", key="tune_export_toml")
    download(words("All {n} settings tried (CSV)", n=tried_n), sweep, "sweep.csv", key="tune_csv")


def _csv(lines: Sequence[Mapping[str, AxisValue | None]]) -> bytes:
    written = io.StringIO()
    table = csv.DictWriter(written, list(lines[0]))
    table.writeheader()
    table.writerows(lines)
    return written.getvalue().encode("utf-8-sig")
