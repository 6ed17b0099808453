"""Spans of a corrective loop of another program, as OpenInference has them, in OTLP's JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Document = tuple[str, str, float | None]
"""Id, text and score."""
BEGAN_MS = 1_700_000_000_000


def attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Attributes as OTLP writes them."""
    kinds = {str: "stringValue", float: "doubleValue", int: "intValue"}
    return [
        {"key": key, "value": {kinds[type(value)]: str(value) if isinstance(value, int) else value}}
        for key, value in values.items()
        if value is not None
    ]


class CragTrace:
    """Spans of one question, in the order in which the program made them."""

    def __init__(self, trace_id: str, question: str, *, project: str = "crag") -> None:
        self.trace_id, self.question, self.project = trace_id, question, project
        self.spans: list[dict[str, Any]] = []
        self._ms = 1

    def span(self, name: str, kind: str, values: Mapping[str, Any], *, ms: int = 2, at: int | None = None) -> str:
        """Add a span after the last one, or at a time of its own; returns its id."""
        start = self._ms if at is None else at
        identity = f"{len(self.spans):016x}"
        named = {"openinference.span.kind": kind, **values}
        self.spans.append(
            {
                "traceId": self.trace_id,
                "spanId": identity,
                "parentSpanId": "root",
                "name": name,
                "startTimeUnixNano": str((BEGAN_MS + start) * 1_000_000),
                "endTimeUnixNano": str((BEGAN_MS + start + ms) * 1_000_000),
                "attributes": attributes(named),
            }
        )
        self._ms = max(self._ms, start + ms)
        return identity

    def retrieve(self, query: str, documents: Sequence[Document], *, at: int | None = None) -> CragTrace:
        found: dict[str, Any] = {}
        for place, (name, text, score) in enumerate(documents):
            own = f"retrieval.documents.{place}.document"
            found |= {f"{own}.id": name, f"{own}.content": text, f"{own}.score": score}
        self.span("retriever", "RETRIEVER", {"input.value": query, **found}, at=at)
        return self

    def grade(self, text: str, verdict: Any) -> CragTrace:
        """A model is asked about one document."""
        given = {"input.value": f"Question: {self.question}\nDocument: {text}", "llm.model_name": "llama3"}
        self.span("grade_documents", "LLM", {**given, "output.value": json.dumps(verdict)})
        return self

    def rewrite(self, query: str) -> CragTrace:
        given = {"input.value": self.question, "output.value": query, "llm.model_name": "llama3"}
        self.span("transform_query", "LLM", given)
        return self

    def generate(self, texts: Sequence[str], answer: str) -> CragTrace:
        given = {"input.value": "\n\n".join((*texts, self.question)), "output.value": answer}
        self.span("generate", "LLM", {**given, "llm.model_name": "llama3"})
        return self

    def otlp(self, answer: str = "") -> dict[str, Any]:
        """The export request, with the root span around all."""
        root = {
            "traceId": self.trace_id,
            "spanId": "root",
            "name": "LangGraph",
            "startTimeUnixNano": str(BEGAN_MS * 1_000_000),
            "endTimeUnixNano": str((BEGAN_MS + self._ms + 1) * 1_000_000),
            "attributes": attributes(
                {
                    "openinference.span.kind": "CHAIN",
                    "input.value": json.dumps({"question": self.question}),
                    "output.value": answer,
                }
            ),
        }
        resource = {"attributes": attributes({"openinference.project.name": self.project})}
        return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [root, *self.spans]}]}]}


DOGS, CATS, TIDES = "Dogs bark at strangers.", "Cats sleep all day.", "The moon pulls the sea, which makes the tides."


def tides(trace_id: str = "a1") -> CragTrace:
    """Two rounds: nothing passes, the question is rephrased, one passage passes and is answered from."""
    made = CragTrace(trace_id, "What causes tides?")
    made.retrieve("What causes tides?", [("dogs", DOGS, 0.9), ("cats", CATS, 0.5)])
    made.grade(DOGS, {"binary_score": "no"}).grade(CATS, {"binary_score": "no"})
    made.rewrite("moon and sea")
    made.retrieve("moon and sea", [("tides", TIDES, 0.8), ("dogs", DOGS, 0.4)])
    made.grade(TIDES, {"binary_score": "yes"}).grade(DOGS, {"binary_score": "no"})
    return made.generate([TIDES], "The moon.")


def file_of(*traces: dict[str, Any]) -> list[tuple[str, bytes]]:
    """One file with these export requests, one a line."""
    return [("traces.jsonl", "\n".join(json.dumps(item) for item in traces).encode())]
