"""The list of runs: one line each with how it ended and what it cost, below 720 px of width one card each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from components.ask.what_if_text import setting_name, value_text
from components.common.i18n import Words
from components.common.inline import component, script
from components.common.markup import nothing
from components.common.outcomes import end_mark, outcome_text
from components.common.phrases import duration_text, workflow_text
from components.common.run_settings import option_names, roles_asked, unread_by
from engine.flow import workflow
from engine.messages import N_, NC_
from engine.model.config import USUAL, WORKFLOWS, RunConfig, settings_of
from engine.model.values import AnswerNote, Outcome, RunId

Press = Literal["open", "pin", "unpin", "untag"]

_LABELS = {
    "question": N_("Question"),
    "outcome": N_("Outcome"),
    "rewrites": N_("Rewrites"),
    "calls": N_("Calls"),
    "time": N_("Time"),
    "when": N_("When"),
    "select": N_("Select this run"),
    "select_all": NC_("runs", "Select all that are shown"),
    "open": N_("Open this run"),
    "pin": N_("Add to the watch list"),
    "unpin": N_("Take off the watch list"),
    "copy": N_("Copy the link"),
    "copied": N_("Link copied"),
}

_component = component(
    "run_list",
    html='<div class="wb runs"></div>',
    css=script("tokens.css", "selected_lines.css", "run_list.css"),
    js=script("dom.js", "selected_lines.js", "run_list.js"),
)
_MOST = 4


@dataclass(frozen=True, slots=True)
class RunLine:
    """List entry of one run."""

    id: RunId
    question: str
    outcome: Outcome | None
    """None while the run is in progress."""
    started_at: str
    """ISO 8601, UTC; drawn in the reader's own time zone."""
    duration_ms: float
    calls: int
    rewrites: int
    tags: tuple[str, ...] = ()
    """Those drawn as words."""
    pinned: bool = False
    batch: bool = False
    """Made by a batch."""
    workflow: str = USUAL
    parent: str = ""
    """The run that this one was forked from; empty for one that began by itself."""
    note: str = ""
    """What a demo is there to show."""
    damaged: bool = False
    collection: str = ""
    """Where it searched, unless that goes without saying."""
    settings: str = ""
    """In what it differs from other runs of its question."""
    answer_note: AnswerNote = ""
    author: str = ""
    """Who asked, where people sign in."""


@dataclass(frozen=True, slots=True)
class RunListEvent:
    """Button pressed in this rerun, and the selected runs."""

    press: Press | None
    run_id: RunId
    """Of the run whose line was pressed; empty where nothing was."""
    tag: str
    """The tag to take away; empty for every other press."""
    selected: tuple[RunId, ...]
    """Those of the shown runs that are selected, in the order of the list."""


def run_list(
    runs: Sequence[RunLine], words: Words, *, key: str, base: str = "", fixed: bool = False, tags: bool = True
) -> RunListEvent:
    """Draw the runs; ``base`` is the server's base path, which links to a run begin with.

    A link opens in the same tab by an event, so that the session stays, and in another tab by its address.
    For ``fixed`` runs, which ship with the program, nothing but opening and linking is offered; without ``tags`` they
    can be selected, and nothing about them changed.
    """
    result = _component(
        key=key,
        data={
            "lang": words.declared.html,
            "rows": [run_row(item, words, base) for item in runs],
            "fixed": fixed,
            "tags": tags and not fixed,
            "words": {name: words(text) for name, text in _LABELS.items()},
        },
        on_press_change=nothing,
        on_selected_change=nothing,
    )
    pressed: Mapping[str, Any] = result.press if isinstance(result.press, Mapping) else {}
    shown = {item.id for item in runs}
    name, run_id = pressed.get("name"), RunId(str(pressed.get("run", "")))
    chosen = set(result.selected) if isinstance(result.selected, list) else set()
    return RunListEvent(
        press=cast("Press", name) if name in get_args(Press) and run_id in shown else None,
        run_id=run_id,
        tag=str(pressed.get("tag", "")),
        selected=tuple(item.id for item in runs if item.id in chosen),
    )


def run_row(item: RunLine, words: Words, base: str = "") -> dict[str, Any]:
    """Build the row of a run for the browser; every value is text or a number, all words are rendered."""
    mark = end_mark(item.outcome, item.answer_note)
    return {
        "id": item.id,
        "href": f"{base}/?run={item.id}",
        "question": item.question if item.question.strip() else words("(question cannot be read)"),
        "settings": item.settings,
        "outcome": f"{mark.glyph} {outcome_text(item.outcome, words, item.answer_note)}",
        "look": mark.tone,
        "rewrites": _rewrites(item),
        "calls": "–" if item.damaged else str(item.calls),
        "time": "–" if item.damaged else duration_text(item.duration_ms),
        "started": item.started_at,
        "pinned": item.pinned,
        "tags": [{"tag": tag, "tip": words("Remove tag {tag}", tag=tag)} for tag in item.tags],
        "badges": _badges(item, words),
        "damaged": item.damaged,
    }


def _rewrites(item: RunLine) -> str:
    """Return the number of rewrites; a dash where one may have come before any search."""
    known = item.workflow in WORKFLOWS and workflow(item.workflow).flow.searches_once_a_query
    return str(item.rewrites) if known and not item.damaged else "–"


def _badges(item: RunLine, words: Words) -> list[dict[str, str]]:
    """What stands below the question; the usual goes unsaid."""
    loop = workflow_text(item.workflow, words) if item.workflow != USUAL else ""
    named = (
        ("accent", item.note),
        ("fault", words("✗ damaged") if item.damaged else ""),
        ("plain", loop),
        ("plain", item.collection),
        ("plain", item.author),
        ("accent", f"{words('↳ branch')} {item.parent[:8]}" if item.parent else ""),
        ("plain", words("batch") if item.batch else ""),
    )
    return [{"look": look, "text": text} for look, text in named if text]


def distinguishing_settings(
    asked: Sequence[tuple[RunId, str]], configs: Mapping[RunId, RunConfig], words: Words
) -> dict[RunId, str]:
    """For each run whose question stands in the list again: what it was asked with and another was not.

    ``asked`` are runs and questions. A run without known settings, or that differs in nothing, has no line.
    """
    by_question: dict[str, list[RunId]] = {}
    for run_id, question in asked:
        if run_id in configs:
            by_question.setdefault(" ".join(question.split()).casefold(), []).append(run_id)
    return {
        run_id: said
        for group in by_question.values()
        for run_id in group
        if (said := _said(configs[run_id], [configs[other] for other in group], words))
    }


def _said(config: RunConfig, group: Sequence[RunConfig], words: Words) -> str:
    own = _counting(config)
    # Other workflows have other settings: that one has none of this name says nothing.
    others = [_counting(item) for item in group if item.workflow == config.workflow]
    names = [name for name, value in own.items() if any(name not in item or item[name] != value for item in others)]
    parts = [f"{setting_name(name, words)} {value_text(name, own[name], words)}" for name in names[:_MOST]]
    return " · ".join(parts) + (" …" if len(names) > _MOST else "")


def _counting(config: RunConfig) -> dict[str, Any]:
    """Settings, options and models that count for anything."""
    idle = unread_by(config)
    found = {name: getattr(config, name) for name in settings_of(config.workflow) if name not in idle}
    found |= {name: getattr(config.options, name) for name in option_names(config.workflow)}
    return found | {role: config.models.of(role).name for role in roles_asked(config)}
