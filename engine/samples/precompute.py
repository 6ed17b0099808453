"""Rebuild the shipped vectors and store: ``python -m engine.samples.precompute``; only texts that changed are embedded.

One file for the built-in model, in half precision: samples with their summaries, communities of their graph and
anchors together, keyed by the hash of their text, so that a text which changed is embedded on the user's machine until
this is run again. The store is the result of a first start with them.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import zipfile
from dataclasses import asdict
from pathlib import Path

import numpy as np

from engine.builtin.embedder import builtin_embedder
from engine.knowledge.base import KnowledgeBase
from engine.knowledge.sample_graph import sample_graph
from engine.knowledge.samples import SAMPLES_CONTEXT, content_hashes, sample_sources
from engine.knowledge.stored_samples import (
    ARCHIVE,
    GRAPHS,
    NOTED,
    STORE,
    Stored,
    graph_digest,
    milvus_lite,
    noted,
    shipped_files,
    stored,
)
from engine.knowledge.summarise import summaries_of, to_embed
from engine.model.values import CONTEXTS, SAMPLE_COLLECTION
from engine.retrieval.graph_looks import embedded_text
from engine.retrieval.shipped import anchor_texts, embedded_with_shipped, text_key
from engine.retrieval.similarity import ANCHOR_LANGUAGES
from engine.roles import Embedder, slug
from engine.settings import Settings

SAMPLES = Path(__file__).parent
FOLDER = SAMPLES / "vectors"


def precompute(embedder: Embedder, folder: Path = FOLDER) -> Path:
    """Write the vectors of every sample passage, summary and anchor into the model's file; returns its path."""
    texts = [passage.searched(SAMPLES_CONTEXT) for source in sample_sources() for passage in source.passages]
    texts += [text for source in sample_sources() for text in to_embed(summaries_of(source.passages), SAMPLES_CONTEXT)]
    texts += [embedded_text(community) for community in sample_graph().communities]
    texts += [text for context in CONTEXTS for language in ANCHOR_LANGUAGES for text in anchor_texts(language, context)]
    by_key = {text_key(text): text for text in texts}
    keys = sorted(by_key)
    vectors, _ = asyncio.run(embedded_with_shipped(embedder, [by_key[key] for key in keys]))
    folder.mkdir(exist_ok=True)
    path = folder / f"{slug(embedder)}.npz"
    np.savez_compressed(path, keys=np.array([key.encode("ascii") for key in keys]), vectors=vectors.astype(np.float16))
    return path


def store_samples() -> Path:
    """Write the shipped store as a first start makes it without one; returns its path."""
    for former in (ARCHIVE, NOTED):
        (SAMPLES / former).unlink(missing_ok=True)
    stored.cache_clear()
    noted.cache_clear()
    path = SAMPLES / ARCHIVE
    with tempfile.TemporaryDirectory() as data, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        made = asyncio.run(_first_start(Settings(data_dir=Path(data), milvus_uri="")))
        for found in sorted(Path(data).rglob("*")):
            # A lock, what a file was before its last change, and indexes, which are vectors once more and made in no
            # time, are left out.
            name = found.relative_to(data)
            if name.parts[0] in (STORE, GRAPHS) and found.is_file() and found.suffix not in ("", ".prev", ".idx"):
                archive.writestr(zipfile.ZipInfo(name.as_posix()), found.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    text = json.dumps(asdict(made), indent=1, ensure_ascii=False)
    (SAMPLES / NOTED).write_text(text + "\n", encoding="utf-8")
    return path


async def _first_start(settings: Settings) -> Stored:
    knowledge = KnowledgeBase(settings)
    await knowledge.ready()
    info = await knowledge.describe(SAMPLE_COLLECTION)
    graph = graph_digest(
        await knowledge.graphs.done(SAMPLE_COLLECTION), await knowledge.graphs.communities(SAMPLE_COLLECTION)
    )
    await knowledge.close()
    return Stored(milvus_lite(), info.embedding_model, shipped_files(), dict(content_hashes()), graph)


if __name__ == "__main__":
    for written in (precompute(builtin_embedder()), store_samples()):
        print(f"{written.name}: {written.stat().st_size / 1000:.0f} kB")
