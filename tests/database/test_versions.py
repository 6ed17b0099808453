"""A database of an earlier version becomes what a new one is, and one of a later version is left alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory

from engine.database.sqlite import SqliteFile
from engine.database.tables import METADATA, PARTS, Part
from engine.database.versions import HEAD, alembic_config, revision_name

FIRST = {
    "runs": """
        CREATE TABLE runs (
            id TEXT PRIMARY KEY, started_at TEXT NOT NULL, question TEXT NOT NULL, workflow TEXT NOT NULL,
            collection TEXT NOT NULL, owner TEXT NOT NULL, outcome TEXT, reason TEXT NOT NULL,
            duration_ms REAL NOT NULL, calls INTEGER NOT NULL, rewrites INTEGER NOT NULL
        );
        CREATE INDEX runs_by_start ON runs (started_at, id);
        CREATE INDEX runs_unfinished ON runs (owner) WHERE outcome IS NULL;
        CREATE TABLE events (
            run_id TEXT NOT NULL, seq INTEGER NOT NULL, t_ms REAL NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL,
            PRIMARY KEY (run_id, seq)
        ) WITHOUT ROWID;
        CREATE TABLE partial_answers (run_id TEXT PRIMARY KEY, pieces TEXT NOT NULL) WITHOUT ROWID;
        INSERT INTO runs VALUES ('old', '2025', 'Why?', 'w', 'c', 'o', 'answered', 'r', 1.5, 2, 3);
        PRAGMA user_version = 1;
    """,
    "verdicts": """
        CREATE TABLE verdicts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        INSERT INTO verdicts VALUES ('k', '{}');
    """,
    "weak_points": """
        CREATE TABLE weak_points (
            id TEXT PRIMARY KEY, collection TEXT NOT NULL, question TEXT NOT NULL, why TEXT NOT NULL,
            run_id TEXT NOT NULL, noted_at TEXT NOT NULL
        );
        CREATE INDEX weak_points_by_date ON weak_points (collection, noted_at);
        CREATE TABLE switches (collection TEXT PRIMARY KEY, "on" INTEGER NOT NULL);
        INSERT INTO switches VALUES ('samples', 1);
    """,
    "evaluation": """
        CREATE TABLE query_sets (
            name TEXT PRIMARY KEY, collection TEXT NOT NULL, origin TEXT NOT NULL, saved_at TEXT NOT NULL
        );
        CREATE TABLE cases (
            set_name TEXT NOT NULL REFERENCES query_sets (name) ON DELETE CASCADE,
            place INTEGER NOT NULL, id TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (set_name, id)
        );
        CREATE TABLE batches (
            id TEXT PRIMARY KEY, set_name TEXT NOT NULL, config TEXT NOT NULL, concurrency INTEGER NOT NULL,
            created_at TEXT NOT NULL, owner TEXT NOT NULL
        );
        CREATE TABLE batch_cases (
            batch_id TEXT NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
            place INTEGER NOT NULL, case_id TEXT NOT NULL, data TEXT NOT NULL,
            run_id TEXT, ended INTEGER NOT NULL DEFAULT 0, fault TEXT, PRIMARY KEY (batch_id, case_id)
        );
        CREATE TABLE labels (
            question TEXT NOT NULL, passage_id TEXT NOT NULL, relevant INTEGER NOT NULL, labelled_at TEXT NOT NULL,
            PRIMARY KEY (question, passage_id)
        );
        CREATE TABLE saved_settings (name TEXT PRIMARY KEY, config TEXT NOT NULL, saved_at TEXT NOT NULL);
        INSERT INTO labels VALUES ('Why?', 'p', 1, '2025');
        PRAGMA user_version = 1;
    """,
}
"""Each part as the first version that had it made it, with one row."""


def shape(path: Path) -> dict[str, tuple[object, ...]]:
    """The columns and indexes of each table; the first versions let SQLite's keys be null, which no row used."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: (
                [
                    (column, needed or key, default, key)
                    for _, column, _, needed, default, key in connection.execute(f"PRAGMA table_info({name})")
                ],
                sorted(row[1] for row in connection.execute(f"PRAGMA index_list({name})")),
            )
            for name in tables
            if name != "alembic_version"
        }


@pytest.mark.parametrize("part", sorted(FIRST))
def test_a_file_of_the_first_version_becomes_what_a_new_one_is(part: Part, tmp_path: Path) -> None:
    """TM-01"""
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript(FIRST[part])
    before = rows(old)
    for path in (old, new):
        database = SqliteFile(path, part)
        with database.writing():
            pass
        database.close()
    assert shape(old) == shape(new)
    assert [row[: len(first)] for row, first in zip(rows(old), before, strict=True)] == before
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (HEAD,)


def rows(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [
            row
            for name in sorted(names)
            if name != "alembic_version"
            for row in connection.execute(f"SELECT * FROM {name}")
        ]


@pytest.mark.parametrize("part", sorted(FIRST))
def test_a_reader_sees_a_former_file_as_it_would_be(part: Part, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(FIRST[part])
    before = path.read_bytes()
    database = SqliteFile(path, part)
    with database.reading() as connection:
        seen = {
            table.name: connection.execute(table.select()).all()
            for table in METADATA.sorted_tables
            if table.info["part"] == part
        }
    assert sum(len(found) for found in seen.values()) == 1
    assert path.read_bytes() == before


def test_the_newest_migration_is_the_one_that_the_program_knows() -> None:
    assert ScriptDirectory.from_config(alembic_config()).get_heads() == [revision_name(HEAD)]


def test_every_table_belongs_to_a_part() -> None:
    assert {table.info["part"] for table in METADATA.sorted_tables} == set(PARTS)
