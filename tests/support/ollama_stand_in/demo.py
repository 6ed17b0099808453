"""Replies good enough for a demonstration by hand: grading by shared words, keyword rewrites, quoted answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.ollama_stand_in.extraction import community, extraction
from tests.support.ollama_stand_in.recorder import RecordedRequest
from tests.support.ollama_stand_in.schema import resolved, smallest
from tests.support.ollama_stand_in.text import telling_words

RELEVANT_SHARE = 0.5
_STEM = 5
_QUESTION = (
    re.compile(r"<question\b[^>]*>\s*(.+?)\s*</question>", re.I | re.S),
    re.compile(r"^\W*(?:[\w ]{0,20}question|问题|原问题)\b[^:：\n]{0,20}[:：]\s*(.+)$", re.I | re.M),
)
_PASSAGES = (
    re.compile(r"<(?:passage|document|evidence|context|source)\b[^>]*>\s*(.+?)\s*</\w+>", re.I | re.S),
    re.compile(r"^\[\d+\][ \t:]*(.+?)(?=^\[\d+\]|\n\s*\n|\Z)", re.M | re.S),
    re.compile(
        r"^\W*(?:passage|document|context|段落|文档)[^:：\n]{,12}[:：]\s*(.+?)(?=\n\s*\n|\Z)", re.I | re.M | re.S
    ),
)
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]?")


@dataclass(frozen=True, slots=True)
class Reading:
    """What the demo makes out of a prompt."""

    question: str
    passages: tuple[str, ...]


def demo_reply(request: RecordedRequest) -> str:
    """Fill the schema that was asked for, or answer with the best sentence of the best passage and its number."""
    reading = read(request)
    if request.schema is None and any(item.get("images") for item in request.messages):
        return "The picture shows something that this stand-in cannot see."
    if request.schema is None:
        return _answer(reading)
    fields = request.schema.get("properties", {})
    if "relationships" in fields:
        return json.dumps(extraction(" ".join(reading.passages)), ensure_ascii=False)
    if {"title", "summary"} <= set(fields):
        return json.dumps(community(_things(request), " ".join(reading.passages)), ensure_ascii=False)
    return json.dumps(_fill(request.schema, request.schema, reading, 0), ensure_ascii=False)


def _things(request: RecordedRequest) -> str:
    asked = "\n".join(str(item.get("content", "")) for item in request.messages)
    found = re.search(r"<entities\b[^>]*>\s*(.+?)\s*</entities>", asked, re.S)
    return found.group(1) if found else "Things"


def read(request: RecordedRequest) -> Reading:
    """Find the question and the passages by the usual tags, numbers and labels.

    Without a mark for the question it is the last line; without one for passages, all the rest is one passage.
    """
    asked = "\n\n".join(str(m.get("content", "")) for m in request.messages if m.get("role") != "system").strip()
    found = next((hit for pattern in _QUESTION if (hit := pattern.search(asked))), None)
    question = found.group(1).strip() if found else (asked.splitlines() or [""])[-1].strip()
    rest = asked.replace(found.group(0) if found else question, "", 1).strip()
    passages = next((hits for pattern in _PASSAGES if (hits := pattern.findall(rest))), [rest] if rest else [])
    return Reading(question, tuple(passage.strip() for passage in passages))


def share(question: str, passage: str) -> float:
    """The part of the question's telling words whose beginnings occur in the passage, in [0, 1]."""
    wanted = {word[:_STEM] for word in telling_words(question)}
    present = {word[:_STEM] for word in telling_words(passage)}
    return len(wanted & present) / len(wanted) if wanted else 0.0


def _fill(schema: Mapping[str, Any], root: Mapping[str, Any], reading: Reading, position: int) -> Any:
    schema = resolved(schema, root)
    if schema.get("type") == "array" and "properties" in resolved(schema.get("items", {}), root):
        return [_fill(schema["items"], root, reading, index) for index in range(len(reading.passages))]
    if "properties" not in schema:
        return smallest(schema, root=root)
    passage = reading.passages[position] if position < len(reading.passages) else ""
    common = share(reading.question, passage)
    filled = {}
    for name, wanted in schema["properties"].items():
        kind = resolved(wanted, root)
        filled[name] = _field(name, kind, reading, common, position)
        if filled[name] is None:
            filled[name] = (
                _fill(wanted, root, reading, position)
                if kind.get("type") in ("array", "object")
                else smallest(wanted, name=name, root=root)
            )
    return filled


def _field(name: str, kind: Mapping[str, Any], reading: Reading, common: float, position: int) -> Any:
    """The value of a property the demo knows by its name and type, else None."""
    relevant = common >= RELEVANT_SHARE
    match kind.get("type"):
        case "boolean" if "relevant" in name:
            return relevant
        case "boolean" if name == "passed":
            return True
        case "array" if name == "suggestions":
            return []
        case "number" | "integer" if "confidence" in name or name == "sure":
            scale = kind.get("maximum", 1)
            confidence = scale * (0.5 + abs(common - 0.5))
            return round(confidence) if kind["type"] == "integer" else round(confidence, 2)
        case "integer" if name in ("vector", "graph", "temporal"):
            return 2 if name == "vector" else 1
        case "integer" if name in ("passage", "index", "number", "id"):
            return position + 1
        case "string" if "enum" in kind:
            return None
        case "string" if "reason" in name or name == "why":
            return f"The passage shares {common:.0%} of the question's words."
        case "string" if "query" in name or "rewrit" in name:
            keywords = " ".join(telling_words(reading.question))
            return keywords if keywords != reading.question.lower() else f"{keywords} explained"
    return None


def _answer(reading: Reading) -> str:
    if not reading.passages:
        return "There is no passage to answer from [1]."
    best = max(range(len(reading.passages)), key=lambda index: share(reading.question, reading.passages[index]))
    sentences = [found.strip() for found in _SENTENCE.findall(reading.passages[best]) if found.strip()]
    sentence = max(sentences, key=lambda text: share(reading.question, text), default="The passage is empty")
    return f"{sentence.rstrip('.')} [{best + 1}]."
