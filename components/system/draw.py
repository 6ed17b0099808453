"""Trees of elements with the looks of the page System; the browser sets every text as text."""

from __future__ import annotations

from components.common.faults import with_code
from components.common.i18n import Words
from components.common.markup import Drawer, Node, command, node
from components.common.phrases import fault_text
from engine.model.values import Fault

draw_system = Drawer("system", "system.css", look="system")


def fault_nodes(fault: Fault, words: Words) -> tuple[Node, ...]:
    """Show what happened and the remedy, with the command if the fault names one."""
    fact, remedy = fault_text(fault, words)
    typed = fault.params.get("command", "")
    said = (
        node("p", "", node("strong", "", fact), " ", node("span", "muted small", fault.code)),
        node("p", "", *with_code(remedy)),
    )
    return (*said, command(typed, words)) if typed else said
