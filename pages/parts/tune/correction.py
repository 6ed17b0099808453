"""The tab *Does correction pay?*: these settings against no correction, question by question."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from components.common.controls import download, page_of, table_csv
from components.common.i18n import Words
from components.common.markup import Node, chip, draw, node, table
from components.common.outcomes import round_text
from components.common.run_link import run_link
from components.common.run_settings import setting_label
from components.common.url_state import base_path
from engine.engine import Engine
from engine.evaluation.correction import CorrectedQuestion, Correction, Effect, Unknown, correction, corrections
from engine.evaluation.figures import Figure
from engine.flow import workflow
from engine.messages import N_
from engine.model.config import RunConfig
from engine.model.values import RunId
from pages.parts.tune.evidence import Gathering, Shown
from pages.parts.tune.guarantee import missing_answers

SHOWN: Mapping[Effect, tuple[str, str, str]] = {
    "helped": (N_("helped"), "▲", "pass"),
    "harmed": (N_("harmed"), "▼", "warn"),
    "unknown": (N_("unknown"), "?", "plain"),
}
"""The effects of the questions that are listed, with sign and look."""
WHY: dict[Unknown, str] = {
    "": "",
    "not_generated": N_("Answer not generated yet"),
    "unlabelled": N_("no label"),
    "unchecked": N_("not checked"),
    "failed": N_("failed"),
}
Link = Callable[[RunId], str]
_PAGE = 15


def panel(engine: Engine, shown: Shown, gathering: Gathering, config: RunConfig, words: Words) -> None:
    """The comparison, and below it what would make unknown questions known."""
    if not corrections(config):
        st.caption(nothing_to_compare(config, words))
        return
    found, base = correction(shown.evidence, config), base_path()
    # First what a run without correction would answer; then what these settings would, where no run had them.
    wanted = found.without if found.missing else config
    view(
        found,
        words,
        key="tune_correction",
        link=lambda run_id: run_link(run_id, config, words, base),
        generate=lambda: missing_answers(engine, shown, gathering, wanted, words),
    )


def view(found: Correction, words: Words, *, key: str, link: Link, generate: Callable[[], None]) -> None:
    """Draw what correction did to the questions and what it cost; below, the questions where it mattered or may.

    ``generate`` draws the button that makes unknown questions known.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{key}_head"):
        draw((node("strong", "heading", heading(found, words)),), words, key=f"{key}_said")
        download("CSV", lambda: questions_csv(found, words), "correction.csv", key=f"{key}_csv", type="tertiary")
    texts = [node("p", "muted small", text) for text in cost_texts(found, words)]
    draw(texts, words, key=f"{key}_cost")
    generate()
    heads = ("", words("Question"), words("Best round, in hindsight"), words("Steps, without → with"), "")
    rows = [row for row in found.rows if row.effect in SHOWN]
    place = st.container()
    drawn = [_cells(row, words, link) for row in page_of(rows, _PAGE, key=f"{key}_page")]
    if drawn:
        with place:
            draw((table("flips questions", heads, drawn),), words, key=key)


def nothing_to_compare(config: RunConfig, words: Words) -> str:
    """Say why settings that never correct have no second side."""
    name, none = workflow(config.workflow).corrected_by
    return words("{setting} is {value}: raise it to compare.", setting=setting_label(name, words), value=none)


def heading(found: Correction, words: Words) -> str:
    """``Correction helped 2 of 74 questions and harmed 0``, as bounds where a question is unknown."""
    said = words(
        "Correction helped {helped} of {n} questions and harmed {harmed}",
        helped=_bounds(found.figure("helped"), 0),
        harmed=_bounds(found.figure("harmed"), 0),
        n=len(found.rows),
    )
    unknown = found.count("unknown")
    return f"{said} · {words('{n} unknown', n=unknown)}" if unknown else said


def cost_texts(found: Correction, words: Words) -> list[str]:
    """Cost and right answers with and without correction, hindsight, and the price of what is unknown."""
    (right, right_without), (steps, steps_without), (calls, calls_without) = found.right, found.steps, found.calls
    texts = [
        words(
            "Steps a question: {with_} with correction, {without} without",
            with_=_bounds(steps),
            without=_bounds(steps_without),
        )
    ]
    if calls.upper or calls_without.upper:
        texts[0] += " · " + words(
            "model calls: {with_} and {without}", with_=_bounds(calls), without=_bounds(calls_without)
        )
    if right.n:
        texts.append(
            words(
                "Answered right: {with_} with correction, {without} without, {best} if each question stopped at its "
                "best round (hindsight)",
                with_=_share(right),
                without=_share(right_without),
                best=_share(found.hindsight),
            )
        )
    if found.missing:
        said = [
            words(
                "{n} answers without correction were never generated: at most {steps} steps.",
                n=len(found.missing),
                steps=found.price.calls + found.price.built_in_calls,
            )
        ]
        said += [words("At most {calls} model calls.", calls=found.price.calls)] if found.price.calls else []
        texts.append(words.joined(said))
    return texts


def questions_csv(found: Correction, words: Words) -> bytes:
    """Every question, for a spreadsheet."""
    head = (words("Question"), "effect", "why", "best_after", "steps_with", "steps_without", "run")
    return table_csv(
        head,
        (
            (row.question, row.effect, row.why, *map(_plain, (row.best, *row.steps)), row.run_id or "")
            for row in found.rows
        ),
    )


def _cells(row: CorrectedQuestion, words: Words, link: Link) -> tuple[Node | str, ...]:
    label, sign, look = SHOWN[row.effect]
    why = f" · {words(WHY[row.why])}" if row.why else ""
    best = "?" if row.best is None else round_text(row.best, words)
    steps = f"{_plain(row.steps[1], '?')} → {_plain(row.steps[0], '?')}"
    opened = node("a", "", words("open run"), href=link(row.run_id)) if row.run_id else ""
    return chip(look, f"{sign} {words(label)}{why}"), node("span", "", row.question), best, steps, opened


def _plain(value: int | None, none: str = "") -> str:
    return none if value is None else str(value)


def _bounds(figure: Figure, digits: int = 1) -> str:
    """A number, or ``7–9`` where unknown questions leave it open."""
    low, high = figure.lower, figure.upper
    if low is None:
        return "–"
    if low == high:
        return f"{low:.{digits}f}"
    return f"{low:.{digits}f}–{'?' if high is None else f'{high:.{digits}f}'}"


def _share(figure: Figure) -> str:
    """``55 of 74``, or ``52–58 of 74``."""
    count = Figure(
        None,
        None if figure.lower is None else figure.lower * figure.n,
        None if figure.upper is None else figure.upper * figure.n,
        figure.known_n,
        figure.n,
    )
    return f"{_bounds(count, 0)}/{figure.n}"
