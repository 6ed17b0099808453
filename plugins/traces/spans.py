"""A span of a trace as every format gives it, and how values nested in its attributes are read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.model.values import TraceTool

LATEST_NS = 253_402_300_799 * 10**9
"""The end of the year 9999, after which no calendar goes."""
LONGEST_TEXT = 200_000
"""Characters of one text that are kept; a passage is far shorter."""
_DEEPEST = 40
_PLACE = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class DocumentNote:
    """Annotation of one document of a retriever's span."""

    position: int
    """From 0."""
    label: str = ""
    score: float | None = None
    explanation: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class PassageNote:
    """Score of one document, by its id, from an event of OpenTelemetry's ``gen_ai.evaluation.result``."""

    document: str
    label: str = ""
    score: float | None = None
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """One step of another program."""

    id: str
    trace_id: str
    parent: str
    """Empty for a root."""
    name: str
    kind: str
    """Of OpenInference, upper case: RETRIEVER, RERANKER, LLM, CHAIN, EVALUATOR …; empty where not known."""
    start_ns: int
    end_ns: int
    attributes: Mapping[str, Any]
    """Nested: ``retrieval.documents.0.document.id`` is a path of keys and places."""
    error: str = ""
    project: str = ""
    tool: TraceTool = "otlp"
    notes: tuple[DocumentNote, ...] = field(default=())
    passage_notes: tuple[PassageNote, ...] = field(default=())

    def get(self, path: str) -> Any:
        """The value at a dotted path; None where there is none."""
        found: Any = self.attributes
        for part in path.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
            if found is None:
                return None
        return found

    def text(self, path: str) -> str:
        """The text at a dotted path; empty where there is none."""
        found = self.get(path)
        return found if isinstance(found, str) else "" if found is None else str(found)

    @property
    def input(self) -> Any:
        """Input, parsed if it is JSON."""
        return loaded(self.get("input.value"))

    @property
    def output(self) -> Any:
        """Output, parsed if it is JSON."""
        return loaded(self.get("output.value"))

    @property
    def lacks_output(self) -> bool:
        """True if Langfuse has nothing for what came out: a step that gave nothing has an empty list or text."""
        return self.tool == "langfuse" and not self.error and self.get("output.value") is None


def nested(flat: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Attributes with dotted keys as nested objects; lists become objects with their places as keys."""
    root: dict[str, Any] = {}
    for key, value in flat:
        place, parts = root, str(key).split(".")[:_DEEPEST]
        for part in parts[:-1]:
            inner = place.get(part)
            if not isinstance(inner, dict):
                # A value and a deeper one under the same key: the deeper one says more.
                inner = place[part] = {}
            place = inner
        if not isinstance(place.get(parts[-1]), dict):
            place[parts[-1]] = _plain(value)
    return root


def _plain(value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        return None
    if isinstance(value, Mapping):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return {str(place): _plain(item, depth + 1) for place, item in enumerate(value)}
    return value[:LONGEST_TEXT] if isinstance(value, str) else value


def items(value: Any) -> Iterator[Any]:
    """The members of a list, or of an object whose keys are places, in order."""
    if isinstance(value, list | tuple):
        yield from value
    elif isinstance(value, Mapping) and value and all(_PLACE.fullmatch(str(key)) for key in value):
        yield from (value[key] for key in sorted(value, key=lambda key: int(str(key))))


def loaded(value: Any) -> Any:
    """A text that holds JSON as what it holds; any other value as it is."""
    if isinstance(value, str) and value[:1].strip() in ("{", "[", '"'):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def number(value: Any) -> float | None:
    """A finite number; None for anything else, texts and truth values among them."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e308 else None
