"""Who may connect collections, and what the log of changes says of it."""

from __future__ import annotations

from engine.messages import N_
from engine.people.rights import MANAGE, OWN, Operation, Operations

RIGHTS: Operations = {
    "of": OWN,
    **dict.fromkeys(("all", "states", "fault", "look", "inspect", "models", "try_out", "probe"), MANAGE),
    "connect": Operation("admin", N_("Collection connected"), ("connection.name",)),
    "disconnect": Operation("admin", N_("Collection disconnected")),
}
