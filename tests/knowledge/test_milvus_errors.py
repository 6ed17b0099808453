"""Every exception of the client library becomes one of ours, with a fact and a remedy."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import importlib
import inspect
from pathlib import Path

import pytest

from engine.errors import StoreError, UnknownCollection
from engine.knowledge.milvus_errors import BY_CLASS, Place, translate, translated_errors
from engine.knowledge.milvus_probe import PROBE_VECTORS, Scores, learn
from engine.knowledge.milvus_store import MilvusStore
from tests.support.errors import Expected, raises

PLACE = Place("http://milvus:19530", "notes")


def client_exceptions() -> list[type[Exception]]:
    module = importlib.import_module("pymilvus.exceptions")
    return [item for _, item in inspect.getmembers(module, inspect.isclass) if issubclass(item, Exception)]


@pytest.mark.parametrize("cls", client_exceptions(), ids=lambda cls: cls.__name__)
def test_every_exception_class_of_the_client_is_mapped(cls: type[Exception]) -> None:
    assert cls.__name__ in BY_CLASS
    error = translate(cls(), PLACE)
    assert isinstance(error, StoreError)
    assert error.remedy


def test_no_class_is_mapped_that_the_libraries_do_not_have() -> None:
    lite = importlib.import_module("milvus_lite.exceptions")
    known = {cls.__name__ for cls in client_exceptions()} | set(vars(lite))
    assert set(BY_CLASS) <= known


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        (100, "not there", UnknownCollection),
        (65535, "collection not found[database=default][collection=notes]", UnknownCollection),
        (1, "can't find collection[database=default][collection=notes]", UnknownCollection),
        (2, "Fail connecting to server on milvus:19530", StoreError.unreachable),
        (
            1,
            "Received UNIMPLEMENTED from server. Please first verify that your uri points to Milvus",
            StoreError.unreachable,
        ),
        (65535, "auth check failure, please check username and password", StoreError.refused),
        (1, "[Errno 28] No space left on device", StoreError.disk_full),
        (8, "request is rejected by rate limiter", StoreError),
        (65535, "anything else", StoreError),
    ],
)
def test_the_code_and_the_text_say_more_than_the_class(code: int, message: str, expected: Expected) -> None:
    error = importlib.import_module("pymilvus").MilvusException(code=code, message=message)
    assert translate(error, PLACE).code == expected.code


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("UNAVAILABLE", StoreError.unreachable),
        ("DEADLINE_EXCEEDED", StoreError.unreachable),
        ("UNAUTHENTICATED", StoreError.refused),
        ("INTERNAL", StoreError),
    ],
)
def test_errors_of_the_transport_are_recognised_by_their_status(status: str, expected: Expected) -> None:
    grpc = importlib.import_module("grpc")

    class Dropped(grpc.RpcError):  # type: ignore[misc, name-defined]
        def code(self) -> object:
            return getattr(grpc.StatusCode, status)

        def details(self) -> str:
            return "Socket closed"

    assert translate(Dropped(), PLACE).code == expected.code


def test_errors_of_the_disk_are_reported_as_such() -> None:
    assert translate(OSError(errno.ENOSPC, "No space left on device"), PLACE).code == StoreError.disk_full.code
    assert translate(PermissionError(errno.EACCES, "Permission denied"), PLACE).code == StoreError.unreadable.code


def test_our_own_errors_and_interrupts_pass_unchanged() -> None:
    ours = StoreError.locked(path="x.db")
    with raises(StoreError.locked) as caught, translated_errors(PLACE):
        raise ours
    assert caught.value is ours
    with pytest.raises(KeyboardInterrupt), translated_errors(PLACE):
        raise KeyboardInterrupt


def test_a_store_that_reports_one_minus_cosine_is_understood() -> None:
    """SC-09: Milvus Lite 3.0 reported distances."""
    hits = [(name, 1.0 - vector[0]) for name, vector in PROBE_VECTORS.items()]
    scores = learn(hits, "x")
    assert scores.cosine(0.25) == pytest.approx(0.75)
    assert scores.cosine(-0.001) == 1.0
    assert scores.cosine(2.1) == -1.0


def test_a_store_that_reports_cosines_is_taken_as_it_is() -> None:
    assert learn([(name, vector[0] + 1e-4) for name, vector in PROBE_VECTORS.items()], "x") == Scores()


@pytest.mark.parametrize(
    "hits",
    [
        [(name, vector[0]) for name, vector in list(PROBE_VECTORS.items())[::-1]],
        [(name, 1.0) for name in PROBE_VECTORS],
        [(name, vector[0] ** 3) for name, vector in PROBE_VECTORS.items()],
        [("probe-same", 1.0)],
        [],
    ],
    ids=["reversed", "constant", "curved", "one", "none"],
)
def test_a_store_that_is_upside_down_or_no_cosine_is_refused(hits: list[tuple[str, float]]) -> None:
    with raises(StoreError.ranks_unlike_first, match="WORKBENCH_MILVUS_URI"):
        learn(hits, "http://milvus:19530")


async def opened(uri: str, timeout_s: float = 10.0) -> None:
    store = MilvusStore(uri, timeout_s=timeout_s)
    try:
        await store.open()
    finally:
        await store.close()


def test_a_server_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with raises(StoreError.unreachable, match=r"127\.0\.0\.1:9"):
        asyncio.run(opened("http://127.0.0.1:9", timeout_s=2))


def test_an_address_that_is_none_is_reported_without_a_traceback() -> None:
    with raises(StoreError.unreachable, match="nonsense"):
        asyncio.run(opened("nonsense"))


def test_a_folder_that_another_process_has_open_is_locked(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "knowledge.db"
    asyncio.run(opened(str(folder)))
    with (folder / "LOCK").open("r+") as lock:
        # A second open file holds the lock just as another process would.
        fcntl.flock(lock, fcntl.LOCK_EX)
        with raises(StoreError.locked, match=r"knowledge\.db"):
            asyncio.run(opened(str(folder)))
    asyncio.run(opened(str(folder)))
    assert "Traceback" not in capfd.readouterr().err


def test_a_folder_that_is_a_file_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "knowledge.db").write_text("not a folder")
    with raises(StoreError.unreadable, match=r"knowledge\.db"):
        asyncio.run(opened(str(tmp_path / "knowledge.db")))


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    async def use() -> None:
        store = MilvusStore(str(tmp_path / "knowledge.db"))
        await store.close()
        await store.close()
        await store.collections()

    with pytest.raises(StoreError, match="is closed"):
        asyncio.run(use())
