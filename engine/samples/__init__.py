"""The sample knowledge base: own writing in two languages, labelled questions, vectors for the built-in model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from engine.model.values import PassageId

MULTI_HOP = "multi_hop"
"""Kind of questions that need two passages which something joins that the question does not name."""


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """A question with the passages that answer it."""

    id: str
    language: str
    kind: str
    """``plain``, ``vague``, ``unanswerable``, ``multi_hop``, or what else the file says."""
    question: str
    expected: tuple[PassageId, ...]
    note: str = ""
    gold_answers: tuple[str, ...] = ()
    """What a right answer says, where it can be said in a few words; any of them will do."""
    more: Mapping[str, Any] | None = None
    """Any other fields the line has, e.g. a demo scenario."""


@lru_cache(maxsize=1)
def sample_questions() -> tuple[SampleQuestion, ...]:
    """Every labelled question that a single look can answer, in the order of files and lines."""
    return tuple(item for item in _questions() if item.kind != MULTI_HOP)


@lru_cache(maxsize=1)
def multi_hop_questions() -> tuple[SampleQuestion, ...]:
    """Questions whose two passages are joined by what the question does not name: ``more["bridge"]``.

    They are apart from the others, which measure and tune the search for passages that a question is near to.
    """
    return tuple(item for item in _questions() if item.kind == MULTI_HOP)


def _questions() -> list[SampleQuestion]:
    """Read the files ``questions*.jsonl``."""
    entries = sorted(
        (entry for entry in files(__name__).iterdir() if entry.name.startswith("questions")), key=lambda item: item.name
    )
    lines = [
        json.loads(line)
        for entry in entries
        if entry.name.endswith(".jsonl")
        for line in entry.read_text(encoding="utf-8").split("\n")
        if line.strip()
    ]
    return [_question(line) for line in lines]


def _question(line: Mapping[str, Any]) -> SampleQuestion:
    known = ("id", "language", "kind", "question", "expected", "note", "gold_answers")
    return SampleQuestion(
        id=str(line["id"]),
        language=str(line["language"]),
        kind=str(line["kind"]),
        question=str(line["question"]),
        expected=tuple(PassageId(item) for item in line.get("expected", ())),
        note=str(line.get("note", "")),
        gold_answers=tuple(str(item) for item in line.get("gold_answers", ())),
        more={key: value for key, value in line.items() if key not in known},
    )
