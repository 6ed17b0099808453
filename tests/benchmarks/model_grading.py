"""Verdicts of a grader on labelled pairs, kept as they come, and the figures of them with intervals."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, TypeVar

import numpy as np

from engine.evaluation.fit_scores import table_of
from engine.evaluation.grader_bench import GraderFigures, LabelSource, Pair, figures
from engine.llm.prompts import GRADER_RULES, YES_NO_PROMPT_VERSION, YES_NO_RULES
from engine.model.config import BUILTIN, RERANK_SERVER
from engine.model.grader_fit import calibrated
from engine.model.values import ModelCall, Passage
from engine.model.values.names import VerdictKind
from engine.roles import Grader
from engine.roles.trace import SilentTrace
from engine.settings import Settings
from tests.benchmarks.harness import Bench
from tests.benchmarks.labelled_pairs import LabelledPair

RESAMPLES = 1000
_SEED = 33
_Item = TypeVar("_Item")
FigureOf = Literal["kappa", "auc", "ece", "brier", "accuracy"]
MEASURED: tuple[FigureOf, ...] = ("auc", "kappa", "accuracy", "ece", "brier")
Interval = tuple[float, float]
PROMPTS = hashlib.sha256(f"{YES_NO_PROMPT_VERSION}{YES_NO_RULES}{GRADER_RULES}".encode()).hexdigest()[:8]
"""What verdicts of a chat model are kept apart by."""


@dataclass(frozen=True, slots=True)
class Graded:
    """What a grader made of one pair."""

    p: float | None
    """None where its reply could not be read."""
    raw: float | None
    """Score or log-odds, where it has one."""
    seconds: float
    prompt_tokens: int
    reply_tokens: int
    kind: VerdictKind = "said"


Verdicted = tuple[LabelledPair, Graded]


class Heard(SilentTrace):
    """The calls that a role made."""

    def __init__(self) -> None:
        self.calls: list[ModelCall] = []

    def call(self, call: ModelCall) -> None:
        self.calls.append(call)

    @property
    def tokens(self) -> tuple[int, int]:
        """Of all prompts and of all replies."""
        asked = sum(call.prompt_tokens or 0 for call in self.calls)
        return asked, sum(call.reply_tokens or 0 for call in self.calls)


class Kept:
    """A file that keeps each result as it comes, so that a measurement which stops continues from there.

    ``closed``: what is not kept yet is left out instead of being asked for.
    """

    def __init__(self, path: Path, *, closed: bool = False) -> None:
        self._closed = closed
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self._known: dict[str, Any] = {}
        for line in lines:
            # The last line is broken where a measurement was ended while it wrote.
            if line.endswith("}"):
                item = json.loads(line)
                self._known[item["key"]] = item["value"]

    def of(self, key: str, made: Callable[[], Any]) -> Any:
        """What is kept under a key, else what is made now; None where that may not be."""
        if key not in self._known:
            if self._closed:
                return None
            self._known[key] = made()
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "value": self._known[key]}, ensure_ascii=False) + "\n")
        return self._known[key]


def kept_replies(bench: Bench, folder: str, name: str) -> Kept:
    """What a model said in an earlier run of a benchmark, and what it says now; built-in roles are asked each time."""
    if name == BUILTIN:
        return Kept(bench.folder / folder / f"{BUILTIN}.jsonl")
    file = f"{re.sub(r'[^a-zA-Z0-9.]+', '-', name)}.jsonl"
    return Kept((bench.vectors or bench.folder) / folder / file, closed=bench.kept)


def settings_of(bench: Bench, folder: Path | None = None) -> Settings:
    """Settings with the address of the server of ``--url``."""
    given = {"openai_url": bench.url, "ollama_url": bench.url} if bench.url else {}
    if bench.url and bench.model.startswith(RERANK_SERVER):
        given = {"rerank_url": bench.url}
    return Settings(data_dir=folder or bench.folder, **given)  # type: ignore[arg-type]


def graded(pairs: Sequence[LabelledPair], grader: Grader, kept: Kept, way: str = "") -> list[Verdicted]:
    """Judge each pair on its own, in order; ``way`` is what verdicts of the same model are kept apart by."""
    found = ((pair, kept.of(f"{way} {pair.key}".strip(), partial(_asked, pair, grader))) for pair in pairs)
    return [(pair, Graded(**plain)) for pair, plain in found if plain is not None]


def _asked(pair: LabelledPair, grader: Grader) -> dict[str, Any]:
    return asdict(asyncio.run(_one(pair.question, pair.passage, grader)))


async def _one(question: str, passage: Passage, grader: Grader) -> Graded:
    heard, began = Heard(), time.perf_counter()
    (verdict,) = await grader.grade(question, [passage], heard)
    seconds = time.perf_counter() - began
    p = None if verdict.relevant is None else verdict.p_relevant
    return Graded(p, verdict.raw, round(seconds, 3), *heard.tokens, verdict.kind)


async def similarity_of(question: str, passages: Sequence[Passage]) -> list[float]:
    """The similarities that the pairs were drawn with, for the built-in grader."""
    return [passage.similarity for passage in passages]


def as_pair(pair: LabelledPair, p: float | None, *, label: bool | None = None) -> Pair:
    """A labelled pair as the bench of graders takes it; ``label`` is that of an answer to the question."""
    source: LabelSource = "assumed" if pair.assumed else "dataset"
    right = pair.relevant if label is None else label
    return Pair(pair.group, pair.question, pair.passage.id, p, right, source, -1.0 if p is None else p)


def fitted(learnt: Iterable[Verdicted]) -> Callable[[Graded], Graded]:
    """Venn-Abers calibration on pairs, for verdicts on others."""
    known = [(given.raw, pair.relevant) for pair, given in learnt if given.raw is not None]
    table = table_of([raw for raw, _ in known], [label for _, label in known])
    return lambda given: given if given.raw is None else replace(given, p=calibrated(table, given.raw))


def intervals(
    pairs: Sequence[Pair], values: Mapping[str, Callable[[GraderFigures], float | None]]
) -> dict[str, Interval]:
    """95 % of each figure in resamples by question (percentile bootstrap, Efron and Tibshirani 1993)."""
    by_case: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_case.setdefault(pair.case_id, []).append(pair)
    seen: dict[str, list[float]] = {name: [] for name in values}
    for drawn in _resamples(list(by_case.values())):
        sample = figures(drawn)
        for name, value in values.items():
            found = value(sample)
            if found is not None:
                seen[name].append(found)
    return {
        name: (float(np.percentile(found, 2.5)), float(np.percentile(found, 97.5)))
        for name, found in seen.items()
        if found
    }


def share_of(hits: Sequence[bool], groups: Sequence[str]) -> list[float] | None:
    """A share with its 95 % interval in resamples by group; None of nothing."""
    if not hits:
        return None
    by_group: dict[str, list[bool]] = {}
    for hit, group in zip(hits, groups, strict=True):
        by_group.setdefault(group, []).append(hit)
    found = [fmean(drawn) for drawn in _resamples(list(by_group.values()))]
    low, high = np.percentile(found, (2.5, 97.5))
    return [round(float(value), 3) for value in (fmean(hits), low, high)]


def _resamples(groups: Sequence[Sequence[_Item]]) -> Iterator[list[_Item]]:
    draw = np.random.default_rng(_SEED)
    for _ in range(RESAMPLES):
        yield [item for at in draw.integers(len(groups), size=len(groups)) for item in groups[at]]
