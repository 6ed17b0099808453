"""``POST /api/embed``, and the vectors it sends: texts that share words or parts of words come out near."""

from __future__ import annotations

import math
import re
import time
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tests.support.ollama_stand_in.behaviours import Behaviour, Vectors
from tests.support.ollama_stand_in.models import DEFAULT_NUM_CTX, LOAD_NS, ModelCard
from tests.support.ollama_stand_in.recorder import RecordedRequest
from tests.support.ollama_stand_in.refusals import CONTEXT_EXCEEDED, NO_EMBEDDINGS, RefusalError, installed
from tests.support.ollama_stand_in.text import first_tokens, token_count, words

_TASK_PREFIX = re.compile(r"^(?:search_query|search_document|clustering|classification):\s*")
_GRAM = 3
_GRAM_WEIGHT = 0.3


def embed(text: str, dimensions: int) -> list[float]:
    """Hash words and their character trigrams into a vector.

    Args:
        text: any text; the task prefixes of nomic models do not count, so that a query meets its document.
        dimensions: length of the vector, at least 1.

    Returns:
        ``dimensions`` numbers of L2 norm 1 (to about 1e-6), the same in every process.
    """
    features: Counter[str] = Counter()
    for word in words(_TASK_PREFIX.sub("", text)) or ["\0"]:
        features[word] += 1
        padded = f" {word} "
        for start in range(len(padded) - _GRAM + 1):
            features["#" + padded[start : start + _GRAM]] += 1
    vector = [0.0] * dimensions
    for feature, count in features.items():
        weight = (1 + math.log(count)) * (_GRAM_WEIGHT if feature.startswith("#") else 1.0)
        code = zlib.crc32(feature.encode())
        # The sign comes from a bit the position does not use, so that collisions cancel rather than add up.
        vector[(code >> 1) % dimensions] += weight if code & 1 else -weight
    return unit(vector)


def unit(vector: list[float]) -> list[float]:
    """The vector at length 1; a null vector becomes the first axis, since cosine search cannot take zeros."""
    norm = math.sqrt(math.fsum(value * value for value in vector))
    if norm < 1e-12:
        return [1.0] + [0.0] * (len(vector) - 1)
    return [round(value / norm, 8) for value in vector]


def embeddings(request: RecordedRequest, models: Sequence[ModelCard], behaviour: Behaviour | None) -> dict[str, Any]:
    """The answer to one embed request; longer texts are cut to the model's window unless ``truncate`` is false.

    Raises:
        RefusalError: the request is one Ollama would not serve.
    """
    began = time.monotonic_ns()
    texts = _texts(request.body.get("input"))
    card = installed(models, request)
    if not texts:
        return {"model": request.model, "embeddings": []}
    if "embedding" not in card.capabilities:
        raise RefusalError(501, NO_EMBEDDINGS)
    window = min(int(request.options.get("num_ctx") or DEFAULT_NUM_CTX), card.context_length)
    if request.body.get("truncate") is False and any(token_count(text) > window for text in texts):
        raise RefusalError(400, CONTEXT_EXCEEDED)
    read = [first_tokens(text, window) for text in texts]
    return {
        "model": request.model,
        "embeddings": behaviour.vectors if isinstance(behaviour, Vectors) else _vectors(read, request, card),
        "total_duration": LOAD_NS + max(1, time.monotonic_ns() - began),
        "load_duration": LOAD_NS,
        "prompt_eval_count": sum(token_count(text) for text in read),
    }


def _texts(given: object) -> list[str]:
    if given is None or given == "":
        return []
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise RefusalError(400, "invalid input type")
    return texts


def _vectors(texts: list[str], request: RecordedRequest, card: ModelCard) -> list[list[float]]:
    vectors = [embed(text, card.embedding_length) for text in texts]
    dimensions = int(request.body.get("dimensions") or 0)
    if 0 < dimensions < card.embedding_length:
        return [unit(vector[:dimensions]) for vector in vectors]
    return vectors
