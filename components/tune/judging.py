"""What a judge sees: one pair, how much is judged, how far judges agree, and the scores of a set over time."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.amounts import moment
from components.common.i18n import Words
from components.common.markup import draw, fold, gauge, node, table
from components.common.phrases import model_label
from components.tune.vega import ACCENT, AMBER, TEAL, draw_chart, layer, share, text
from engine.evaluation.desk.agreement import Agreement
from engine.evaluation.desk.pairs import Coverage, Item, Kind
from engine.evaluation.desk.store import Scores
from engine.evaluation.statistics import Interval
from engine.messages import N_, NC_
from engine.model.config import BUILTIN

ASKED: dict[Kind, str] = {
    "passage": N_("Does this passage help to answer the question?"),
    "answer": N_("Is this answer right?"),
}
MEASURES: dict[str, str] = {
    "answered_right": N_("answered right"),
    "quality": N_("found and answered"),
    "context_hit": N_("right passage in context"),
}
"""What is drawn of a set's history: shares, of which more is better."""
_COLOURS = {"answered_right": ACCENT, "quality": TEAL, "context_hit": AMBER}
_HEIGHT = 240


def pair_card(item: Item, words: Words, *, key: str) -> None:
    """The pair, and nothing of what a grader, a rank or a score said of it."""
    parts = [
        node("div", "muted small", words(ASKED[item.kind])),
        node("strong", "heading", item.question),
    ]
    if item.kind == "passage":
        where = f"{item.source} · {item.section}" if item.section else item.source
        parts.append(node("div", "muted small", where))
    parts.append(node("div", "plain-text", item.text))
    if item.gold_answers:
        gold = words(NC_("gold answers", " / ")).join(item.gold_answers)
        parts.append(fold("gold", words("Gold answer"), node("p", "", gold)))
    if item.cited:
        shown = (node("p", "plain-text", passage) for passage in item.cited)
        parts.append(fold("cited", words("Passages that it cites"), *shown))
    draw((node("section", "card", *parts),), words, key=key)


def coverage_meter(found: Coverage, yes: Interval | None, words: Words, *, key: str) -> None:
    """How much of a gathering is judged, and what those drawn at random say of all."""
    told = words(
        "{judged} of {total} judged · {random} drawn at random · {mine} by you",
        judged=found.judged,
        total=found.total,
        random=found.at_random,
        mine=found.mine,
    )
    part = found.judged / found.total if found.total else 0.0
    parts = [node("div", "muted small", told), gauge(part, told)]
    if yes is not None:
        said = words(
            "Yes to {share} of those drawn at random ({low}–{high} at 95 %, n = {n}): they alone stand for the rest.",
            share=f"{yes.value:.2f}",
            low=f"{yes.low:.2f}",
            high=f"{yes.high:.2f}",
            n=yes.n,
        )
        parts.append(node("div", "muted small", said))
    draw((node("div", "", *parts),), words, key=key)


def agreement_table(found: Sequence[Agreement], words: Words, *, key: str) -> None:
    """How far judges agree with each other and with graders."""
    rows = [
        (
            item.first or words("said in passing"),
            _second(item.second, words),
            str(item.n),
            f"{item.same / item.n:.2f}",
            "–" if item.kappa is None else f"{item.kappa:.2f}",
        )
        for item in found
    ]
    head = (words(NC_("agreement", "Judge")), words(NC_("agreement", "with")), words("pairs"), words("same"), "κ")
    draw((table("flips", head, rows, (2, 3, 4)),), words, key=key)


def _second(name: str, words: Words) -> str:
    """A grader by its label, a judge by name."""
    return (model_label(name, words) if name.partition("#")[0] == BUILTIN else name) or words("said in passing")


def history_chart(found: Sequence[Scores], words: Words, *, key: str) -> None:
    """The scores of a set over its gatherings, a line a measure; a point says its note."""
    rows = [
        {
            "at": item.at,
            "when": moment(item.at),
            "measure": words(MEASURES[name]),
            "value": item.figures[name][0],
            "n": item.figures[name][1],
            "note": item.note,
        }
        for item in found
        for name in MEASURES
        if name in item.figures
    ]
    if not rows:
        return
    colour = text(
        "measure",
        legend={"title": None, "orient": "bottom"},
        scale={"domain": [words(MEASURES[name]) for name in MEASURES], "range": list(_COLOURS.values())},
    )
    ends = {
        "x": {"field": "at", "type": "ordinal", "title": None, "axis": {"labels": False, "ticks": False}},
        "y": share("value", ""),
        "color": colour,
    }
    tips = [
        text("when", words("gathered")),
        text("measure", words("measure")),
        {"field": "value", "type": "quantitative", "format": ".2f", "title": words("value")},
        {"field": "n", "type": "quantitative", "title": "n"},
        text("note", words("note")),
    ]
    line = layer(rows, {"type": "line"}, **ends)
    points = layer(rows, {"type": "point", "filled": True, "size": 60}, tooltip=tips, **ends)
    draw_chart(
        line, points, key=key, title=words("Scores of the set over its gatherings, oldest first"), height=_HEIGHT
    )


def history_rows(found: Sequence[Scores], words: Words) -> list[dict[str, str]]:
    """One line a gathering, newest first, for a table whose notes can be written."""
    return [
        {
            "batch": item.batch_id,
            words("gathered"): moment(item.at),
            words("judgements until"): moment(item.noted_at) if item.noted_at else "–",
            **{words(MEASURES[name]): _told(item, name) for name in MEASURES},
            words("note"): item.note,
        }
        for item in reversed(found)
    ]


def _told(item: Scores, name: str) -> str:
    return f"{item.figures[name][0]:.2f} (n = {item.figures[name][1]})" if name in item.figures else "–"


def keys_line(words: Words) -> None:
    """When the keys work; each stands on its button."""
    st.caption(words("The keys work while no field is being typed in."))
