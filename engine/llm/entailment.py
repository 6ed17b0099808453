"""A model of entailment or of hallucination detection, run here from files at hand: does a text say a sentence?"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.errors import ModelError
from engine.llm.cross_encoder import folder_of, labels_of, loaded, local_scorer, why_of
from engine.llm.scoring import Scorer
from engine.model.config import RoleModel

_SUPPORT = re.compile(r"entail|consistent|support|faithful|factual|grounded")
_NOT = re.compile(
    r"\b(?:not|non|no)\b|\b(?:in|un|non)(?:consistent|supported|faithful|factual|grounded|entail)|contradict"
)


def entailment(model: RoleModel, data_dir: Path) -> Scorer:
    """A scorer on ``cross_encoder:NAME`` whose scores are the log-odds that a text supports a sentence.

    The model reads the text first and the sentence second, as models of entailment are trained; ``config.json`` says
    which of its labels means support. One with a single score gives its log-odds, and a sentence is supported by what
    it gives the higher score. Raises as :func:`engine.llm.cross_encoder.cross_encoder` does.
    """
    folder = folder_of(model, data_dir)

    def score(sentence: str, texts: Sequence[str]) -> Sequence[float]:
        inner: Any = loaded(model, folder).model
        try:
            inputs = inner._build_onnx_input(inner.tokenize([(text, sentence) for text in texts]))
            logits = inner.model.run(None, inputs)[0].tolist()
            place = _place_of_support(folder, len(logits[0]))
            return [_log_odds(row, place) for row in logits]
        except Exception as foreign:
            raise ModelError.cross_encoder_unusable(
                model=model.model, folder=str(folder), why=why_of(foreign)
            ) from foreign

    return local_scorer(model.model, score, str(folder))


def _log_odds(logits: Sequence[float], place: int | None) -> float:
    if place is None:
        return logits[0]
    others = [item for at, item in enumerate(logits) if at != place]
    most = max(others)
    return logits[place] - most - math.log(math.fsum(math.exp(item - most) for item in others))


def _place_of_support(folder: Path, labels: int) -> int | None:
    """The label that means support; None for a model with a single score."""
    if labels == 1:
        return None
    found = place_of_support(labels_of(folder))
    if found is None or found >= labels:
        raise ValueError("config.json does not say which of its labels means that a text supports a sentence.")
    return found


def place_of_support(labels: Mapping[str, str]) -> int | None:
    """The one label of ``id2label`` that means support: ``entailment``, ``consistent``, ``supported``; None else."""
    read = {place: " ".join(re.findall(r"[a-z]+", str(label).lower())) for place, label in labels.items()}
    means = [int(place) for place, label in read.items() if _SUPPORT.search(label) and not _NOT.search(label)]
    return means[0] if len(means) == 1 else None
