"""Who may look after people, and what the log of changes says of it."""

from __future__ import annotations

from engine.messages import N_
from engine.people.rights import MANAGE, OWN, Operation, Operations

TEAM: Operations = {
    **dict.fromkeys(("of", "room", "person_of_token", "note_change", "note_sign_in"), OWN),
    **dict.fromkeys(("tokens", "entries"), MANAGE),
    "make_token": Operation("admin", N_("Token made"), ("name",)),
    "revoke_token": Operation("admin", N_("Token revoked")),
}
