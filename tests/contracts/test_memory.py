"""The contract of ``LongTermMemory``: on the embedded store, on a Milvus server where there is one, and the fake."""

from __future__ import annotations

import asyncio
import fcntl
import uuid
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from engine.builtin.embedder import HashingEmbedder
from engine.errors import StoreError
from engine.knowledge.base import KnowledgeBase
from engine.knowledge.memory_rows import FAILED, PASSED_PREFIX
from engine.knowledge.milvus_connection import connect
from engine.knowledge.milvus_memory import MilvusMemory
from engine.model.values import Memory
from engine.retrieval.shipped import calibration_of
from engine.retrieval.similarity import Calibration
from engine.roles import Embedder, LongTermMemory, Vector, slug
from engine.settings import Settings
from tests.support.errors import raises
from tests.support.fake_memory import FakeMemory

_HASHING = HashingEmbedder(64)


class NamedEmbedder:
    """The hashing embedder under a name of its own, so that its memories lie in a collection of their own."""

    query_prefix = ""
    passage_prefix = ""
    dim = _HASHING.dim

    def __init__(self, name: str) -> None:
        self.model_id = name

    async def embed_query(self, text: str) -> Vector:
        return await _HASHING.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        return await _HASHING.embed_passages(texts)


@dataclass
class Case:
    """One memory under test; ``name`` is in every id and collection, for a server may hold memories of others."""

    memory: LongTermMemory
    name: str
    run: Callable[[Coroutine[Any, Any, Any]], Any]

    def keep(self, number: int, question: str, **more: Any) -> Memory:
        memory = remembered(f"{self.name}-{number}", question, **{"collection": self.name, **more})
        self.run(self.memory.keep(memory))
        return memory

    def recalled(self, question: str, collection: str = "", limit: int = 5) -> list[Memory]:
        found: list[Memory] = self.run(self.memory.recall(question, collection or self.name, limit))
        return found

    def listed(self) -> list[Memory]:
        return [memory for memory in self.run(self.memory.list()) if memory.id.startswith(self.name)]


def remembered(memory_id: str, question: str, **more: Any) -> Memory:
    values = {"answer": "It is so [1].", "run_id": "run-1", "kept_at": "2026-03-01T10:00:00+00:00", **more}
    return Memory(id=memory_id, question=question, **values)


def milvus(uri: str, embedder: Embedder, folder: Path) -> MilvusMemory:
    async def calibration() -> Calibration:
        return await calibration_of(embedder, folder)

    return MilvusMemory(uri, "", embedder, calibration, timeout_s=30)


@pytest.fixture(scope="session")
def anchors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("anchors")


@pytest.fixture(scope="module", params=["lite", pytest.param("server", marks=pytest.mark.milvus_server), "fake"])
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, anchors: Path
) -> Iterator[tuple[LongTermMemory, asyncio.Runner]]:
    """One memory for all cases, each of which has a name of its own."""
    with asyncio.Runner() as runner:
        if request.param == "fake":
            yield FakeMemory(), runner
            return
        lite = str(tmp_path_factory.mktemp("memory") / "knowledge.db")
        uri = lite if request.param == "lite" else request.getfixturevalue("milvus_here")
        embedder = NamedEmbedder(f"t{uuid.uuid4().hex[:10]}")
        memory = milvus(uri, embedder, anchors)
        yield memory, runner
        runner.run(memory.close())
        if request.param == "server":
            client = connect(uri, "", 30)
            client.drop_collection(PASSED_PREFIX + slug(embedder).replace("-", "_"))
            client.close()


@pytest.fixture
def case(shared: tuple[LongTermMemory, asyncio.Runner]) -> Iterator[Case]:
    memory, runner = shared
    case = Case(memory, f"t{uuid.uuid4().hex[:10]}", runner.run)
    yield case
    for left in case.listed():
        runner.run(memory.forget(left.id))


def test_what_was_kept_is_recalled_by_its_own_question_with_everything_in_it(case: Case) -> None:
    """DL-06"""
    kept = case.keep(1, "Which insulin acts fastest?", sources=("insulin.md", "笔记.md"), fingerprint="f00d")
    (found,) = case.recalled("Which insulin acts fastest?")
    assert found.similarity == pytest.approx(1.0, abs=1e-3)
    assert replace(found, similarity=0.0) == kept


def test_recall_is_best_first_and_no_longer_than_asked_for(case: Case) -> None:
    case.keep(1, "How is insulin stored?")
    case.keep(2, "Which insulin acts fastest?")
    case.keep(3, "Which tree has the most leaves?")
    found = case.recalled("Which insulin acts fastest?")
    assert found[0].question == "Which insulin acts fastest?"
    assert [item.similarity for item in found] == sorted((item.similarity for item in found), reverse=True)
    assert all(0.0 <= item.similarity <= 1.0 for item in found)
    assert [item.id for item in case.recalled("Which insulin acts fastest?", limit=1)] == [found[0].id]
    assert case.recalled("Which insulin acts fastest?", limit=0) == []


