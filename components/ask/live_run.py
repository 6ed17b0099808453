"""The live workflow: a picture that follows a run, and hands the growing answer to its card (SC-12).

The browser receives the run's moments from a stream of the server, as ``live_view`` derives them: the picture needs no
rerun of the page until the run has ended.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from components.ask.live_view import PLANS, line_of, plan_of
from components.common.i18n import Words
from components.common.markup import nothing, script
from components.picture.drawing import painted, shapes_of
from components.picture.export import darkened, workflow_svg
from components.picture.layout import Layout
from components.picture.picture import picture_of
from engine.flow.graph import WorkflowGraph
from engine.messages import N_, NC_
from engine.model.values import RunRecord

PICTURE_SCRIPT = "workflow_picture.js"
"""What builds and paints a drawing of the workflow; ``dom.js`` comes before it, and what uses it behind it."""

_LABELS = {
    "starting": N_("Starting …"),
    "not_found": N_("This run is not known here any more. Run the question again."),
    "connection_lost": N_("Connection lost, retrying …"),
    "fold": N_("Fold workflow"),
    "unfold": N_("Show workflow"),
    "s": NC_("picture", "{n} s"),
    "file_name": N_("workflow"),
    "save_svg": N_("SVG"),
    "save_png": N_("PNG"),
    "save_svg_hint": N_("Save the workflow as an SVG image"),
    "save_png_hint": N_("Save the workflow as a PNG image"),
}

_HTML = """
<div class="wb live">
  <div class="glance" hidden><div class="steps"></div><button type="button" class="unfold"></button></div>
  <div class="whole"><div class="inside">
    <div class="canvas"></div>
    <div class="foot">
      <span class="state" role="status"></span><span class="clock" aria-hidden="true"></span>
      <span class="tools" hidden></span>
    </div>
  </div></div>
</div>
"""

_draw = st.components.v2.component(
    "live_run",
    html=_HTML,
    css=script("tokens.css", "live_run.css"),
    js=script("dom.js", PICTURE_SCRIPT, "live_run.js"),
)


@dataclass(frozen=True, slots=True)
class LiveRunResult:
    """Messages from the user or the end of the run to the page."""

    selected_node: str | None
    """The node chosen in the picture; stays until it is chosen again."""
    finished: str | None
    """The outcome, in the one rerun that follows the end of the run; ``not_found`` where the run is not known."""


def live_run(
    graph: WorkflowGraph,
    record: RunRecord | None,
    run_id: str | None,
    *,
    active: bool,
    words: Words,
    key: str,
    base: str = "",
) -> LiveRunResult:
    """Draw the workflow: live from ``{base}/api/runs/{run_id}/view`` while ``active``, else from ``record``.

    A finished run is one line of its nodes, which opens; before a run and during it the whole picture is open.
    ``record`` is None before a run; ``base`` is the server's base path without a closing slash.
    """
    shown = None if active else record
    picture = picture_of(graph, shown, words)
    drawings = None
    if shown is not None:
        light = workflow_svg(graph, shown, words)
        drawings = {"light": light, "dark": darkened(light)}
    state = st.session_state.get(key) or {}
    result = _draw(
        key=key,
        data={
            "lang": words.declared.html,
            "drawings": {
                name: {"width": plan.width, "shapes": shapes_of(plan, words).plain(), "paint": painted(plan, picture)}
                for name, plan in layouts(graph).items()
            },
            "status": picture.status,
            "line": line_of(picture, shown) if shown is not None else None,
            "run_id": run_id,
            "active": active,
            "shown": run_id,
            "folded": False,
            "selected": state.get("selected"),
            "cleared": st.session_state.get(f"{key}_cleared", 0),
            "words": {name: words(label) for name, label in _LABELS.items()},
            "base": base,
            "svg": drawings,
        },
        on_selected_change=nothing,
        on_finished_change=nothing,
    )
    selected = result.selected if result.selected in graph.nodes else None
    return LiveRunResult(selected, result.finished)


def layouts(graph: WorkflowGraph) -> dict[str, Layout]:
    """The plans for the widths of a page, by name; one that is like the widest is left out."""
    wide = plan_of(graph, "wide")
    return {"wide": wide} | {name: plan for name in PLANS if (plan := plan_of(graph, name)) != wide}


def clear_selection(key: str) -> None:
    """Choose no node in the picture drawn under ``key``, in the next run of the whole page."""
    # The choice is the browser's: it is asked to forget it, and says so in a rerun of its own.
    st.session_state[f"{key}_cleared"] = st.session_state.get(f"{key}_cleared", 0) + 1
