"""What only graph + vector retrieval draws."""

from __future__ import annotations

from components.common.own import Own
from components.workflows.graph_facts import FACTS


class GraphHybrid(Own):
    """Boxes of the picture that say what only its nodes do."""

    facts = FACTS


OWN = GraphHybrid()