def test_nothing_is_recalled_where_nothing_was_kept(case: Case) -> None:
    assert case.recalled("Which insulin acts fastest?") == []
    assert case.listed() == []
    assert case.run(case.memory.forget(f"{case.name}-1")) is False


def test_memories_of_another_collection_stay_there(case: Case) -> None:
    case.keep(1, "Which insulin acts fastest?", collection=f"{case.name}x")
    assert case.recalled("Which insulin acts fastest?") == []
    assert len(case.recalled("Which insulin acts fastest?", f"{case.name}x")) == 1


def test_a_failed_answer_is_listed_and_never_recalled(case: Case) -> None:
    """DL-06: failed ones are stored apart as failures."""
    case.keep(1, "Which insulin acts fastest?", passed=False, answer="Perhaps tea?")
    assert case.recalled("Which insulin acts fastest?") == []
    assert [(item.passed, item.answer) for item in case.listed()] == [(False, "Perhaps tea?")]


def test_keeping_an_id_again_replaces_it_whichever_way_it_ended_before(case: Case) -> None:
    case.keep(1, "Which insulin acts fastest?", answer="old")
    case.keep(1, "Which insulin acts fastest?", answer="new")
    assert [item.answer for item in case.recalled("Which insulin acts fastest?")] == ["new"]
    case.keep(1, "Which insulin acts fastest?", answer="wrong", passed=False)
    assert case.recalled("Which insulin acts fastest?") == []
    assert [item.answer for item in case.listed()] == ["wrong"]
    case.keep(1, "Which insulin acts fastest?", answer="right")
    assert [(item.answer, item.passed) for item in case.listed()] == [("right", True)]


def test_a_forgotten_memory_is_gone_at_once(case: Case) -> None:
    """DL-06: memories can be listed and deleted."""
    case.keep(1, "Which insulin acts fastest?")
    case.keep(2, "How is insulin stored?", passed=False)
    assert case.run(case.memory.forget(f"{case.name}-1")) is True
    assert case.recalled("Which insulin acts fastest?") == []
    assert case.run(case.memory.forget(f"{case.name}-1")) is False
    assert case.run(case.memory.forget(f"{case.name}-2")) is True
    assert case.listed() == []


def test_the_list_is_newest_first(case: Case) -> None:
    case.keep(1, "first", kept_at="2026-03-01T10:00:00+00:00")
    case.keep(2, "third", kept_at="2026-03-03T10:00:00+00:00", passed=False)
    case.keep(3, "second", kept_at="2026-03-02T10:00:00+00:00")
    assert [item.question for item in case.listed()] == ["third", "second", "first"]


def test_text_of_any_kind_comes_back_as_it_was_given(case: Case) -> None:
    question = 'Is \'x" == "" or id != ""\' <b>bold</b> \\ \n 糖尿病？ 🌱'
    case.keep(1, question, answer="line\nline \u202e \t", sources=('a"b\\c.md',))
    (found,) = case.recalled(question)
    assert (found.question, found.answer) == (question, "line\nline \u202e \t")
    assert found.sources == ('a"b\\c.md',)


def test_a_name_cannot_widen_what_is_recalled_or_forgotten(case: Case) -> None:
    case.keep(1, "Which insulin acts fastest?")
    assert case.recalled("Which insulin acts fastest?", 'x" or collection != "') == []
    assert case.run(case.memory.forget('x" or id != "')) is False
    assert len(case.listed()) == 1


def test_an_id_of_any_kind_is_forgotten_alone(case: Case) -> None:
    """DL-06: no sign in an id is read as part of an order to the store."""
    case.keep(1, "Which insulin acts fastest?")
    odd = remembered(f'{case.name}-we"ird\\id', "How is insulin stored?", collection=case.name)
    case.run(case.memory.keep(odd))
    assert case.run(case.memory.forget(odd.id)) is True
    assert [item.id for item in case.listed()] == [f"{case.name}-1"]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "knowledge.db")


