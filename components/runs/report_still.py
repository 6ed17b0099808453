"""Trees of the page as a report has them: nothing can be pressed, and what is folded stands open."""

from __future__ import annotations

from components.common.markup import Node

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


def still(drawn: Node) -> Node:
    """The same without buttons and what only a script could use."""
    kids = tuple(still(kid) if isinstance(kid, Node) else kid for kid in drawn.kids)
    attrs = {name: value for name, value in drawn.attrs.items() if name in _KEPT}
    if drawn.tag == "button":
        return Node("span", {**attrs, "role": "note"}, kids)
    return Node("div" if drawn.tag == "section" else drawn.tag, attrs, kids)
