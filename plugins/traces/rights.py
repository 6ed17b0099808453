"""Who may import traces and have imported runs judged, and what the log of changes says of it."""

from __future__ import annotations

from engine.messages import N_
from engine.people.rights import WORK, Operation, Operations

TRACES: Operations = {
    **dict.fromkeys(("preview", "price"), WORK),
    "take": Operation("editor", N_("Traces imported"), ("names", "set_name")),
    "judge": Operation("editor", N_("Passages of imported runs judged"), ("run_ids",)),
}
