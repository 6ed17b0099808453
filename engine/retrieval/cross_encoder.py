"""A cross encoder as reranker: a small model that reads question and passage together, run here from files at hand."""

from __future__ import annotations

import asyncio
import math
import re
import shlex
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from engine.builtin.rerank import BATCH, by_relevance, scored_verdict
from engine.errors import (
    CrossEncoderMisnamed,
    CrossEncoderMissing,
    CrossEncoderPackageMissing,
    CrossEncoderUnusable,
)
from engine.model.config import RoleModel
from engine.model.values import Message, ModelCall, Passage, PassageId, Verdict
from engine.roles import SILENT, Trace

if TYPE_CHECKING:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

PROVIDER = "cross_encoder"
FOLDER = "rerankers"
"""Folder of the data folder in which each model has one of its own name."""
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?", re.ASCII)
"""No part of it may begin with a dot: a name must not lead out of its folder."""
_MODEL_FILES = ("onnx/model.onnx", "model.onnx", "onnx/model_quantized.onnx")
_FILES = "onnx/model.onnx tokenizer.json tokenizer_config.json special_tokens_map.json config.json"
"""What is downloaded of a model, by its hub's own command."""
_registering = threading.Lock()

Score = Callable[[str, Sequence[str]], Sequence[float]]
"""Logits of texts against a question; runs for as long as the model takes."""


def cross_encoder(model: RoleModel, data_dir: Path) -> CrossEncoderReranker:
    """A reranker on ``cross_encoder:NAME``, whose files are looked for when it is first asked.

    Raises ``CrossEncoderMisnamed`` for a name that could be no folder's.
    """
    name = model.model.partition(":")[2].strip()
    if not _NAME.fullmatch(name) or ".." in name:
        raise CrossEncoderMisnamed(model=model.model)
    folder = data_dir / FOLDER / name

    def score(question: str, texts: Sequence[str]) -> Sequence[float]:
        loaded = _loaded(model.model, name, folder)
        try:
            return [float(logit) for logit in loaded.rerank(question, texts, batch_size=BATCH)]
        except Exception as foreign:
            raise CrossEncoderUnusable(model=model.model, folder=str(folder), why=_why(foreign)) from foreign

    return CrossEncoderReranker(model.model, score, str(folder))


class CrossEncoderReranker:
    """Scores by a cross encoder (contract: :class:`engine.roles.Reranker`); a score is the sigmoid of its logit.

    Its scores are no verdicts of the run's grader and are not reported as such. ``TimeoutError`` where the trace's
    time runs out.
    """

    def __init__(self, name: str, score: Score, folder: str = "") -> None:
        self._name = name
        self._score = score
        self._folder = folder

    async def rerank(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT
    ) -> list[tuple[Passage, Verdict]]:
        """Each passage with its score as a verdict, best first."""
        verdicts: dict[PassageId, Verdict] = {}
        for start in range(0, len(passages), BATCH):
            verdicts.update(await self._scored(question, passages[start : start + BATCH], trace))
        return [(passage, verdicts[passage.id]) for passage in by_relevance(passages, verdicts)]

    async def _scored(self, question: str, batch: Sequence[Passage], trace: Trace) -> dict[PassageId, Verdict]:
        start_ms, began = trace.now_ms(), time.perf_counter()
        scores: list[float] = []
        error = "interrupted"
        try:
            # The thread cannot be stopped, but no one waits for it: a batch is short.
            async with asyncio.timeout(trace.time_left_s()):
                logits = await asyncio.to_thread(self._score, question, [_text(item) for item in batch])
            scores = self._chances(logits, len(batch))
            error = ""
        except CrossEncoderUnusable as failure:
            error = f"{failure.code}: {failure.fact}"
            raise
        finally:
            trace.call(
                ModelCall(
                    role="reranker",
                    node="",
                    round=0,
                    model=self._name,
                    messages=(Message("user", question), *(Message("user", _text(item)) for item in batch)),
                    reply=" ".join(f"{score:.4f}" for score in scores),
                    parsed={item.id: round(score, 4) for item, score in zip(batch, scores, strict=False)} or None,
                    start_ms=start_ms,
                    duration_ms=(time.perf_counter() - began) * 1000.0,
                    # No server and no chat model: it costs what the other models of this process cost.
                    built_in=True,
                    error=error,
                )
            )
        return {item.id: scored_verdict(score, self._name) for item, score in zip(batch, scores, strict=True)}

    def _chances(self, logits: Sequence[float], count: int) -> list[float]:
        if len(logits) != count or not all(math.isfinite(logit) for logit in logits):
            why = "its scores are not one finite number for each passage."
            raise CrossEncoderUnusable(model=self._name, folder=self._folder, why=why)
        return [sigmoid(logit) for logit in logits]


def sigmoid(logit: float) -> float:
    """Return the logistic function in [0, 1], without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    grown = math.exp(logit)
    return grown / (1.0 + grown)


def _text(passage: Passage) -> str:
    """Return the text of a passage with its heading, which often says what the passage is about."""
    heading = passage.section or passage.title
    return f"{heading}\n{passage.text}" if heading else passage.text


@lru_cache(maxsize=2)
def _loaded(model: str, name: str, folder: Path) -> TextCrossEncoder:
    """The model in memory; loading takes seconds, so the one in use stays."""
    file = next((item for item in _MODEL_FILES if (folder / item).is_file()), None)
    try:
        from fastembed.common.model_description import ModelSource
        from fastembed.rerank.cross_encoder import TextCrossEncoder
    except ImportError as foreign:
        raise CrossEncoderPackageMissing.for_model(model=model) from foreign
    if file is None:
        command = f"hf download {shlex.quote(name)} {_FILES} --local-dir {shlex.quote(str(folder))}"
        raise CrossEncoderMissing(model=model, folder=folder, command=command)
    # Its own table has only the models it would download; ours are read from their folder, wherever they came from.
    entry = f"{PROVIDER}:{folder}/{file}"
    with _registering:
        if entry.casefold() not in _names(TextCrossEncoder.list_supported_models()):
            TextCrossEncoder.add_custom_model(entry, ModelSource(hf=name), model_file=file)
    try:
        return TextCrossEncoder(
            entry, cache_dir=str(folder), specific_model_path=str(folder), local_files_only=True, cuda=False
        )
    except Exception as foreign:
        raise CrossEncoderUnusable(model=model, folder=str(folder), why=_why(foreign)) from foreign


def _names(models: Iterable[dict[str, object]]) -> set[str]:
    return {str(item["model"]).casefold() for item in models}


def _why(foreign: Exception) -> str:
    """The first line of what the library says."""
    said = next(iter(str(foreign).strip().splitlines()), "") or type(foreign).__name__
    return said if said.endswith(".") else f"{said}."
