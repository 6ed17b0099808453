"""The six modes on questions of two hops: how many of the two passages come first, and how long it takes (GH-02).

Each question needs two passages that an entity joins which it does not name. Questions and graph were written before
anything was measured. One search a run, so that no rewrite makes up for what a mode does not find.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import get_args

from engine.engine import Engine
from engine.model.config import Mode, RunConfig
from engine.model.values import PassageId, RunRecord
from engine.retrieval.graph_options import GraphOptions
from engine.samples import SampleQuestion, multi_hop_questions
from engine.settings import Settings
from tests.benchmarks.harness import Bench, Row

_SCORED_AGAIN, _AS_FOUND = GraphOptions(rerank="always"), GraphOptions(rerank="never")
WAYS: Mapping[str, tuple[Mode, GraphOptions]] = {
    **{mode: (mode, GraphOptions()) for mode in get_args(Mode)},
    # What of the gain is the graph's, and what comes from reranking passages.
    "naive, scored again": ("naive", _SCORED_AGAIN),
    "mix, not scored again": ("mix", _AS_FOUND),
}
"""Modes on default settings, then two of them with the step that only the others have by default, and without."""
FIRST = 5
"""Passages that are looked at: as many as a run keeps unless its settings say otherwise."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question in one way."""

    item: SampleQuestion
    record: RunRecord

    @property
    def order(self) -> tuple[PassageId, ...]:
        """Passages as the search ordered them, no matter what gate they met; empty where nothing is searched."""
        rounds = self.record.rounds
        return tuple(candidate.passage.id for candidate in rounds[0].candidates) if rounds else ()

    @property
    def recall(self) -> float:
        """Share of the expected passages among the first five."""
        return len(set(self.order[:FIRST]) & set(self.item.expected)) / len(self.item.expected)

    @property
    def both(self) -> bool:
        return self.recall == 1.0

    @property
    def reciprocal(self) -> float:
        """1 / place of the first expected passage, 0 where none was found."""
        places = [place for place, found in enumerate(self.order, 1) if found in self.item.expected]
        return 1.0 / places[0] if places else 0.0

    @property
    def given(self) -> float:
        """Share of the expected passages that were given to the generator."""
        passages = self.record.context.passages if self.record.context else ()
        return len({passage.id for passage in passages} & set(self.item.expected)) / len(self.item.expected)


Measured = Mapping[str, Sequence[Asked]]


def modes(bench: Bench) -> Iterator[Row]:
    """A table for the README, then the times with their spread, and what ``mix`` gains over ``naive``."""
    found = measured(bench.folder)
    print(table_of(found), flush=True)
    for way, asked in found.items():
        yield Row(f"{way}: time of a run", "ms", tuple(one.record.duration_ms for one in asked))
    yield _gain(found)


def measured(folder: Path, ways: Sequence[str] = tuple(WAYS)) -> Measured:
    """Every question in every way, in an engine of its own with the built-in roles."""
    questions = multi_hop_questions()
    found: dict[str, list[Asked]] = {way: [] for way in ways}
    with Engine.open(Settings(data_dir=folder)) as engine:
        engine.wait_until_ready()
        for way in ways:
            # The first run of all imports LangGraph, and the first one of a mode reads what it needs of the graph.
            engine.run(questions[0].question, config(way))
        for item in questions:
            # Whoever asks first embeds the question, and the others find it embedded: no one is measured doing it.
            engine.run(item.question, config("naive"))
            for way in ways:
                found[way].append(Asked(item, engine.run(item.question, config(way))))
    return found


def config(way: str) -> RunConfig:
    """Defaults, with one search, by vectors alone: words find some of what the graph leads to."""
    mode, options = WAYS[way]
    return RunConfig(workflow="graph_hybrid", mode=mode, search="vector", max_rewrites=0, options=options)


def gains(found: Measured) -> list[float]:
    """What ``mix`` finds more than ``naive`` of each question's passages: below 0 where it finds less."""
    return [mix.recall - naive.recall for naive, mix in zip(found["naive"], found["mix"], strict=True)]


def table_of(found: Measured) -> str:
    """A line for each way, in Markdown: both languages together, then recall of each."""
    lines = [
        f"| mode | recall@{FIRST} | both in {FIRST} | MRR | en / zh recall@{FIRST} | given to the generator | time |",
        "|---|---|---|---|---|---|---|",
    ]
    for way, asked in found.items():
        took = f"{median(one.record.duration_ms for one in asked):.0f} ms"
        if way == "bypass":
            lines.append(f"| {way} | nothing is searched | | | | | {took} |")
            continue
        by_language = " / ".join(
            f"{fmean(one.recall for one in asked if one.item.language == language):.2f}" for language in ("en", "zh")
        )
        cells = (
            way,
            f"{fmean(one.recall for one in asked):.2f}",
            f"{fmean(one.both for one in asked):.2f}",
            f"{fmean(one.reciprocal for one in asked):.2f}",
            by_language,
            f"{fmean(one.given for one in asked):.2f}",
            took,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _gain(found: Measured) -> Row:
    by_question = gains(found)
    better, worse = sum(gain > 0 for gain in by_question), sum(gain < 0 for gain in by_question)
    note = f"better for {better}, worse for {worse} of {len(by_question)}"
    return Row(f"recall@{FIRST} of mix against naive", "", (fmean(by_question),), "> 0", note)