def test_memories_outlive_the_process_that_kept_them(folder: str, anchors: Path) -> None:
    """DL-06: kept across restarts."""

    async def kept() -> None:
        memory = milvus(folder, _HASHING, anchors)
        await memory.keep(remembered("m1", "Which insulin acts fastest?", collection="samples"))
        await memory.keep(remembered("m2", "Who was it?", collection="samples", passed=False))
        await memory.close()
        await memory.close()

    async def read() -> tuple[list[Memory], list[Memory]]:
        memory = milvus(folder, _HASHING, anchors)
        try:
            return await memory.recall("Which insulin acts fastest?", "samples", 5), await memory.list()
        finally:
            await memory.close()

    asyncio.run(kept())
    recalled, listed = asyncio.run(read())
    assert [item.id for item in recalled] == ["m1"]
    assert sorted((item.id, item.passed) for item in listed) == [("m1", True), ("m2", False)]


def test_another_embedder_recalls_nothing_but_lists_and_forgets_all(folder: str, anchors: Path) -> None:
    async def use() -> tuple[list[Memory], list[Memory], bool, int]:
        first, second = (milvus(folder, NamedEmbedder(name), anchors) for name in ("one", "two"))
        await first.keep(remembered("m1", "Which insulin acts fastest?", collection="samples"))
        await first.keep(remembered("m2", "How is it stored?", collection="samples"))
        await first.close()
        recalled = await second.recall("Which insulin acts fastest?", "samples", 5)
        listed = await second.list()
        forgot = await second.forget("m1")
        left = await second.forget_all()
        await second.close()
        return recalled, listed, forgot, left

    recalled, listed, forgot, left = asyncio.run(use())
    assert recalled == []
    assert {item.id for item in listed} == {"m1", "m2"}
    assert (forgot, left) == (True, 1)


def test_what_a_store_cannot_hold_is_cut_and_still_kept(folder: str, anchors: Path) -> None:
    async def use() -> list[Memory]:
        memory = milvus(folder, _HASHING, anchors)
        await memory.keep(remembered("m1", "half \ud83d a pair", collection="samples", answer="字" * 30_000))
        found = await memory.list()
        await memory.close()
        return found

    (found,) = asyncio.run(use())
    assert found.question == "half ? a pair"
    assert found.answer == "字" * 21_844 + "…"
    assert len(found.answer.encode()) <= 65_535


def test_a_store_that_another_process_has_open_is_locked_and_can_be_used_once_it_is_free(
    folder: str, anchors: Path
) -> None:
    async def once(memory: MilvusMemory) -> None:
        await memory.keep(remembered("m1", "Which insulin acts fastest?", collection="samples"))

    async def closed() -> None:
        memory = milvus(folder, _HASHING, anchors)
        await once(memory)
        await memory.close()

    async def use() -> int:
        memory = milvus(folder, _HASHING, anchors)
        calls: tuple[Callable[[], Coroutine[Any, Any, object]], ...] = (
            lambda: once(memory),
            lambda: memory.recall("Which?", "samples", 3),
            memory.list,
            lambda: memory.forget("m1"),
            memory.forget_all,
        )
        with (Path(folder) / "LOCK").open("r+") as lock:
            # A second open file holds the lock just as another process would.
            fcntl.flock(lock, fcntl.LOCK_EX)
            for call in calls:
                with raises(StoreError.locked, match=r"knowledge\.db"):
                    await call()
        found = await memory.list()
        await memory.close()
        return len(found)

    asyncio.run(closed())
    assert asyncio.run(use()) == 1


def test_a_server_that_does_not_answer_and_a_closed_memory_are_errors_of_ours(anchors: Path) -> None:
    async def use() -> None:
        memory = MilvusMemory("http://127.0.0.1:1", "", _HASHING, lambda: calibration_of(_HASHING, anchors), 2.0)
        with raises(StoreError.unreachable):
            await memory.list()
        await memory.close()
        with pytest.raises(StoreError, match="is closed"):
            await memory.list()

    asyncio.run(use())


def test_the_knowledge_base_keeps_memories_in_its_own_store_and_lists_none_of_their_collections(tmp_path: Path) -> None:
    async def use() -> tuple[list[str], list[str], list[Memory]]:
        knowledge = KnowledgeBase(Settings(data_dir=tmp_path))
        try:
            memory = knowledge.memory()
            assert knowledge.memory() is memory
            await memory.keep(remembered("m1", "哪一种胰岛素起效最快？", collection="samples"))
            await memory.keep(remembered("m2", "哪一种？", collection="samples", passed=False))
            found = await memory.recall("哪一种胰岛素起效最快？", "samples", 3)
            names = [item.name for item in await knowledge.collections()]
            client = connect(Settings(data_dir=tmp_path).store_uri, "", 10)
            every: list[str] = client.list_collections()
            client.close()
            return names, every, found
        finally:
            await knowledge.close()

    names, every, found = asyncio.run(use())
    assert names == ["samples"]
    assert FAILED in every
    assert any(name.startswith(PASSED_PREFIX) for name in every)
    assert [(item.id, round(item.similarity, 3)) for item in found] == [("m1", 1.0)]
