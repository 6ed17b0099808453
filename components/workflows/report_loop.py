"""What the other loops left behind, as parts of the report: the trees of their tab, without what can be pressed."""

from __future__ import annotations

from components.common.html_text import html_of
from components.common.i18n import Words
from components.common.markup import Node
from components.runs.report_still import still
from components.workflows.loop_tab import LOOP_WORKFLOWS, loop_nodes
from engine.model.config import declared
from engine.model.values import RunRecord


def loop_sections(record: RunRecord, words: Words) -> list[str]:
    """One section with everything that the loop did; none for the four-node loop."""
    drawn = [html_of(still(item)) for item in loop_nodes(record, words)]
    if not drawn:
        return []
    title = html_of(Node("h2", {}, (words(declared(record.workflow).tab),)))
    return [f'<section class="wb loop">{title}{"".join(drawn)}</section>']


def loop_sheets(record: RunRecord) -> tuple[str, ...]:
    """Style sheets that these sections need."""
    drawn = record.workflow in LOOP_WORKFLOWS or record.workflow == "graph_hybrid"
    return ("loops.css", "report_loop.css") if drawn else ()
