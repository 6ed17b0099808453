"""Hand-written parts of an engine for the Knowledge page: jobs, previews, models and hits that a test says."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engine.knowledge.ingest import IngestItem
from engine.library.values import (
    DEFAULT_CHUNKS,
    ChunkOptions,
    ContextPrice,
    FoundPassage,
    GrowthAdvice,
    JobStatus,
    Preview,
    PreviewedSource,
    ProposedModel,
)
from engine.model.config import SearchMethod
from engine.model.values import Fault, PassageId
from engine.roles import StoredPassage

UNREADABLE = Fault("WB304", "This file is not text.", "Convert it first.", {"name": "broken.bin"})


def passage(source: str, ordinal: int, text: str, section: str = "") -> StoredPassage:
    return StoredPassage(PassageId(f"{source}#{ordinal}"), source, text, section, source, ordinal)


def job(**changes: Any) -> JobStatus:
    """A job that embeds, unless a test says otherwise."""
    usual = JobStatus(
        id="j1",
        kind="ingest",
        collection="notes",
        state="embedding",
        started_at="2026-11-22T08:00:00+00:00",
        files=4,
        files_done=1,
        done=30,
        total=120,
        per_second=2.0,
        remaining_s=45.0,
        source="cats.md",
    )
    return replace(usual, **changes)


@dataclass
class FakeIngestions:
    """Keeps jobs in a list; a preview cuts at blank lines, each piece beginning with the last sentence before."""

    listed: list[JobStatus] = field(default_factory=list)
    started: list[dict[str, Any]] = field(default_factory=list)
    pressed: list[tuple[str, str]] = field(default_factory=list)
    previews: list[tuple[tuple[str, ...], ChunkOptions]] = field(default_factory=list)
    gate: threading.Event | None = None
    """A preview waits for it."""
    error: Exception | None = None
    """Raised by the next start or preview."""

    def preview(
        self, items: Sequence[IngestItem], collection: str, chunks: ChunkOptions = DEFAULT_CHUNKS, **named: Any
    ) -> Preview:
        if self.gate is not None:
            self.gate.wait()
        if self.error is not None:
            raise self.error
        self.previews.append((tuple(item.name for item in items), chunks))
        good = [item for item in items if not item.name.startswith("broken")]
        sources = tuple(_cut(item, chunks) for item in good)
        failed = tuple((item.name, UNREADABLE) for item in items if item not in good)
        used = sum(len(item.passages) for item in sources if not item.same_as)
        model = named["context_model"]
        price = self.context_price(collection, model) if model else None
        return Preview(sources, failed, used, used / 2.0, writing=price)

    def start(self, items: Sequence[IngestItem], collection: str, **named: Any) -> str:
        if self.error is not None:
            raise self.error
        self.started.append(
            {
                "names": [item.name for item in items],
                "hidden": {item.hidden for item in items},
                "collection": collection,
                **named,
            }
        )
        self.listed.insert(0, job(id=f"j{len(self.started)}", collection=collection, files=len(items)))
        return self.listed[0].id

    def start_reembed(
        self, collection: str, new_name: str, model: str, *, switch: bool, context: str, context_model: str
    ) -> str:
        self.pressed.append(("reembed", f"{collection} {new_name} {model} {switch} {context} {context_model}".strip()))
        return "r1"

    def context_price(self, collection: str, model: str) -> ContextPrice:
        return ContextPrice(model, 252, 123_456, 720.0)

    def start_add_full_text(self, collection: str) -> str:
        self.pressed.append(("full_text", collection))
        return "t1"

    def jobs(self) -> tuple[JobStatus, ...]:
        return tuple(self.listed)

    def job(self, job_id: str) -> JobStatus:
        return next(item for item in self.listed if item.id == job_id)

    def stop(self, job_id: str) -> None:
        self.pressed.append(("stop", job_id))
        self.listed = [replace(item, state="stopped") if item.id == job_id else item for item in self.listed]

    def resume(self, job_id: str) -> None:
        self.pressed.append(("resume", job_id))

    def discard(self, job_id: str) -> None:
        self.pressed.append(("discard", job_id))
        self.listed = [item for item in self.listed if item.id != job_id]

    def close(self) -> None:
        """Nothing continues."""


def _cut(item: IngestItem, chunks: ChunkOptions) -> PreviewedSource:
    text = item.read().decode("utf-8", "replace")
    pieces = [piece for piece in text.split("\n\n") if piece.strip()]
    passages = []
    for ordinal, piece in enumerate(pieces, 1):
        before = pieces[ordinal - 2].rstrip().rsplit(". ", 1)[-1] if ordinal > 1 and chunks.overlap_tokens else ""
        passages.append(passage(item.name, ordinal, f"{before} {piece}".strip(), "Section"))
    return PreviewedSource(
        name=item.name,
        title=item.name,
        format=item.name.rsplit(".", 1)[-1],
        kind="vector",
        size=len(text.encode()),
        encoding="UTF-8",
        passages=tuple(passages),
        tokens=tuple(len(piece.text) // 4 for piece in passages),
        same_as="there.md" if item.name.startswith("copy") else "",
        replaces=item.name.startswith("changed"),
    )


@dataclass
class FakeLibrary:
    """Keeps what it was asked."""

    models: tuple[ProposedModel, ...] = (
        ProposedModel("builtin", 384, True, "dimension"),
        ProposedModel("hashing", 384, True, "dimension"),
        ProposedModel("ollama:bge-m3", 1024, True, "installed"),
    )
    hits: list[FoundPassage] = field(default_factory=list)
    grown: GrowthAdvice | None = None
    asked: list[tuple[Any, ...]] = field(default_factory=list)

    def embedding_models(self) -> tuple[ProposedModel, ...]:
        return self.models

    def search(
        self, collection: str, query: str, limit: int = 20, method: SearchMethod = "vector"
    ) -> list[FoundPassage]:
        self.asked.append(("search", collection, query, limit, method))
        return self.hits[:limit]

    def advice(self, collection: str) -> GrowthAdvice | None:
        return self.grown

    def rename(self, collection: str, new_name: str) -> None:
        self.asked.append(("rename", collection, new_name))

    def set_alias(self, alias: str, collection: str) -> None:
        self.asked.append(("set_alias", alias, collection))

    def drop_alias(self, alias: str) -> None:
        self.asked.append(("drop_alias", alias))

    def set_description(self, collection: str, text: str) -> None:
        self.asked.append(("set_description", collection, text))

    def drop(self, collection: str) -> None:
        self.asked.append(("drop", collection))

    def close(self) -> None:
        """Nothing continues."""
