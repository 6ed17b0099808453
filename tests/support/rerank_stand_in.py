"""A rerank server over HTTP that runs a tiny cross encoder and answers as one of the known servers does.

Forms of requests and answers: llama.cpp ``tools/server`` (``/v1/rerank``, sorted, logits), Infinity
``fastapi_schemas/pymodels.py`` (``/rerank``, shares unless ``raw_scores``), Text Embeddings Inference
``router/src/http/types.rs`` (``/rerank`` with ``texts``, a bare list, shares unless ``raw_scores``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from engine.model.grader_fit import sigmoid
from tests.support.http_stand_in import HttpStandIn, body_of, send

Kind = Literal["llama.cpp", "infinity", "tei"]
KINDS: tuple[Kind, ...] = ("llama.cpp", "infinity", "tei")
Score = Callable[[str, Sequence[str]], Sequence[float]]
_PATHS: dict[Kind, tuple[str, ...]] = {
    "llama.cpp": ("/v1/rerank", "/rerank"),
    "infinity": ("/rerank",),
    "tei": ("/rerank",),
}


class RerankStandIn(HttpStandIn):
    """``requests`` are the paths, headers and bodies that came."""

    def __init__(self, kind: Kind, score: Score, *, key: str = "") -> None:
        super().__init__()
        self.kind = kind
        self.score = score
        self.key = key
        self.reply: tuple[int, bytes] | None = None
        """What is answered in the place of scores."""
        self.answers: Callable[[dict[str, Any]], tuple[int, bytes] | None] = lambda body: self.reply
        """What is answered to a body in the place of scores; None for scores."""
        self.requests: list[tuple[str, dict[str, Any]]] = []

    def answer(self, http: BaseHTTPRequestHandler) -> None:
        body = json.loads(body_of(http))
        send(http, *self._reply(http.path, body, http.headers.get("Authorization", "")))

    def _reply(self, path: str, body: dict[str, Any], key: str) -> tuple[int, bytes]:
        """Status and body of the answer to a request."""
        self.requests.append((path, body))
        if self.key and key != f"Bearer {self.key}":
            return 401, b"{}"
        if path not in _PATHS[self.kind]:
            return 404, b'{"detail":"Not Found"}'
        if (answer := self.answers(body)) is not None:
            return answer
        if self.kind == "tei":
            return self._as_tei(body)
        return self._as_cohere(body)

    def _as_cohere(self, body: dict[str, Any]) -> tuple[int, bytes]:
        if not isinstance(body.get("documents"), list):
            return (400 if self.kind == "llama.cpp" else 422), b'{"detail":"documents"}'
        scores = self.score(body["query"], body["documents"])
        if self.kind == "infinity" and not body.get("raw_scores"):
            scores = [sigmoid(score) for score in scores]
        results = [{"index": place, "relevance_score": score} for place, score in enumerate(scores)]
        results.sort(key=lambda item: -item["relevance_score"])
        usage = {"prompt_tokens": 9, "total_tokens": 9}
        return 200, json.dumps({"model": body["model"], "object": "list", "usage": usage, "results": results}).encode()

    def _as_tei(self, body: dict[str, Any]) -> tuple[int, bytes]:
        if not isinstance(body.get("texts"), list):
            return 422, b"missing field `texts`"
        scores = self.score(body["query"], body["texts"])
        ranks = [
            {"index": place, "score": score if body.get("raw_scores") else sigmoid(score)}
            for place, score in enumerate(scores)
        ]
        return 200, json.dumps(sorted(ranks, key=lambda item: -item["score"])).encode()
