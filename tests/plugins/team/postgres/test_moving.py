"""Records are copied from files into PostgreSQL and back, whole, once, and only where nothing else is: TM-05."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import Column, DateTime, Float, Integer, LargeBinary, delete, func, insert, select, update

from engine.cli.main import main
from engine.database import Database
from engine.database.base import clean
from engine.database.databases import Databases
from engine.database.sqlite import SqliteFile
from engine.database.tables import EVENTS, RUNS, TAGS, tables_of
from engine.errors import RecordError
from engine.evaluation.cases import Case, QuerySet
from engine.knowledge.items import IngestItem
from engine.model.config import RunConfig
from engine.settings import Settings
from plugins.team.moving import PASSING, checksum_of, move
from plugins.team.postgres import PostgresDatabase
from tests.api.served import FakeCollections, engine_of, relevant
from tests.support.errors import raises
from tests.support.fakes import FakeGrader, FakeResources
from tests.support.gates import PATIENCE_S, Gate

ROWS = 23
TEXTS = ("Was für ein Ärger?", "什么是糖尿病?", "nul \x00", "", "line\nbreak 'quoted'")
KILLED = """
import os, signal, sys
from pathlib import Path
from engine.database.databases import Databases
from engine.settings import Settings
from plugins.team import moving
from plugins.team.postgres import PostgresDatabase

def progress(table, done, total):
    if table == "events" and done:
        os.kill(os.getpid(), signal.SIGKILL)

moving._BLOCK = 5
moving.move(*(Databases.one(PostgresDatabase(place)) if "://" in place
              else Databases.files(Settings(data_dir=Path(place))) for place in sys.argv[1:]), progress)
