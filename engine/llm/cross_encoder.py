"""A cross encoder: a small model that reads question and passage together, run here from files at hand."""

from __future__ import annotations

import asyncio
import json
import math
import re
import shlex
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from engine.builtin.rerank import BATCH
from engine.errors import ModelError
from engine.llm.scoring import Scorer
from engine.model.config import RoleModel

if TYPE_CHECKING:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

PROVIDER = "cross_encoder"
FOLDER = "rerankers"
"""Folder of the data folder in which each model has one of its own name."""
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?", re.ASCII)
"""No part of it may begin with a dot: a name must not lead out of its folder."""
_MODEL_FILES = ("onnx/model.onnx", "model.onnx", "onnx/model_quantized.onnx")
_READ = ("tokenizer.json", "tokenizer_config.json", "config.json")
"""What else is read of a model."""
_FILES = "onnx/model.onnx tokenizer.json tokenizer_config.json special_tokens_map.json config.json"
"""What is downloaded of a model, by its hub's own command."""
_registering = threading.Lock()

Score = Callable[[str, Sequence[str]], Sequence[float]]
"""Logits of texts against a question; runs for as long as the model takes."""


def cross_encoder(model: RoleModel, data_dir: Path) -> Scorer:
    """A scorer on ``cross_encoder:NAME``, whose files are looked for when it is first asked.

    Raises ``ModelError.cross_encoder_misnamed`` for a name that could be no folder's.
    """
    return local_scorer(model.model, scores_of_folder(model, data_dir), str(folder_of(model, data_dir)))


def scores_of_folder(model: RoleModel, data_dir: Path) -> Score:
    """The logits of ``cross_encoder:NAME``; raises as :func:`cross_encoder` does, and when asked ``ModelError``."""
    folder = folder_of(model, data_dir)

    def score(question: str, texts: Sequence[str]) -> Sequence[float]:
        encoder = loaded(model, folder)
        try:
            return [float(logit) for logit in encoder.rerank(question, texts, batch_size=BATCH)]
        except Exception as foreign:
            raise ModelError.cross_encoder_unusable(
                model=model.model, folder=str(folder), why=why_of(foreign)
            ) from foreign

    return score


def offered(data_dir: Path) -> tuple[str, ...]:
    """The models for passages that are here with all that they need, as a config names them; none without the package.

    A model of entailment, which has several labels, gives no score for a passage: it is a verifier's.
    """
    folder = data_dir / FOLDER
    found = {path.parent for pattern in ("*", "*/*") for path in folder.glob(f"{pattern}/config.json")}
    usable = [path for path in found if _complete(path) and len(labels_of(path)) < 2] if find_spec("fastembed") else []
    names = sorted(path.relative_to(folder).as_posix() for path in usable)
    return tuple(f"{PROVIDER}:{name}" for name in names if _NAME.fullmatch(name) and ".." not in name)


def _complete(folder: Path) -> bool:
    return all((folder / name).is_file() for name in _READ) and any((folder / name).is_file() for name in _MODEL_FILES)


def labels_of(folder: Path) -> Mapping[str, str]:
    """The labels that a model gives logits for, by place, as its ``config.json`` says; empty where it does not."""
    with suppress(OSError, ValueError):
        about = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        named = about.get("id2label") if isinstance(about, Mapping) else None
        return named if isinstance(named, Mapping) else {}
    return {}


def folder_of(model: RoleModel, data_dir: Path) -> Path:
    """The folder of a model's files; raises ``ModelError.cross_encoder_misnamed``."""
    name = _name(model)
    if not _NAME.fullmatch(name) or ".." in name:
        raise ModelError.cross_encoder_misnamed(model=model.model)
    return data_dir / FOLDER / name


def _name(model: RoleModel) -> str:
    return model.model.partition(":")[2].strip()


def local_scorer(name: str, score: Score, folder: str = "") -> Scorer:
    """A scorer on a function of this process, which is called in a thread; its scores are logits."""

    async def ask(question: str, texts: Sequence[str]) -> Sequence[float]:
        logits = await asyncio.to_thread(score, question, texts)
        if len(logits) != len(texts) or not all(math.isfinite(logit) for logit in logits):
            why = "its scores are not one finite number for each passage."
            raise ModelError.cross_encoder_unusable(model=name, folder=folder, why=why)
        return logits

    return Scorer(name, ask)


def loaded(model: RoleModel, folder: Path) -> TextCrossEncoder:
    """The model in memory; raises ``ModelError``."""
    return _loaded(model.model, _name(model), folder)


@lru_cache(maxsize=2)
def _loaded(model: str, name: str, folder: Path) -> TextCrossEncoder:
    """The model in memory; loading takes seconds, so the one in use stays."""
    file = next((item for item in _MODEL_FILES if (folder / item).is_file()), None)
    try:
        from fastembed.common.model_description import ModelSource
        from fastembed.rerank.cross_encoder import TextCrossEncoder
    except ImportError as foreign:
        raise ModelError.cross_encoder_without_package(model=model) from foreign
    if file is None:
        command = f"hf download {shlex.quote(name)} {_FILES} --local-dir {shlex.quote(str(folder))}"
        raise ModelError.cross_encoder_missing(model=model, folder=folder, command=command)
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
        raise ModelError.cross_encoder_unusable(model=model, folder=str(folder), why=why_of(foreign)) from foreign


def _names(models: Iterable[dict[str, object]]) -> set[str]:
    return {str(item["model"]).casefold() for item in models}


def why_of(foreign: Exception) -> str:
    """The first line of what the library says."""
    said = next(iter(str(foreign).strip().splitlines()), "") or type(foreign).__name__
    return said if said.endswith(".") else f"{said}."
