"""Tokens, limits and the log of changes in both kinds of database (TM-12, TM-13)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import delete, select, update
from sqlalchemy.exc import DBAPIError

from engine.database import Database
from engine.database.sqlite import SqliteFile
from engine.database.tables import AUDIT, Part
from engine.errors import PeopleUnusable
from engine.people.limits import CollectionLimits, PeopleDatabase
from plugins.team.audit import Entry, as_csv
from plugins.team.errors import UNKNOWN_TOKEN
from plugins.team.people_records import PeopleRecords
from plugins.team.tokens import Token, made
from tests.support.errors import raises

ENTRY = Entry(0, "2026-01-01T00:00:00.000+00:00", "ada", "Ada", "admin", "Library.drop", "ward")


@pytest.fixture
def database(database_of: Callable[[Part], Database]) -> Database:
    return database_of("people")


@pytest.fixture
def records(database: Database) -> PeopleRecords:
    return PeopleRecords(database)


@pytest.fixture
def limits(database: Database) -> CollectionLimits:
    return CollectionLimits(PeopleDatabase(database))


def token(name: str = "nightly", **changes: Any) -> Token:
    return replace(made(name, "editor", 7, None)[0], made_by="ada", **changes)


def test_nothing_is_there_before_anything_was_written(records: PeopleRecords) -> None:
    assert (records.tokens(), records.entries(None, 10)) == ([], [])
    assert CollectionLimits(records).all() == {}
    assert records.token_of("none") is None


def test_a_token_comes_back_as_it_was(records: PeopleRecords) -> None:
    plain, named = token(), token("病房", collections=("病房", "ward"))
    for item in (plain, named):
        records.add_token(item)
    assert {item.id: item for item in records.tokens()} == {plain.id: plain, named.id: named}
    assert records.token_of(named.digest) == named


def test_the_first_revocation_of_a_token_stands(records: PeopleRecords) -> None:
    records.add_token(item := token())
    records.note_use(item.id, "2026-01-02")
    for at in ("2026-01-03", "2026-01-04"):
        records.revoke_token(item.id, at)
    assert records.tokens() == [replace(item, used_at="2026-01-02", revoked_at="2026-01-03")]
    with raises(UNKNOWN_TOKEN):
        records.revoke_token("x", "2026")


def test_what_was_revoked_is_usable_no_more() -> None:
    assert token().usable(datetime.now(UTC))
    assert not token(revoked_at="2026-01-03").usable(datetime.now(UTC))


def test_a_limit_of_another_process_is_noticed_within_a_second(
    limits: CollectionLimits, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("engine.people.limits.time", SimpleNamespace(monotonic=lambda: now))
    assert limits.groups_of("ward") == frozenset()
    CollectionLimits(PeopleDatabase(database))._set("ward", {"clinic"})
    assert limits.groups_of("ward") == frozenset()
    now += 1.1
    assert limits.groups_of("ward") == {"clinic"}


@pytest.mark.parametrize("change", [update(AUDIT).values(who="eve"), delete(AUDIT)], ids=["changed", "deleted"])
def test_no_line_of_the_log_can_be(database: Database, records: PeopleRecords, change: Any) -> None:
    records.add_entry(ENTRY)
    with pytest.raises(DBAPIError, match="only added to"), database.writing() as connection:
        connection.execute(change)
    with database.reading() as connection:
        assert connection.scalars(select(AUDIT.c.who)).all() == ["ada"]


def test_lines_that_come_at_once_are_all_kept_and_numbered(records: PeopleRecords) -> None:
    records.add_entry(ENTRY)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: records.add_entry(replace(ENTRY, on=str(n))), range(40)))
    found = records.entries(None, 100)
    assert [item.number for item in found] == [*range(41, 0, -1)]
    assert {item.on for item in found} == {"ward", *map(str, range(40))}
    assert [item.number for item in records.entries(5, 2)] == [4, 3]


def test_a_limit_is_replaced_and_ended(limits: CollectionLimits) -> None:
    limits._set("ward", {"clinic", "night"})
    limits._set("hall", {"clinic"})
    limits._set("ward", {"day"})
    assert limits.all() == {"ward": {"day"}, "hall": {"clinic"}}
    limits._set("ward", set())
    assert limits.all() == {"hall": {"clinic"}}


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "people.db").write_bytes(b"no database" * 100)
    broken = PeopleRecords(SqliteFile(tmp_path / "people.db", "people"))
    for ask in (broken.tokens, CollectionLimits(broken).all):
        with pytest.raises(PeopleUnusable):
            ask()


def test_a_spreadsheet_computes_nothing_of_the_log() -> None:
    rows = as_csv([replace(ENTRY, on="=HYPERLINK(1)"), replace(ENTRY, name="-1+2"), replace(ENTRY, on="@x")])
    assert "'=HYPERLINK(1)" in rows
    assert "'-1+2" in rows
    assert ",'@x" in rows
