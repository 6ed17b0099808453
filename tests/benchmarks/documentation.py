"""Questions about documentation that others wrote: sources found, answers right, refusals, by setting.

``tests/benchmarks/trees/NAME.json`` names a public repository, a commit and a folder, with questions in English and
Chinese that were written before any run. ``--data DIR`` holds the trees: DIR/NAME is that folder at that commit.
Collections are kept in the folder of ``--vectors``, as embedding them takes minutes; delete it to ingest them again.
``pages`` names what of a folder was taken; a tree that is ``kept_apart`` was looked at by no one before its figures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from engine.engine import Engine
from engine.knowledge.ingest import IngestItem, items_of
from engine.model.config import RunConfig, config_from_dict
from engine.model.values import RunRecord
from tests.benchmarks.harness import Bench, Row
from tests.benchmarks.model_grading import settings_of

TREES = Path(__file__).with_name("trees")
LANGUAGES = ("en", "zh")
_TOP = 5
_INGEST_S = 3600.0
_MARKS = re.compile(r"[`'\"“”‘’「」*\s]+")
Context = Literal["none", "path"]


@dataclass(frozen=True, slots=True)
class Variant:
    """What one line of the table was run with."""

    name: str
    context: Context = "path"
    settings: Mapping[str, Any] = field(default_factory=dict)


VARIANTS = (
    Variant("as shipped"),
    Variant("without headings", "none"),
    Variant("by meaning alone", settings={"search": "vector"}),
    Variant("by words alone", settings={"search": "full_text"}),
    Variant("with neighbours", settings={"expand": "neighbours"}),
    Variant("with the section", settings={"expand": "section"}),
    Variant("refined", settings={"refine": True}),
    Variant("split", settings={"split": True}),
)
_ACROSS = 4
"""Variants that are asked in the other language too: what changes the search."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as it was asked, and what became of it."""

    answerable: bool
    rank: int | None
    """Of the first passage from a right source in the first search; the first is 0."""
    given: bool
    """Whether there is an answer that does not say that it cannot tell."""
    right: bool
    ms: float

    def found(self, among: int) -> bool:
        """Whether the first search has a right source among its first passages."""
        return self.rank is not None and self.rank < among


def asked_of(record: RunRecord, answers: Sequence[str] = (), sources: Sequence[str] = ()) -> Asked:
    """A run held against ``answers``, one of which is in any right answer; empty where no page answers."""
    candidates = record.rounds[0].candidates if record.rounds else ()
    ranks = [rank for rank, item in enumerate(candidates) if item.passage.source in sources]
    given = record.outcome in ("answered", "answered_forced") and record.answer_note != "cannot_tell"
    said = _plain(record.answer)
    right = given and any(_plain(answer) in said for answer in answers)
    return Asked(bool(answers), min(ranks, default=None), given, right, record.duration_ms)


def documentation(bench: Bench) -> Iterator[Row]:
    """Every tree that is at hand, in both languages, by every variant."""
    trees = [path for path in sorted(TREES.glob("*.json")) if bench.data and (bench.data / path.stem).is_dir()]
    if not trees or bench.data is None:
        print(f"left out: no folder with {', '.join(path.stem for path in sorted(TREES.glob('*.json')))} (--data)")
        return
    with opened(bench) as engine:
        for path in trees:
            tree = json.loads(path.read_text(encoding="utf-8"))
            for place, variant in enumerate(VARIANTS):
                collection = ingested(engine, bench.data / path.stem, variant.context)
                config = config_from_dict({**variant.settings, "collection": collection})
                for language in LANGUAGES:
                    if language == tree["language"] or place < _ACROSS:
                        found = runs(engine, tree, language, config)
                        yield from _rows(f"{path.stem}, asked in {language}: {variant.name}", found)


@contextmanager
def opened(bench: Bench) -> Iterator[Engine]:
    """An engine over the collections that are kept between runs."""
    with Engine.open(settings_of(bench, (bench.vectors or bench.folder) / "documentation")) as engine:
        engine.wait_until_ready()
        yield engine


def ingested(engine: Engine, folder: Path, context: Context) -> str:
    """The collection of a tree, made where it is not there."""
    items, _ = items_of([folder])
    return filled(engine, items, f"{folder.name.replace('-', '_')}_{context}", context)


def filled(engine: Engine, items: Sequence[IngestItem], name: str, context: Context) -> str:
    """The collection of this name, made of the items where it is not there."""
    if name not in {info.name for info in engine.collections()}:
        job = engine.ingestions.start(items, name, context=context)
        status = engine.ingestions.wait(job, _INGEST_S)
        assert status.state == "done", status.fault
    return name


def runs(engine: Engine, tree: Mapping[str, Any], language: str, config: RunConfig) -> Iterator[Asked]:
    """The questions of a tree in one language, answerable ones first."""
    for item in (*tree["answerable"], *tree["unanswerable"]):
        yield asked(engine, item, language, config)


def asked(engine: Engine, item: Mapping[str, Any], language: str, config: RunConfig) -> Asked:
    """One question of a tree in one language."""
    return asked_of(engine.run(item[language], config), item.get("answers", ()), item.get("sources", ()))


def _rows(name: str, asked: Iterable[Asked]) -> Iterator[Row]:
    asked = list(asked)
    answerable = [item for item in asked if item.answerable]
    others = [item for item in asked if not item.answerable]
    yield share(f"{name}: right source first", [item.found(1) for item in answerable])
    yield share(f"{name}: among the first five", [item.found(_TOP) for item in answerable])
    yield share(f"{name}: answered right", [item.right for item in answerable])
    yield share(f"{name}: answered wrong", [item.given and not item.right for item in answerable])
    yield share(f"{name}: unanswerable, refused", [not item.given for item in others])
    yield Row(f"{name}: time of a run", "ms", tuple(item.ms for item in asked))


def share(name: str, hits: list[bool]) -> Row:
    return Row(name, "%", (sum(hits) / max(len(hits), 1),), note=f"{sum(hits)} of {len(hits)}")


def _plain(text: str) -> str:
    """A text without white space, case and marks around code: none of them makes an answer wrong."""
    return _MARKS.sub("", text).casefold()
