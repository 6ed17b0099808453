"""What the other loops left behind, as parts of the report: the trees of their tab, without what can be pressed."""

from __future__ import annotations

from components.html_text import html_of
from components.i18n import Words
from components.loop_tab import LOOP_WORKFLOWS, loop_nodes
from components.markup import Node
from engine.values import RunRecord

_KEPT = frozenset(
    (
        "class",
        "title",
        "role",
        "start",
        "scope",
        "colspan",
        "open",
        "aria-hidden",
        "aria-label",
        "data-fill",
        "data-tick",
    )
)


def loop_sections(record: RunRecord, words: Words) -> list[str]:
    """One section with everything that the loop did; none for the four-node loop."""
    drawn = [html_of(_still(item)) for item in loop_nodes(record, words)]
    if not drawn:
        return []
    title = html_of(Node("h2", {}, (words(f"tab.loop.{record.workflow}"),)))
    return [f'<section class="wb loop">{title}{"".join(drawn)}</section>']


def loop_sheets(record: RunRecord) -> tuple[str, ...]:
    """Style sheets that these sections need."""
    return ("loops.css", "report_loop.css") if record.workflow in LOOP_WORKFLOWS else ()


def _still(drawn: Node) -> Node:
    """The same without buttons and what only a script could use; what is folded stands open."""
    kids = tuple(_still(kid) if isinstance(kid, Node) else kid for kid in drawn.kids)
    attrs = {name: value for name, value in drawn.attrs.items() if name in _KEPT}
    if drawn.tag == "button":
        return Node("span", {**attrs, "role": "note"}, kids)
    return Node("div" if drawn.tag == "section" else drawn.tag, attrs, kids)
