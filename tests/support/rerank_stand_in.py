"""A rerank server over HTTP that runs a tiny cross encoder and answers as one of the known servers does.

Forms of requests and answers: llama.cpp ``tools/server`` (``/v1/rerank``, sorted, logits), Infinity
``fastapi_schemas/pymodels.py`` (``/rerank``, shares unless ``raw_scores``), Text Embeddings Inference
``router/src/http/types.rs`` (``/rerank`` with ``texts``, a bare list, shares unless ``raw_scores``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Literal, Self

from engine.llm.scoring import sigmoid

Kind = Literal["llama.cpp", "infinity", "tei"]
KINDS: tuple[Kind, ...] = ("llama.cpp", "infinity", "tei")
Score = Callable[[str, Sequence[str]], Sequence[float]]
_PATHS: dict[Kind, tuple[str, ...]] = {
    "llama.cpp": ("/v1/rerank", "/rerank"),
    "infinity": ("/rerank",),
    "tei": ("/rerank",),
}


class RerankStandIn:
    """Serves until it is closed; ``requests`` are the paths, headers and bodies that came."""

    def __init__(self, kind: Kind, score: Score, *, key: str = "") -> None:
        self.kind = kind
        self.score = score
        self.key = key
        self.reply: tuple[int, bytes] | None = None
        """What is answered in the place of scores."""
        self.answers: Callable[[dict[str, Any]], tuple[int, bytes] | None] = lambda body: self.reply
        """What is answered to a body in the place of scores; None for scores."""
        self.requests: list[tuple[str, dict[str, Any]]] = []
        handler = type("Handler", (_Handler,), {"stand_in": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, body: dict[str, Any], key: str) -> tuple[int, bytes]:
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


class _Handler(BaseHTTPRequestHandler):
    stand_in: RerankStandIn

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, answer = self.stand_in.answer(self.path, body, self.headers.get("Authorization", ""))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""
