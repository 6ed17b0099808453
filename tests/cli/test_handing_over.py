"""Work handed to a running app: its faults said in words, one file at a time, and an interrupt that stops the run."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.api.knowledge_routes import AT_ONCE
from engine.cli.ingest import ingest_there
from engine.cli.main import main
from engine.engine import Engine
from engine.errors import AppRefused, AppUnreachable, JobError
from engine.knowledge.ingest import IngestItem
from engine.model.config import RunConfig
from engine.running.running_app import NOTE, RunningApp
from tests.api.served import ALL, FakeCollections, app_of, engine_of, relevant, serving
from tests.support.fakes import FakeGrader
from tests.support.gates import PATIENCE_S, Gate

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(folder))
    return folder


@contextmanager
def noted(app: ASGIApp, data_dir: Path, instance: str) -> Iterator[RunningApp]:
    """An application on a real server with the note that the workbench keeps."""
    with serving(app) as port:  # type: ignore[arg-type]
        url = f"http://127.0.0.1:{port}"
        (data_dir / NOTE).write_text(json.dumps({"url": url, "instance": instance}))
        yield RunningApp(url)


@contextmanager
def handed_over(data_dir: Path, **parts: Any) -> Iterator[tuple[RunningApp, Engine]]:
    """A workbench over fakes that the command line will find."""
    with engine_of(data_dir, relevant(**parts)) as engine, noted(app_of(engine), data_dir, engine.instance) as app:
        yield app, engine


def odd_app(answer: Response) -> Starlette:
    """Says that it is well, and gives ``answer`` to everything else."""

    async def health(_: Request) -> Response:
        return JSONResponse({"instance": "odd"})

    async def anything(_: Request) -> Response:
        return answer

    return Starlette(routes=[Route("/api/health", health), Route("/{path:path}", anything, methods=["GET", "POST"])])


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("name", ["a b", "知识", "a/b", "..", "a?b", ""])
def test_a_name_that_no_collection_can_have_is_said_before_anything_is_sent(
    name: str, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (data_dir / "tea.md").write_text("Tea is green.")
    with handed_over(data_dir):
        assert main(["ingest", str(data_dir / "tea.md"), "--collection", name]) == 1
    assert "cannot be the name of a collection." in said(capsys)


def test_a_name_with_any_character_reaches_the_app_as_it_is(data_dir: Path) -> None:
    knowledge = FakeCollections()
    with handed_over(data_dir, knowledge=knowledge) as (app, _):
        for name in ("a b", "知识", "a?b#c%2F"):
            assert app.add_source(name, "n.md", b"words", {})["added"] == ["n.md"]
    assert [collection for collection, _ in knowledge.given] == ["a b", "知识", "a?b#c%2F"]


def test_a_file_that_cannot_be_read_is_named_and_the_others_go_in(data_dir: Path) -> None:
    (data_dir / "folder.md").mkdir()
    items = [
        IngestItem("a.md", data=b"first"),
        IngestItem("gone.md", path=data_dir / "gone.md"),
        IngestItem("folder.md", path=data_dir / "folder.md"),
        IngestItem("b.md", data=b"second"),
    ]
    knowledge = FakeCollections()
    with handed_over(data_dir, knowledge=knowledge) as (app, _):
        report = ingest_there(app, items, "mine", {}, Console(stderr=True))
    assert report["added"] == ["a.md", "b.md"]
    assert [fault["name"] for fault in report["failed"]] == ["gone.md", "folder.md"]
    assert all(fault["fact"] and fault["remedy"] for fault in report["failed"])
    assert [item.name for _, [item] in knowledge.given] == ["a.md", "b.md"]


def test_a_large_file_is_followed_as_a_job_of_the_app(
    data_dir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (data_dir / "large.md").write_text("t" * (AT_ONCE + 1))
    command = ["ingest", str(data_dir / "large.md"), "--collection", "mine"]
    knowledge = FakeCollections()
    with handed_over(data_dir, knowledge=knowledge) as (_, engine):
        assert main(command) == 0
        assert "1 added, 0 replaced, 0 skipped, 0 failed; 1 passages" in said(capsys)
        (job,) = engine.ingestions.jobs()
        assert (job.state, job.added) == ("done", ("large.md",))

        knowledge.gate = asyncio.Event
        honest = RunningApp.job

        def interrupted(app: RunningApp, job_id: str) -> dict[str, Any]:
            honest(app, job_id)
            raise KeyboardInterrupt

        monkeypatch.setattr(RunningApp, "job", interrupted)
        assert main(command) == 130
        assert engine.ingestions.jobs()[0].state == "stopped"
    assert "large.md: stopped after 0 of 0 passages. Resume it on the Knowledge page" in said(capsys)


def test_a_job_that_fails_in_the_app_is_said_for_its_file(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Full(FakeCollections):
        async def ingest(self, *arguments: Any, **options: Any) -> Any:
            raise JobError.disk_full(path="ingest")

    (data_dir / "large.md").write_text("t" * (AT_ONCE + 1))
    with handed_over(data_dir, knowledge=Full()):
        assert main(["ingest", str(data_dir / "large.md"), "--collection", "mine"]) == 1
    shown = said(capsys)
    assert f"large.md: {JobError.disk_full(path='ingest').fact}" in shown
    assert "1 failed" in shown


def test_an_app_that_goes_away_is_said_for_each_file(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (data_dir / "tea.md").write_text("Tea is green.")
    with noted(odd_app(PlainTextResponse("<html>")), data_dir, "odd"):
        assert main(["ingest", str(data_dir / "tea.md"), "--collection", "mine"]) == 1
    shown = said(capsys)
    assert "tea.md: The workbench at http://127.0.0.1:" in shown
    assert "0 added, 0 replaced, 0 skipped, 1 failed" in shown


def test_nobody_at_the_address_is_our_error() -> None:
    with pytest.raises(AppUnreachable) as caught:
        RunningApp(NOWHERE).post("/api/runs", {})
    assert caught.value.params == {"address": NOWHERE}
    with pytest.raises(AppUnreachable):
        RunningApp(NOWHERE).get("/api/runs/1")


@pytest.mark.parametrize("answer", [PlainTextResponse("<html>"), JSONResponse([1]), JSONResponse({"unlike": "ours"})])
def test_another_program_at_the_address_is_said_and_not_a_traceback(
    answer: Response, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with noted(odd_app(answer), data_dir, "odd"):
        assert main(["ask", "hi"]) == 1
    assert "workbench" in said(capsys)


def test_a_question_is_answered_there_and_its_record_comes_back_whole(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with handed_over(data_dir) as (_, engine):
        assert main(["ask", "hi", "--json"]) == 0
        reply = json.loads(capsys.readouterr().out)
        record = engine.record(reply["runId"])
    assert (reply["answer"], reply["outcome"]) == (record.answer, "answered")
    assert reply["retrieval"]["totalDocuments"] == 5


@pytest.mark.parametrize("question", ["", "  ", "x" * 3000])
def test_bad_use_is_bad_use_also_where_the_app_says_it(
    question: str, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with handed_over(data_dir):
        assert main(["ask", question]) == 2
    assert said(capsys)


def test_what_the_app_refuses_keeps_its_words_and_its_code(data_dir: Path) -> None:
    with handed_over(data_dir) as (app, _), pytest.raises(AppRefused, match="no collection named 'absent'") as caught:
        app.ask("hi", RunConfig(collection="absent"))
    assert caught.value.original_code == "WB203"


def test_prefixes_of_a_new_collection_are_handed_over(data_dir: Path) -> None:
    """SC-02"""
    given: list[tuple[Any, Any]] = []

    class Noting(FakeCollections):
        async def ingest(self, *arguments: Any, **options: Any) -> Any:
            given.append((options["query_prefix"], options["passage_prefix"]))
            return await super().ingest(*arguments, **options)

    (data_dir / "tea.md").write_text("Tea is green.")
    prefixes = ["--query-prefix", "ask: ", "--passage-prefix", ""]
    with handed_over(data_dir, knowledge=Noting()):
        assert main(["ingest", str(data_dir / "tea.md"), "--collection", "mine", *prefixes]) == 0
        assert main(["ingest", str(data_dir / "tea.md"), "--collection", "mine"]) == 0
    assert given == [("ask: ", ""), (None, None)]


class InterruptsWhoFollows:
    """Passes everything on, and sends the main thread an interrupt when it begins to read the events of a run."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._sent = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def passed_on(message: Message) -> None:
            await send(message)
            if not self._sent and str(scope.get("path", "")).endswith("/events") and message.get("body"):
                self._sent = True
                ident = threading.main_thread().ident
                assert ident is not None
                signal.pthread_kill(ident, signal.SIGINT)

        await self._app(scope, receive, passed_on)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """A shell starts background jobs with interrupts ignored, and Python then leaves them so."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system has no signals for threads")
def test_an_interrupt_stops_the_run_in_the_app(
    data_dir: Path, interruptible: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """SC-13: cancel at any moment."""
    gate = Gate()
    resources = relevant(grader=FakeGrader(relevant=ALL, gate=lambda: gate))
    with engine_of(data_dir, resources) as engine:
        with noted(InterruptsWhoFollows(app_of(engine)), data_dir, engine.instance):
            assert main(["ask", "hi"]) == 130
            (stored,) = engine.runs()
            assert engine.wait(stored.id, PATIENCE_S)
        assert engine.record(stored.id).outcome == "cancelled"
    assert said(capsys) == "Stopped."
