"""An error or warning where it was caused: what happened, what to do, and a button that does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from components.common.i18n import Words
from components.common.markup import Node, box, button, command, draw, node
from components.common.phrases import fault_text, node_text
from engine.model.config import WorkflowName
from engine.model.values import Fault


def fault_box(
    fault: Fault,
    words: Words,
    *,
    key: str,
    severity: Literal["error", "warning"] = "error",
    actions: Sequence[tuple[str, str]] = (),
    workflow: WorkflowName | None = None,
) -> str | None:
    """Draw one fault; ``actions`` are (event, label) buttons, and the event of the one pressed is returned.

    ``workflow`` is the one whose run it is a fault of, and names its node.
    A command among the fault's parameters gets a line of its own with a copy button.
    """
    fact, remedy = fault_text(fault, words)
    typed = fault.params.get("command", "")
    where = f"{node_text(fault.node, workflow, words)} · {fault.code}" if fault.node else fault.code
    parts = [
        node("div", "head", node("strong", "", fact), node("span", "muted small grow far", where)),
        node("p", "", *with_code(remedy)),
    ]
    if typed:
        parts.append(command(typed, words))
    if actions:
        looks = ("button primary", *("button" for _ in actions[1:]))
        made = (button(label, name, look) for (name, label), look in zip(actions, looks, strict=True))
        parts.append(node("div", "actions", *made))
    look, sign = ("fault", "✗") if severity == "error" else ("warn", "!")
    return draw((box(look, sign, *parts),), words, key=key)


def with_code(text: str) -> list[Node | str]:
    """Render text between backticks as code, the rest as text."""
    return [node("code", "", part) if place % 2 else part for place, part in enumerate(text.split("`"))]
