"""The path of a run: what it does while it does it, a row a round, and the compiled workflow below it (SC-12).

The browser receives the run's moments from a stream of the server, as ``live_view`` derives them: the path needs no
rerun of the page until the run has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from components.ask.live_view import PICTURE_SCRIPT, layouts
from components.common.i18n import Words
from components.common.inline import component, script
from components.common.markup import nothing
from components.common.phrases import duration_text
from components.common.url_state import base_path
from components.path.drawing import path_of
from components.picture.drawing import painted, shapes_of
from components.picture.export import darkened, decision_path_dot, workflow_svg
from components.picture.picture import picture_of
from components.sentences.calls import calls_text
from engine.engine import Engine
from engine.flow.graph import WorkflowGraph
from engine.messages import N_, NC_
from engine.model.values import RunRecord

KEY = "path"
_FAST_MS = 2000
_WATCHED = "path_watched"

_LABELS = {
    "path": N_("Path"),
    "starting": N_("Starting …"),
    "not_found": N_("This run is not known here any more. Run the question again."),
    "connection_lost": N_("Connection lost, retrying …"),
    "workflow": N_("Workflow"),
    "again": NC_("path", "Replay"),
    "present": N_("Present"),
    "s": NC_("picture", "{n} s"),
    "save_svg": N_("Save the workflow as an SVG image"),
    "save_png": N_("Save the workflow as a PNG image"),
    "save_dot": N_("Save the decision path as a Graphviz file"),
}

_HTML = """
<div class="wb live">
  <div class="top">
    <strong class="heading"></strong><span class="state" role="status"></span>
    <span class="clock" aria-hidden="true"></span>
    <span class="counts"></span><button type="button" class="again link" hidden></button>
  </div>
  <ol class="rows" role="list"></ol>
  <div class="below" hidden>
    <button type="button" class="unfold link"></button>
    <a class="present link" target="_blank" rel="noopener" hidden></a>
  </div>
  <div class="workflow" hidden><div class="canvas"></div><div class="tools" hidden></div></div>
</div>
"""

_draw = component(
    "path",
    html=_HTML,
    css=script("tokens.css", "workflow_picture.css", "path.css"),
    js=script("dom.js", "build.js", PICTURE_SCRIPT, "run_stream.js", "path_replay.js", "path.js"),
)


@dataclass(frozen=True, slots=True)
class Shown:
    """Messages from the user or the end of the run to the page."""

    selected_node: str | None
    """The node chosen in the path; stays until it is chosen again."""
    finished: str | None
    """The outcome, in the one rerun that follows the end of the run; ``not_found`` where the run is not known."""


def panel(engine: Engine, record: RunRecord, words: Words, *, active: bool) -> str | None:
    """Draw the path of a run and redraw the page at its end; returns the node that was chosen in it."""
    graph, (elapsed_ms, waiting) = engine.graph(record.workflow), engine.under_way(record.id)
    most = None if record.origin is not None else engine.worst_case_calls(record.config)
    counts = counts_of(record, words, waiting=waiting, most_calls=most, elapsed_ms=elapsed_ms)
    shown = view(graph, record, words, key=KEY, active=active, counts=counts, watched=was_watched(record))
    if shown.finished and active:
        st.rerun()
    return shown.selected_node


def view(
    graph: WorkflowGraph,
    record: RunRecord | None,
    words: Words,
    *,
    key: str,
    active: bool = False,
    counts: Sequence[str] = ("", ""),
    watched: bool = False,
) -> Shown:
    """Draw a run's path: live from its stream while ``active``; the workflow at rest where there is no run yet.

    ``watched``: the run was asked or opened here, and is shown step by step where it was over in no time.
    """
    ended = None if record is None or active else record
    picture = picture_of(graph, ended, words)
    result = _draw(
        key=key,
        data={
            "lang": words.declared.html,
            "words": {name: words(label) for name, label in _LABELS.items()},
            "path": [item.plain() for item in path_of(ended, words)] if ended else [],
            "counts": list(counts),
            "drawings": {
                name: {"width": plan.width, "shapes": shapes_of(plan, words).plain(), "paint": painted(plan, picture)}
                for name, plan in layouts(graph).items()
            },
            "status": picture.status,
            "run_id": record.id if record else None,
            "active": active,
            "shown": record.id if record else None,
            "selected": (st.session_state.get(key) or {}).get("selected"),
            "cleared": st.session_state.get(f"{key}_cleared", 0),
            "base": base_path(),
            "present": f"{base_path()}/runs?view=present&run={ended.id}" if ended else "",
            "replay": _replay(ended, words, watched=watched) if ended else None,
            "files": _files(graph, ended, words) if ended else None,
        },
        on_selected_change=nothing,
        on_finished_change=nothing,
    )
    selected = result.selected if result.selected in graph.nodes else None
    return Shown(selected, result.finished)


def counts_of(
    record: RunRecord, words: Words, *, waiting: int = 0, most_calls: int | None = None, elapsed_ms: float = 0.0
) -> tuple[str, str]:
    """Say what a run has cost, ``0 model calls · 4 steps · 140 ms``, and of how much at most.

    ``waiting``: calls of a live run that have not ended. What calls no model is a step.
    """
    parts = [calls_text(record, words, waiting=waiting)]
    if not record.active:
        parts.append(duration_text(max(record.duration_ms, elapsed_ms)))
    limits = [most_text(words.count("1 model call", "{n} model calls", most_calls), words)] if most_calls else []
    if record.origin is None:
        limits.append(most_text(f"{record.config.budget_s:g} s", words))
    if record.cached_calls:
        limits.append(words("{n} from cache", n=record.cached_calls))
    return words(" · ").join(parts), words(" · ").join(limits)


def most_text(what: str, words: Words) -> str:
    return words("at most {what}", what=what)


def _replay(record: RunRecord, words: Words, *, watched: bool) -> dict[str, object] | None:
    """What the browser needs to show the steps again; None for a run that has none."""
    if not record.nodes:
        return None
    said = words("Replaying what took {time}", time=duration_text(record.duration_ms))
    return {"watched": watched and record.duration_ms < _FAST_MS, "said": said}


def _files(graph: WorkflowGraph, record: RunRecord, words: Words) -> dict[str, str]:
    light = workflow_svg(graph, record, words)
    return {"light": light, "dark": darkened(light), "dot": decision_path_dot(record, words)}


def watch(run_id: str) -> None:
    """Remember that a run was asked or opened in this session, so that its steps are shown."""
    st.session_state[_WATCHED] = run_id


def was_watched(record: RunRecord) -> bool:
    return bool(st.session_state.get(_WATCHED) == record.id)


def clear_selection() -> None:
    """Choose no node in the path, in the next run of the whole page."""
    # The choice is the browser's: it is asked to forget it, and says so in a rerun of its own.
    st.session_state[f"{KEY}_cleared"] = st.session_state.get(f"{KEY}_cleared", 0) + 1
