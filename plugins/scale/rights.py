"""What each operation needs, and what the log of changes says of it."""

from __future__ import annotations

from collections.abc import Mapping

from engine.messages import N_
from engine.people.rights import LOOK, OWN, Operation, Operations

RIGHTS: Operations = {
    "of": OWN,
    "index": LOOK,
    "set_breadth": Operation("admin", N_("Breadth of a search changed"), ("collection", "breadth")),
    "load_vectors": Operation("editor", N_("Passages put in with their vectors"), ("collection",)),
    "start_index": Operation("admin", N_("Index of a collection measured or changed"), ("collection", "kind")),
}
OPERATIONS: Mapping[str, Operations] = {
    "Scale": RIGHTS,
    # The classes that had them in earlier versions, for what the log says of those.
    "Library": RIGHTS,
    "Ingestions": RIGHTS,
}
