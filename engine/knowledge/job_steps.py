"""The jobs that write into collections: ingestion, re-embedding, search by words, knowledge graph, index."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from engine.builtin.extractor import BuiltinExtractor
from engine.knowledge import manifest as manifests
from engine.knowledge.base import KnowledgeBase
from engine.knowledge.graph.building import build_graph
from engine.knowledge.job_folder import journal_at
from engine.knowledge.jobs import Kind, Note
from engine.knowledge.journal import Journal
from engine.knowledge.kept_replies import KeptReplies
from engine.knowledge.manifest import DONE_BY, Manifest
from engine.knowledge.progress import NOTHING, IngestReport, Pace
from engine.knowledge.reembed import reembed
from engine.library.values import JobKind
from engine.plugins import job_of
from engine.roles.graph import Extractor


def knowledge_kinds(
    knowledge: KnowledgeBase, extractor: Callable[[str], Extractor] = lambda _: BuiltinExtractor()
) -> Mapping[JobKind, Kind]:
    """How each of these jobs is done; ``extractor`` makes what reads a graph, by its name."""

    async def ingest(manifest: Manifest, folder: Path, note: Note) -> IngestReport:
        async with _kept(folder) as (journal, replies):
            return await knowledge.ingest(
                manifest.items,
                manifest.collection,
                note,
                manifest.query_prefix,
                manifest.passage_prefix,
                context=manifest.context,
                context_model=manifest.context_model,
                kept=replies,
                chunks=manifest.chunks,
                embedding_model=manifest.embedding_model,
                description=manifest.description,
                journal=journal,
                failed=manifest.failed,
            )

    async def embed_again(manifest: Manifest, folder: Path, note: Note) -> IngestReport:
        async with _kept(folder) as (journal, replies):
            return await reembed(
                knowledge,
                manifest.origin,
                manifest.collection,
                manifest.embedding_model,
                note,
                switch=manifest.switch,
                context=manifest.context,
                context_model=manifest.context_model,
                writing=lambda model: knowledge.written_context(model, replies),
                journal=journal,
            )

    async def read_graph(manifest: Manifest, folder: Path, note: Note) -> IngestReport:
        kept = await asyncio.to_thread(KeptReplies, manifests.replies_of(folder))
        reads = extractor(manifest.graph)
        info = await build_graph(knowledge.graphs, knowledge, reads, manifest.collection, note, kept=kept)
        return replace(NOTHING, passages=info.passages)

    async def add_full_text(manifest: Manifest, _: Path, note: Note) -> IngestReport:
        pace = Pace(note)
        await knowledge.add_full_text(manifest.collection, pace.copied)
        return pace.report()

    async def of_plugin(manifest: Manifest, _: Path, note: Note) -> IngestReport:
        report: IngestReport = await job_of(DONE_BY[manifest.kind], manifest.kind)(knowledge, manifest, note)
        return report

    return {
        "ingest": Kind(ingest, after=partial(_graph_after, knowledge)),
        "reembed": Kind(embed_again),
        "graph": Kind(read_graph),
        "add_full_text": Kind(add_full_text),
        **dict.fromkeys(DONE_BY, Kind(of_plugin)),
    }


async def _graph_after(knowledge: KnowledgeBase, manifest: Manifest) -> Manifest | None:
    """The job that builds the graph an ingestion was asked for."""
    if not manifest.graph or not (await knowledge.describe(manifest.collection)).passages:
        return None
    return Manifest("", "graph", manifest.collection, "", "", graph=manifest.graph, author=manifest.author)


@asynccontextmanager
async def _kept(folder: Path) -> AsyncIterator[tuple[Journal, KeptReplies]]:
    """Open journal and replies of a job; not closed in a thread, for the job may be resumed as soon as it is over."""
    replies = await asyncio.to_thread(KeptReplies, manifests.replies_of(folder))
    journal = await asyncio.to_thread(journal_at, manifests.journal_of(folder))
    try:
        yield journal, replies
    finally:
        journal.close()
