"""Which lists a recorded round of graph + vector retrieval tells under other settings, and what they were made from.

A run in mode ``mix`` has searched everything, so its record tells every other mode too; a run in ``local`` has not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.errors import RunWarning
from engine.model.config import Mode, RunConfig
from engine.model.values import GraphEvidence, ModeNoteCode, RetrievalList, Round, RunRecord, lists_of_mode
from engine.retrieval.graph_options import graph_options
from engine.retrieval.ordering import Found, lists_of
from engine.workflows.graph_hybrid.policy import mode_of

_NOT_BEGUN: dict[RetrievalList, tuple[ModeNoteCode, ...]] = {
    "local": ("no_graph",),
    "global": ("no_graph", "no_communities"),
}
"""Notes of a list that no other setting would have filled."""
_SEEDS = 3
"""Passages by vectors from which a search of the graph begins where the query names no entity."""


@dataclass(frozen=True, slots=True)
class RecordedLists:
    """The lists of a record, asked for by another config."""

    record: RunRecord
    config: RunConfig
    mode: Mode
    """That these settings search."""
    recorded_mode: Mode

    @classmethod
    def of(cls, record: RunRecord, config: RunConfig) -> RecordedLists:
        analysis = record.analysis
        if analysis is None:
            return cls(record, config, config.mode, record.config.mode)
        return cls(record, config, mode_of(config, analysis), mode_of(record.config, analysis))

    @property
    def same_mode(self) -> bool:
        return self.mode == self.recorded_mode

    def covers(self, recorded: Round) -> bool:
        """Whether the round has what a search under these settings would find."""
        evidence = recorded.graph
        if evidence is None:
            # Nothing could be searched in time: that says nothing of any other search.
            return self.same_mode
        return (
            (self.same_mode or self._searched_all(evidence))
            and self._same_reach(evidence)
            and self._deep_enough(recorded, evidence)
            and self._has_vectors(recorded)
            and (self.same_mode or self._same_scores(recorded))
        )

    def lists(self, recorded: Round) -> dict[RetrievalList, tuple[Found, ...]]:
        """What would be made one; vectors where the lists of the mode have nothing, or leave places open."""
        found = lists_of(recorded.candidates)
        wanted = self.wanted()
        if self._seeded(recorded.graph) and "vector" not in wanted:
            # Its entities came from passages that this mode does not look for.
            found.pop("local", None)
        used = {name: found[name] for name in wanted if name in found}
        own = self._distinct(used)
        if "vector" not in wanted and own < self.config.fetch_k:
            used["near" if own else "vector"] = _by_vectors(found)
        return used

    def evidence(self, recorded: Round) -> GraphEvidence | None:
        """What of the graph a search under these settings would have used."""
        evidence = recorded.graph
        if evidence is None or self.same_mode:
            return evidence
        wanted = self.wanted()
        used = self.lists(recorded)
        local = "local" in wanted and ("vector" in wanted or not self._seeded(evidence))
        return replace(
            evidence,
            mode=self.mode,
            entities=evidence.entities if local else (),
            relationships=evidence.relationships if local else (),
            communities=evidence.communities if "global" in wanted else (),
            notes=tuple(note for note in evidence.notes if note.list in wanted),
            fell_back_to=("vector",) if "vector" in used and "vector" not in wanted else (),
        )

    def _distinct(self, used: Mapping[RetrievalList, Sequence[Found]]) -> int:
        """Passages that the mode's own lists bring."""
        depth = self.config.fetch_k
        own = (items[:depth] for name, items in used.items() if name not in ("near", "attachment"))
        return len({item.passage.id for items in own for item in items})

    def wanted(self) -> tuple[RetrievalList, ...]:
        return lists_of_mode(self.mode, attached=bool(self.record.attachments))

    def _searched_all(self, evidence: GraphEvidence) -> bool:
        """Whether every list that is wanted was searched, and would have found the same in this mode."""
        wanted, in_mode = self.wanted(), lists_of_mode(self.recorded_mode, attached=bool(self.record.attachments))
        if self._cut_off() or _unreachable(evidence):
            return False
        if not set(wanted) <= {*in_mode, *evidence.fell_back_to}:
            return False
        # With vectors beside it, the search around entities begins from their passages where none is named.
        seeding = "vector" in wanted and "local" in wanted and "vector" not in in_mode
        if seeding and any(note.code == "no_entity" for note in evidence.notes):
            return False
        return not self._falls_back(evidence) or "vector" in in_mode or "vector" in evidence.fell_back_to

    def _has_vectors(self, recorded: Round) -> bool:
        """Whether what vectors find is recorded, where these settings need it for open places."""
        used = self.lists(recorded)
        return "near" not in used or any({"near", "vector"} & item.found_in.keys() for item in recorded.candidates)

    def _cut_off(self) -> bool:
        """Whether something kept a search from being made; that a mode found nothing of its own is no such thing."""
        return any(
            item.node == "retrieve" and item.code != RunWarning.mode_fell_back.code for item in self.record.warnings
        )

    def _falls_back(self, evidence: GraphEvidence) -> bool:
        """Whether this mode might find nothing of its own, and search by vectors instead."""
        wanted = set(self.wanted()) - {"attachment"}
        empty = {note.list for note in evidence.notes if note.code.startswith("no_")}
        seeded: set[RetrievalList] = {"local"} if self._seeded(evidence) else set()
        return "vector" not in wanted and wanted <= empty | seeded

    def _same_reach(self, evidence: GraphEvidence) -> bool:
        """Whether the search of the graph goes as far."""
        now, then, wanted = graph_options(self.config), graph_options(self.record.config), self.wanted()
        around = (now.hops, now.max_entities) == (then.hops, then.max_entities)
        inside = now.max_communities == then.max_communities
        return ("local" not in wanted or around or _not_begun(evidence, "local")) and (
            "global" not in wanted or inside or _not_begun(evidence, "global")
        )

    def _deep_enough(self, recorded: Round, evidence: GraphEvidence) -> bool:
        depth, asked = self.record.config.fetch_k, self.config.fetch_k
        if self._seeded(evidence) and depth != asked and min(depth, asked) < _SEEDS:
            return False
        # A list shorter than was asked for has nothing below it.
        return asked <= depth or all(len(items) < depth for items in self.lists(recorded).values())

    def _same_scores(self, recorded: Round) -> bool:
        """Whether graph scores are those of the lists that are left: of two lists a record keeps the better score."""
        if not graph_options(self.config).graph_threshold:
            return True
        dropped = {"local", "global"} - set(self.wanted())
        return len(dropped) != 1 or not any({"local", "global"} <= set(item.found_in) for item in recorded.candidates)

    def _seeded(self, evidence: GraphEvidence | None) -> bool:
        return evidence is not None and any(item.linked_by == "passage" for item in evidence.entities)


def _by_vectors(found: Mapping[RetrievalList, tuple[Found, ...]]) -> tuple[Found, ...]:
    return found.get("vector") or found.get("near") or ()


def _not_begun(evidence: GraphEvidence, name: RetrievalList) -> bool:
    return any(note.list == name and note.code in _NOT_BEGUN[name] for note in evidence.notes)


def _unreachable(evidence: GraphEvidence) -> bool:
    return any(note.code == "graph_unreachable" for note in evidence.notes)