"""


def value(column: Column[Any], number: int) -> Any:
    for key in column.foreign_keys:
        return f"{key.column.name}-{number}"
    if isinstance(column.type, Integer):
        return number
    if isinstance(column.type, Float):
        return number / 3
    if isinstance(column.type, LargeBinary):
        return bytes([number]) * 9
    if isinstance(column.type, DateTime):
        return datetime(2026, 1, 2, number % 24, tzinfo=UTC)
    if column.nullable and number % 2:
        return None
    return f"{column.name}-{number}" if column.primary_key else f"{TEXTS[number % len(TEXTS)]}{column.name}{number}"


def filled(databases: Databases, rows: int = ROWS) -> Databases:
    """Rows in every table that can be moved; SQLite takes a text that PostgreSQL refuses."""
    for part, database in databases.by_part.items():
        for table in tables_of((part,)):
            made = [{column.name: value(column, n) for column in table.columns} for n in range(rows)]
            if not isinstance(database, SqliteFile):
                made = [
                    {name: clean(item) if isinstance(item, str) else item for name, item in row.items()} for row in made
                ]
            with database.writing() as connection:
                if made and table.name not in PASSING:
                    connection.execute(insert(table), made)
    return databases


def sums(databases: Databases) -> dict[str, tuple[int, str]]:
    return {
        table.name: (found.rows, found.text)
        for part, database in databases.by_part.items()
        for table in tables_of((part,))
        if table.name not in PASSING
        for found in [checksum_of(database, table)]
    }


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Databases]:
    with closing(Databases.files(Settings(data_dir=tmp_path / "files"))) as databases:
        yield databases


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Databases]:
    with closing(Databases.one(PostgresDatabase(postgres_url))) as databases:
        yield databases


def test_on_postgres_everything_arrives_from_files_and_a_second_copy_writes_nothing(
    files: Databases, postgres: Databases
) -> None:
    moved = move(filled(files), postgres)
    assert {item.name for item in moved} == {table.name for table in tables_of(files.by_part)} - PASSING
    assert all((item.rows, item.written) == (ROWS, ROWS) for item in moved)
    assert {name: found for name, found in sums(postgres).items() if name in sums(files)} == sums(files)
    assert [(item.rows, item.written) for item in move(files, postgres)] == [(ROWS, 0)] * len(moved)


def test_on_postgres_everything_arrives_in_files(files: Databases, postgres: Databases) -> None:
    moved = move(filled(postgres), files)
    assert all((item.rows, item.written) == (ROWS, ROWS) for item in moved)
    assert sums(files) == {name: found for name, found in sums(postgres).items() if name in sums(files)}


def test_on_postgres_a_table_without_rows_and_a_missing_file_are_moved_too(
    files: Databases, postgres: Databases
) -> None:
    assert {(item.rows, item.written) for item in move(files, postgres)} == {(0, 0)}


@pytest.mark.parametrize("back", [False, True], ids=["to postgres", "to files"])
def test_on_postgres_a_copy_that_was_killed_is_finished_by_the_next_one(
    files: Databases, postgres: Databases, postgres_url: str, tmp_path: Path, back: bool
) -> None:
    source, target = (postgres, files) if back else (files, postgres)
    filled(source)
    places = [str(tmp_path / "files"), postgres_url]
    killed = subprocess.run([sys.executable, "-c", KILLED, *(places[::-1] if back else places)], check=False)
    assert killed.returncode == -signal.SIGKILL
    with target.runs.reading() as connection:
        there = connection.scalar(select(func.count()).select_from(EVENTS))
    assert there is not None and 0 < there < ROWS
    moved = {item.name: item for item in move(source, target)}
    assert moved["events"].written == ROWS - there
    assert sums(files) == {name: found for name, found in sums(postgres).items() if name in sums(files)}


@pytest.mark.parametrize(
    "change",
    [
        lambda: insert(TAGS).values(run_id="theirs", tag="a"),
        lambda: insert(TAGS).values(run_id="zz", tag="zz"),
        lambda: update(RUNS).where(RUNS.c.id == "id-3").values(calls=99),
    ],
    ids=["another row", "a last row", "a row that was changed"],
)
def test_on_postgres_rows_that_are_not_those_of_the_source_are_refused_before_anything_is_written(
    files: Databases, postgres: Databases, change: Callable[[], Any]
) -> None:
    move(filled(files), postgres)
    with postgres.runs.writing() as connection:
        connection.execute(delete(EVENTS))
        connection.execute(change())
    before = sums(postgres)
    with raises(RecordError.move_other_rows, match="has rows that"):
        move(files, postgres)
    assert sums(postgres) == before


def test_a_target_that_is_changed_meanwhile_is_noticed(files: Databases, tmp_path: Path) -> None:
    def lose(table: str, done: int, total: int) -> None:
        if table == "runs" and done == total:
            with others.runs.writing() as connection:
                connection.execute(delete(EVENTS).where(EVENTS.c.seq == 7))

    others = Databases.files(Settings(data_dir=tmp_path / "others"))
    with closing(others), raises(RecordError.move_differs, match=r"events of .* is not equal"):
        move(filled(files), others, lose)


@pytest.mark.parametrize("used", ["source", "target"])
@pytest.mark.parametrize("back", [False, True], ids=["to postgres", "to files"])
def test_on_postgres_what_a_workbench_uses_is_refused(
    files: Databases, postgres: Databases, used: str, back: bool
) -> None:
    source, target = (postgres, files) if back else (files, postgres)
    filled(source, 1)
    filled(target, 0)
    here = (source if used == "source" else target).runs.owners.join()
    with raises(RecordError.move_in_use, match="is using"):
        move(source, target)
    here.end()
    assert move(source, target)


def test_a_newer_source_and_the_same_place_are_refused(files: Databases, tmp_path: Path) -> None:
    filled(files, 1)
    with raises(RecordError.move_same, match="into itself"):
        move(files, Databases.files(Settings(data_dir=tmp_path / "files")))
    newer: Database = files.runs
    with newer.writing() as connection:
        connection.exec_driver_sql("PRAGMA user_version = 99")
    with raises(RecordError.database_newer):
        move(files, Databases.files(Settings(data_dir=tmp_path / "others")))


def test_a_damaged_file_and_a_server_that_is_away_are_said(files: Databases, tmp_path: Path) -> None:
    away = Databases.one(PostgresDatabase("postgresql://me:secret@127.0.0.1:9/none"))
    with closing(away), raises(RecordError.move_unusable, match="does not answer") as refused:
        move(filled(files, 1), away)
    assert "secret" not in str(refused.value)
    files.close()
    (tmp_path / "files" / "runs.db").write_bytes(b"no database" * 999)
    with raises(RecordError.move_unusable, match="it is damaged"):
        move(files, Databases.files(Settings(data_dir=tmp_path / "others")))


def test_on_postgres_the_command_prints_what_it_compared_and_an_engine_finds_all_of_it(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path))
    assert main(["move-data"]) == 2
    with engine_of(tmp_path, FakeResources(grader=FakeGrader())) as engine:
        record = engine.run("What is it?", RunConfig(max_rewrites=0))
        engine.tag_run(record.id, "mine")
        engine.evaluation.save_query_set(QuerySet("two", (Case("a", "Why?"), Case("b", "How?"))))
        assert main(["move-data", "--to", postgres_url]) == 1
        assert "is using" in capsys.readouterr().err
    assert main(["move-data", "--to", postgres_url]) == 0
    shown = capsys.readouterr().out
    assert "events" in shown and "rows are in both, by count and checksum" in shown
    with engine_of(tmp_path / "other", FakeResources(), database_url=SecretStr(postgres_url)) as engine:
        assert engine.record(record.id) == record
        assert engine.tags() == {"mine": 1}
        assert engine.evaluation.query_set("two").cases[1].question == "How?"


def test_on_postgres_jobs_that_are_not_over_go_along_with_their_uploads_and_are_resumed_there(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path / "first"))
    files = [IngestItem("tea.md", data=b"Tea is hot." * 200_000), IngestItem("empty.md", data=b"")]
    gate, held = Gate(), FakeCollections()
    held.gate = lambda: gate
    with engine_of(tmp_path / "first", relevant(knowledge=held)) as engine:
        job = engine.ingestions.start(files, "notes")
        gate.wait_until_reached()
    for copied in ("1", "0"):
        assert main(["move-data", "--to", postgres_url]) == 0
        (line,) = [line.split() for line in capsys.readouterr().out.splitlines() if line.split()[:1] == ["jobs"]]
        assert line[1:3] == ["1", copied]
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path / "back"))
    assert main(["move-data", "--from", postgres_url]) == 0
    for place, url in (("team", postgres_url), ("back", "")):
        knowledge = FakeCollections()
        folder = tmp_path / place
        with engine_of(folder, relevant(knowledge=knowledge), database_url=SecretStr(url)) as engine:
            assert [(item.id, item.state) for item in engine.ingestions.jobs()] == [(job, "interrupted")]
            engine.ingestions.resume(job)
            assert engine.ingestions.wait(job, PATIENCE_S).state == "done"
        assert knowledge.given == [("notes", files)]
