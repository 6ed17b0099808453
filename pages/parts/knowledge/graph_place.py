"""Whose knowledge graph a view looks into, and what several views read of it."""

from __future__ import annotations

from dataclasses import dataclass

from components.common.i18n import Words
from engine.engine import Engine
from engine.model.values import Community
from engine.roles import CollectionInfo
from engine.roles.graph import GraphInfo, Neighbourhood
from pages.parts.common.remembered import remembered

MOST_ENTITIES = 2000
"""That are read for tables and overviews."""


@dataclass(frozen=True, slots=True)
class GraphPlace:
    """Whose graph is looked into."""

    engine: Engine
    info: CollectionInfo
    graph: GraphInfo
    words: Words

    @property
    def communities(self) -> tuple[Community, ...]:
        return remembered(
            "kg_communities",
            (self.engine.instance, self.graph),
            lambda: self.engine.graphs.communities(self.info.name),
        )

    def whole(self, most: int) -> Neighbourhood:
        """The most important entities, and what is between them."""
        asked = (self.engine.instance, self.graph, most)
        return remembered(f"kg_whole_{most}", asked, lambda: self.engine.graphs.overview(self.info.name, most))
