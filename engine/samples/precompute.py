"""Rebuild the shipped vectors: ``python -m engine.samples.precompute`` (about a minute on two cores).

One file for the built-in model, in half precision: samples with their summaries, communities of their graph and
anchors together, keyed by the hash of their text, so that a text which changed is embedded on the user's machine until
this is run again.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np

from engine.builtin.embedder import builtin_embedder
from engine.knowledge.summarise import summaries_of, to_embed
from engine.retrieval.community_vectors import told_text
from engine.retrieval.similarity import ANCHOR_LANGUAGES, anchor_texts, slug
from engine.roles import Embedder
from engine.samples import sample_sources, text_key
from engine.samples.graph import sample_graph

FOLDER = Path(__file__).parent / "vectors"


def precompute(embedder: Embedder, folder: Path = FOLDER) -> Path:
    """Embed every sample passage, summary and anchor, and write the model's file; returns its path."""
    texts = [passage.text for source in sample_sources() for passage in source.passages]
    texts += [text for source in sample_sources() for text in to_embed(summaries_of(source.passages))]
    texts += [told_text(community) for community in sample_graph().communities]
    texts += [text for language in ANCHOR_LANGUAGES for text in anchor_texts(language)]
    by_key = {text_key(text): text for text in texts}
    keys = sorted(by_key)
    vectors = asyncio.run(embedder.embed_passages([by_key[key] for key in keys]))
    folder.mkdir(exist_ok=True)
    path = folder / f"{slug(embedder)}.npz"
    np.savez_compressed(path, keys=np.array([key.encode("ascii") for key in keys]), vectors=vectors.astype(np.float16))
    return path


if __name__ == "__main__":
    written = precompute(builtin_embedder())
    print(f"{written.name}: {written.stat().st_size / 1000:.0f} kB")
