"""What only the dual loop draws."""

from __future__ import annotations

from components.common.own import Own
from components.workflows.dual_facts import FACTS


class DualLoop(Own):
    """Boxes of the picture that say what only its nodes do."""

    facts = FACTS


OWN = DualLoop()
