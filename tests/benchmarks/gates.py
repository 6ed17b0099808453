"""Which gate should be the default: the same questions under ``pass_rate`` and under ``min_relevant``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from engine.engine import Engine
from engine.knowledge.ingest import IngestItem
from engine.model.config import GatePolicy, RunConfig
from engine.model.values import SAMPLE_COLLECTION, RunRecord
from engine.samples import sample_questions
from engine.settings import Settings
from tests.benchmarks.harness import Bench, Row

_LANGUAGES = ("en", "zh")
_ANSWERED = ("answered", "answered_forced", "answered_unverified")
_EVERY = 6
"""Of the questions of XQuAD, one in so many is asked."""
_KEPT_OUT = 5
"""Of the paragraphs of XQuAD, one in so many is left out of the collection: its questions have no answer there."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and how a run shows that it found what is asked for."""

    question: str
    expected: frozenset[str] | None
    """Ids of right passages, or names of right sources; None where the collection holds no answer."""


def gates(bench: Bench) -> Iterator[Row]:
    """The labelled sample questions, and XQuAD where its files are at hand."""
    with Engine.open(Settings(data_dir=bench.folder)) as engine:
        engine.wait_until_ready()
        yield from both("samples", engine, SAMPLE_COLLECTION, list(_of_samples()))
        for language in _LANGUAGES:
            path = bench.data and bench.data / f"xquad-dev.{language}.json"
            if not path or not path.is_file():
                print(f"left out: no folder with xquad-dev.{language}.json (--data)")
                continue
            collection = f"xquad_{language}"
            yield from both(f"XQuAD {language}", engine, collection, _of_xquad(engine, collection, path))


def both(name: str, engine: Engine, collection: str, asked: Sequence[Asked]) -> Iterator[Row]:
    """The figures of each gate, all else at its default."""
    for gate in get_args(GatePolicy):
        config = RunConfig(collection=collection, gate=gate)
        yield from _figures(f"{name}, {gate}", [(item, engine.run(item.question, config)) for item in asked])


def _figures(name: str, runs: Sequence[tuple[Asked, RunRecord]]) -> Iterator[Row]:
    answerable = [(item, record) for item, record in runs if item.expected is not None]
    others = [record for item, record in runs if item.expected is None]
    yield _share(f"{name}: answered", (record.outcome in _ANSWERED for _, record in answerable))
    yield _share(f"{name}: answered, a right passage cited", (_right(item, record) for item, record in answerable))
    yield _share(f"{name}: forced though a right passage is cited",
                 (_right(item, record) and record.outcome != "answered" for item, record in answerable))  # fmt: skip
    yield _share(f"{name}: unanswerable, answered all the same", (record.outcome in _ANSWERED for record in others))
    yield _share(f"{name}: unanswerable, said to have passed", (record.outcome == "answered" for record in others))
    wasted = [held for item, record in answerable for held in _held_before_rewrites(item, record)]
    yield _share(f"{name}: rewrites made though a right passage had passed", wasted)
    rewrites = [float(len(record.rewrites)) for _, record in runs]
    yield Row(f"{name}: rewrites a question", "", (sum(rewrites) / len(rewrites),))
    steps = [float(len(record.model_calls)) for _, record in runs]
    yield Row(f"{name}: calls a question, as if on chat models", "", (sum(steps) / len(steps),))


def _right(item: Asked, record: RunRecord) -> bool:
    expected = item.expected
    return (
        expected is not None
        and record.outcome in _ANSWERED
        and any(not expected.isdisjoint((cited.passage_id, cited.source)) for cited in record.citations)
    )


def _held_before_rewrites(item: Asked, record: RunRecord) -> Iterator[bool]:
    """For each rewrite whether a right passage had passed before it."""
    held = False
    for index in range(len(record.rewrites)):
        current = record.rounds[index] if index < len(record.rounds) else None
        if current is not None and item.expected is not None:
            found = {candidate.passage.id: candidate.passage for candidate in current.candidates}
            held = held or any(
                verdict.passes(record.config.min_confidence)
                and key in found
                and not item.expected.isdisjoint((key, found[key].source))
                for key, verdict in current.verdicts.items()
            )
        yield held


def _of_samples() -> Iterator[Asked]:
    for item in sample_questions():
        yield Asked(item.question, frozenset(item.expected) or None)


def _of_xquad(engine: Engine, collection: str, path: Path) -> list[Asked]:
    """Every paragraph but those kept out goes in as a source of its own."""
    paragraphs = [item for article in json.loads(path.read_text("utf-8"))["data"] for item in article["paragraphs"]]
    asked: list[Asked] = []
    kept: list[IngestItem] = []
    for number, paragraph in enumerate(paragraphs):
        source = f"{number:03}.txt"
        inside = number % _KEPT_OUT != 0
        if inside:
            kept.append(IngestItem(source, data=paragraph["context"].encode()))
        for item in _some(paragraph["qas"], number):
            asked.append(Asked(item["question"], frozenset((source,)) if inside else None))
    engine.ingest(kept, collection)
    return asked


def _some(questions: Sequence[Mapping[str, Any]], number: int) -> Iterable[Mapping[str, Any]]:
    return (item for place, item in enumerate(questions) if (place + number) % _EVERY == 0)


def _share(name: str, hits: Iterable[bool]) -> Row:
    found = list(hits)
    return Row(name, "%", (sum(found) / max(len(found), 1),), note=f"{sum(found)} of {len(found)}")
