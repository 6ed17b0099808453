"""The history of weak points fills itself, and nothing that is to show settings adds to it: QL-03."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from engine.cli.main import main
from engine.engine import Engine
from engine.errors import RunError, UnknownCollection
from engine.knowledge.items import IngestItem
from engine.knowledge.weak_points import WeakPoint, WeakPoints, weak_point_of
from engine.model.config import RunConfig
from engine.model.values import WEAK_POINT
from engine.settings import Settings
from tests.api.served import ADDRESS, app_of
from tests.cli.test_handing_over import noted
from tests.support.errors import raises

TREES = b"# Trees\n\nA tree is a connected graph without cycles. A tree with n vertices has n - 1 edges."
OWN = RunConfig(collection="own")
GOOD = "How many edges does a tree with n vertices have?"
ASKED = "Who invented the bicycle?"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(Settings(data_dir=tmp_path_factory.mktemp("weak"))) as opened:
        opened.wait_until_ready()
        opened.ingest([IngestItem("trees.md", data=TREES)], "own")
        yield opened


@pytest.fixture(autouse=True)
def empty(engine: Engine) -> None:
    for item in engine.weak_points.list():
        engine.weak_points.delete(item.id)
    engine.weak_points.switch("own", on=True)


def point(name: str, question: str = ASKED, collection: str = "own") -> WeakPoint:
    return WeakPoint(name, collection, question, "refused", "run", "2026-03-05T10:00:00.000+00:00")


def test_a_refused_question_is_noted_once_a_day_and_a_good_answer_is_not(engine: Engine) -> None:
    refused = engine.run(ASKED, OWN)
    assert refused.outcome == "abstained"
    engine.run(ASKED, OWN)
    answered = engine.run(GOOD, OWN)
    assert answered.outcome == "answered"
    (noted,) = engine.weak_points.list("own")
    assert (noted.question, noted.why, noted.collection) == (ASKED, "refused", "own")
    assert noted.noted_at[:10] == datetime.now(UTC).date().isoformat()


def test_trials_and_the_samples_leave_nothing_and_a_switch_decides(engine: Engine) -> None:
    engine.wait(engine.start(ASKED, OWN, trial=True))
    refused = engine.run("糖尿病人可以献血吗？", RunConfig())
    assert refused.outcome == "abstained"
    parent = engine.run(GOOD, OWN)
    branch = engine.fork(parent, replace(OWN, similarity_threshold=1.0, max_rewrites=0))
    engine.wait(branch)
    assert engine.record(branch).outcome == "abstained"
    engine.weak_points.switch("own", on=False)
    engine.run(ASKED, OWN)
    assert engine.weak_points.list() == []
    engine.weak_points.switch("own", on=True)
    engine.run(ASKED, OWN)
    assert len(engine.weak_points.list()) == 1


def test_the_history_is_searched_as_dated_and_no_answer_is_written_from_it(engine: Engine) -> None:
    config = replace(RunConfig(workflow="quality_loop"), collection="own", max_rewrites=0)
    question = "How many edges does a tree with n vertices have?"
    assert engine.run(question, config).manifest["source_kinds"] == "vector"
    engine.weak_points.note(point("w1", "How many edges has a tree with ten vertices?"))
    record = engine.run(question, config)
    (noted,) = [item for item in record.rounds[0].candidates if item.passage.id.startswith(WEAK_POINT)]
    assert (noted.kind, noted.passage.dated) == ("temporal", "2026-03-05")
    assert record.rounds[0].routing is not None and set(record.rounds[0].routing.shares) == {"vector", "temporal"}
    assert record.context is not None
    assert all(not item.id.startswith(WEAK_POINT) for item in record.context.passages)


def test_a_collection_with_a_history_is_listed_with_dated_sources(engine: Engine) -> None:
    """QL-03"""

    def listed() -> list[str]:
        with TestClient(app_of(engine), base_url=ADDRESS) as client:
            (own,) = [item for item in client.get("/api/collections").json() if item["name"] == "own"]
        return list(own["kinds"])

    assert listed() == ["vector"]
    assert engine.source_kinds("own") == ("vector",)
    engine.weak_points.note(point("w1"))
    assert listed() == ["vector", "temporal"]
    assert engine.source_kinds("own") == ("vector", "temporal")


def test_what_a_question_left_itself_does_not_raise_its_own_score(engine: Engine) -> None:
    config = replace(RunConfig(workflow="quality_loop"), collection="own", max_rewrites=0)
    engine.weak_points.note(point("w1"))
    record = engine.run(ASKED.upper(), config)
    assert record.rounds[0].routing is not None and set(record.rounds[0].routing.shares) == {"vector"}


def test_entries_follow_their_collection_and_go_with_it(engine: Engine) -> None:
    engine.ingest([IngestItem("trees.md", data=TREES)], "first")
    engine.weak_points.note(point("w1", collection="first"))
    engine.weak_points.switch("first", on=False)
    engine.library.rename("first", "second")
    assert [item.collection for item in engine.weak_points.list()] == ["second"]
    assert not engine.weak_points.is_on("second") and engine.weak_points.is_on("first")
    engine.library.drop("second")
    assert engine.weak_points.list() == []


@pytest.mark.parametrize(
    ("outcome", "why"),
    [("abstained", "refused"), ("fallback", "refused"), ("answered_forced", "forced"), ("answered", None)],
)
def test_how_a_run_ended_says_why(engine: Engine, outcome: str, why: str | None) -> None:
    record = engine.run(GOOD, OWN)
    noted = weak_point_of(record, outcome, "own")  # type: ignore[arg-type]
    assert (noted.why if noted else None) == why
    assert weak_point_of(replace(record, trial=True), "abstained", "own") is None


def test_a_file_that_cannot_be_used_is_a_warning_of_the_run_and_an_error_of_a_call(tmp_path: Path) -> None:
    with Engine.open(Settings(data_dir=tmp_path)) as engine:
        engine.wait_until_ready()
        engine.ingest([IngestItem("trees.md", data=TREES)], "own")
        (tmp_path / "weak_points.db").write_bytes(b"This is no database at all, and long enough to say so." * 30)
        record = engine.run(ASKED, OWN)
        assert (record.outcome, [item.code for item in record.warnings]) == ("abstained", ["WB604"])
        with raises(RunError.weak_points_unusable):
            engine.weak_points.list()


def test_what_was_noted_is_on_disk_when_the_call_returns(tmp_path: Path) -> None:
    """A second connection sees it, in a file that keeps whole transactions only."""
    points = WeakPoints(tmp_path / "weak_points.db")
    points.note(point("w1"))
    with sqlite3.connect(tmp_path / "weak_points.db") as other:
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert other.execute("SELECT question FROM weak_points").fetchall() == [(ASKED,)]


def test_the_command_lists_deletes_and_switches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path))
    WeakPoints(tmp_path / "weak_points.db").note(point("w1"))
    assert main(["history", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["id"], entry["why"], entry["question"]) == ("w1", "refused", ASKED)
    with Engine.open(Settings.load()) as engine:
        engine.wait_until_ready()
        engine.ingest([IngestItem("trees.md", data=TREES)], "own")
        engine.library.set_alias("current", "own")
        # The app that has the knowledge base open says what an alias stands for, and so does the file.
        with noted(app_of(engine), tmp_path, engine.instance):
            assert main(["history", "--collection", "current", "--off"]) == 0
        assert "own: the history is off" in capsys.readouterr().out
        assert not engine.weak_points.is_on("own") and engine.weak_points.is_on("current")
    assert main(["history", "--collection", "current", "--on"]) == 0
    printed = capsys.readouterr().out
    assert "own: the history is on" in printed and ASKED in printed
    assert main(["history", "--collection", "absent", "--off"]) == 1
    assert UnknownCollection(name="absent").fact in capsys.readouterr().err
    assert main(["history", "--off"]) == 2
    assert main(["history", "--delete", "w1"]) == 0
    assert main(["history", "--delete", "w1"]) == 1
    assert RunError.unknown_weak_point(point="w1").fact in capsys.readouterr().err
