"""Scores put to the test: a sound collection holds every expectation, and each kind of fault breaks its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
import pytest

from engine.builtin.embedder import HashingEmbedder
from engine.engine import Engine
from engine.errors import HostBusy, InvalidConfig, NothingToTest, UnknownCollection
from engine.host.self_test import CASES, run_self_test
from engine.host.values import SelfTest, SelfTestCode
from engine.model.config import BUILTIN
from engine.model.values import Passage, PassageId, Verdict
from engine.retrieval.search import CollectionRetriever
from engine.roles import SILENT, CollectionInfo, Grader, Hit, PassageStore, StoredPassage, Trace, Vector
from engine.samples.shipped import calibration_of
from engine.settings import Settings
from tests.contracts.chat_models import obedient
from tests.host.hosting import until
from tests.support.ollama_stand_in import OllamaStandIn

TEXTS = [
    "Unopened pens of insulin are kept in the refrigerator.",
    "A tree with n vertices has exactly n minus one edges.",
    "The summit is reached by seven thousand stone steps.",
    "An Euler circuit needs an even degree at every vertex.",
    "Sugar in the blood falls within fifteen minutes of a snack.",
    "Every truth table of two variables has four rows.",
]


class OddEmbedder(HashingEmbedder):
    """A hashing embedder with prefixes, and with one of the faults that a model can have."""

    query_prefix = "query: "
    passage_prefix = "passage: "

    def __init__(self, fault: str = "") -> None:
        super().__init__(64)
        self._fault = fault
        self._calls = 0

    async def embed_query(self, text: str) -> Vector:
        vector = await super().embed_query(text if self._fault == "no_prefix" else f"question {text}")
        return vector * 3 if self._fault == "long" else vector

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        self._calls += 1
        noise = f" {self._calls}" if self._fault == "random" else ""
        return await super().embed_passages([text + noise for text in texts])


@dataclass
class ListStore:
    """Searches a list exactly, with one of the faults that a store can have."""

    rows: Vector
    fault: str = ""
    texts: Sequence[str] = field(default_factory=lambda: TEXTS)

    async def search(self, collection: str, vector: Vector, limit: int, *_: object) -> list[Hit]:
        cosines = self.rows @ vector / max(float(np.linalg.norm(vector)), 1e-9)
        places = np.argsort(-cosines)
        if self.fault == "upside_down":
            places = places[::-1]
        shift = 0.3 if self.fault == "other_scores" else 0.0
        return [Hit(self._passage(place), float(cosines[place]) - shift) for place in places[:limit]]

    async def vectors(self, collection: str, ids: Sequence[PassageId]) -> dict[PassageId, Vector]:
        return {id_: self.rows[int(id_)] for id_ in ids}

    def _passage(self, place: int) -> StoredPassage:
        return StoredPassage(PassageId(str(place)), "list.md", self.texts[place])


class WordGrader:
    """Right about the clear cases, unless it says the same to everything."""

    def __init__(self, always: bool | None = None, blind: bool = False) -> None:
        self._always = always
        self._blind = blind

    async def grade(self, question: str, passages: Sequence[Passage], trace: Trace = SILENT) -> list[Verdict]:
        if self._blind:
            return [Verdict(None, 0.0, "no words") for _ in passages]
        right = [("insulin" in item.text or "胰岛素" in item.text) for item in passages]
        return [Verdict(found if self._always is None else self._always, 0.9, "so") for found in right]


def expectations(
    tmp_path: Path, *, embedder: OddEmbedder | None = None, store: str = "", grader: Grader | None = None, **info: Any
) -> dict[SelfTestCode, bool]:
    """Whether each expectation held for a collection that was built with a sound model."""

    async def run() -> SelfTest:
        used = embedder or OddEmbedder()
        sound = OddEmbedder()
        rows = await sound.embed_passages(TEXTS)
        if store == "other_model":
            rows = np.roll(rows, 1, axis=0)
        about = CollectionInfo("list", sound.model_id, 64, "query: ", "passage: ", "2026-01-01T00:00:00+00:00")
        calibration = await calibration_of(sound, tmp_path)
        listed = cast(PassageStore, ListStore(rows, store))
        retriever = CollectionRetriever(listed, used, replace(about, **info), calibration)
        return await run_self_test(retriever, grader or WordGrader(), "words", lambda _: None)

    result = asyncio.run(run())
    assert len(result.cases) == CASES
    return {case.code: case.passed for case in result.cases}


def test_a_sound_collection_holds_every_expectation(tmp_path: Path) -> None:
    """SC-02, SC-09"""
    held = expectations(tmp_path)
    assert set(held) == set(get_args(SelfTestCode))
    assert all(held.values()), held


@pytest.mark.parametrize(
    ("case", "broken"),
    [
        ({"store": "upside_down"}, {"order"}),
        ({"store": "other_scores"}, {"cosine"}),
        ({"store": "other_model"}, {"own_text"}),
        ({"embedder": OddEmbedder("no_prefix")}, {"prefixes"}),
        ({"embedder": OddEmbedder("long")}, {"unit_length"}),
        ({"embedder": OddEmbedder("random")}, {"deterministic"}),
        ({"dim": 128}, {"dimension"}),
        ({"query_prefix": "search_query: "}, {"prefixes"}),
        ({"grader": WordGrader(always=True)}, {"clear_no"}),
        ({"grader": WordGrader(always=False)}, {"clear_yes"}),
        ({"grader": WordGrader(blind=True)}, {"clear_yes", "clear_no"}),
    ],
    ids=lambda value: " ".join(sorted(value)) if isinstance(value, set) else "",
)
def test_each_fault_breaks_its_own_expectation(case: dict[str, Any], broken: set[str], tmp_path: Path) -> None:
    held = expectations(tmp_path, **case)
    assert broken <= {code for code, passed in held.items() if not passed}
    assert held["order"] == ("order" not in broken)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with OllamaStandIn(["qwen3:8b"], obedient) as server:
        settings = Settings.load(data_dir=tmp_path_factory.mktemp("tested"), ollama_url=server.url)
        with Engine.open(settings) as opened:
            opened.wait_until_ready()
            yield opened


def test_the_samples_hold_what_scores_must_hold(engine: Engine) -> None:
    result = engine.host.self_test("samples")
    assert result.passed, [case for case in result.cases if not case.passed]
    details = {case.code: case.detail for case in result.cases}
    assert float(details["floor"]["right"]) > float(details["floor"]["unrelated"]) + 0.2
    assert details["own_text"]["sample"] == "5"
    assert details["clear_yes"]["grader"] == BUILTIN


def test_a_chosen_chat_model_grades_the_clear_cases(engine: Engine) -> None:
    engine.host.start_self_test("samples", "ollama:qwen3:8b")
    done = until(lambda: engine.host.self_testing, lambda found: found is not None and found.over)
    assert done is not None and done.state == "done" and done.result is not None
    assert done.done == done.total == CASES
    graded = [case for case in done.result.cases if case.code in ("clear_yes", "clear_no")]
    assert [case.detail["grader"] for case in graded] == ["ollama:qwen3:8b"] * 2


def test_what_cannot_be_tested_is_an_error_with_a_remedy(engine: Engine) -> None:
    with pytest.raises(UnknownCollection):
        engine.host.self_test("absent")
    with pytest.raises(InvalidConfig):
        engine.host.start_self_test("samples", "nonsense")
    engine.host.start_self_test("absent")
    failed = until(lambda: engine.host.self_testing, lambda found: found is not None and found.over)
    assert failed is not None and failed.fault is not None and failed.fault.code == "WB203"


def test_an_empty_collection_has_nothing_to_test(tmp_path: Path) -> None:
    async def run() -> None:
        embedder = OddEmbedder()
        info = CollectionInfo("list", embedder.model_id, 64, "query: ", "passage: ", "2026-01-01T00:00:00+00:00")
        empty = cast(PassageStore, ListStore(np.empty((0, 64), dtype=np.float32), texts=()))
        retriever = CollectionRetriever(empty, embedder, info, await calibration_of(embedder, tmp_path))
        await run_self_test(retriever, WordGrader(), "words", lambda _: None)

    with pytest.raises(NothingToTest):
        asyncio.run(run())


def test_a_self_test_can_be_stopped_and_there_is_one_at_a_time(engine: Engine) -> None:
    engine.host.start_self_test("samples")
    with pytest.raises(HostBusy):
        engine.host.start_self_test("samples")
    engine.host.stop_self_test()
    stopped = engine.host.self_testing
    assert stopped is not None and (stopped.state, stopped.result) == ("stopped", None)
    assert engine.collections()
