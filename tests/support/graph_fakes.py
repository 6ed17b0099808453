"""An extractor written by hand that keeps the contract, and passages to read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.errors import ModelError
from engine.model.values import Entity, PassageId, Relationship
from engine.roles import SILENT, StoredPassage, Trace
from engine.roles.graph import PassageGraph, ReadEntity, ReadRelationship, text_hash

_SAID = re.compile(r"(\w+) (helps|hurts) (\w+)")


@dataclass
class FakeExtractor:
    """Reads "one helps other" and "one hurts other"; counts what it was asked, and fails where it is asked to."""

    name: str = "fake:model"
    unreadable: tuple[PassageId, ...] = ()
    garbled: frozenset[str] = frozenset()
    """Ids of passages whose reply cannot be read."""
    fails_at: int = -1
    """Call of ``extract`` that meets an unreachable server."""
    calls: int = 0
    asked: list[PassageId] = field(default_factory=list)
    summarised: int = 0

    async def extract(self, passages: Sequence[StoredPassage], trace: Trace = SILENT) -> list[PassageGraph]:
        self.calls += 1
        if self.calls - 1 == self.fails_at:
            raise ModelError.restored("The model is gone.", "Start it.")
        self.asked += [item.id for item in passages]
        self.unreadable += tuple(item.id for item in passages if item.id in self.garbled)
        return [self._read(item) for item in passages]

    async def summarise(
        self, entities: Sequence[Entity], relationships: Sequence[Relationship], passages: Sequence[StoredPassage]
    ) -> tuple[str, str]:
        self.summarised += 1
        return entities[0].name, " ".join(item.name for item in entities)

    def _read(self, passage: StoredPassage) -> PassageGraph:
        if passage.id in self.garbled:
            return PassageGraph(passage.id, text_hash(passage.text))
        said = _SAID.findall(passage.text)
        names = dict.fromkeys(name for one, _, other in said for name in (one, other))
        return PassageGraph(
            passage.id,
            text_hash(passage.text),
            tuple(ReadEntity(name) for name in names),
            tuple(ReadRelationship(one, other, verb.upper()) for one, verb, other in said),
        )
