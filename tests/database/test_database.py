"""What stores rely on, the same for every kind of database."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress

import pytest
from sqlalchemy import Connection, func, select

from engine.database import Database
from engine.database.base import among, clean, put
from engine.database.tables import RUNS, TAGS


def tag(connection: Connection, run: str, name: str = "a") -> None:
    put(connection, TAGS, {"run_id": run, "tag": name})


def runs_with_tags(database: Database) -> list[str]:
    with database.reading() as connection:
        return list(connection.scalars(select(TAGS.c.run_id).order_by(TAGS.c.run_id)))


def run(name: str, question: str = "Why?", calls: int = 0) -> dict[str, object]:
    return {
        "id": name,
        "started_at": "2026-01-01",
        "question": question,
        "workflow": "self_corrective",
        "collection": "samples",
        "owner": "me",
        "outcome": None,
        "reason": "",
        "duration_ms": 1.5,
        "calls": calls,
        "rewrites": 0,
        "parent": "",
    }


def test_what_was_written_is_there_and_what_was_given_up_is_not(database: Database) -> None:
    with database.writing() as connection:
        tag(connection, "kept")
    with suppress(KeyError), database.writing() as connection:
        tag(connection, "lost")
        raise KeyError
    with database.writing() as connection:
        tag(connection, "later")
    assert runs_with_tags(database) == ["kept", "later"]


def test_a_reader_sees_one_moment(database: Database) -> None:
    with database.writing() as connection:
        tag(connection, "before")
    count = select(func.count()).select_from(TAGS)
    with database.reading() as reader:
        first = reader.scalar(count)
        with database.writing() as connection:
            tag(connection, "meanwhile")
        assert (first, reader.scalar(count)) == (1, 1)
    assert len(runs_with_tags(database)) == 2


def test_a_row_that_is_there_changes_only_where_it_is_said(database: Database) -> None:
    columns = select(RUNS.c.question, RUNS.c.calls)
    with database.writing() as connection:
        put(connection, RUNS, [run("a"), run("b")])
        put(connection, RUNS, run("a", "How?", 1), changes=("calls",))
        put(connection, RUNS, run("a", "Where?", 2), changes=())
        assert connection.execute(columns.where(RUNS.c.id == "a")).one() == ("Why?", 1)
        put(connection, RUNS, run("a", "When?", 3))
        put(connection, RUNS, [])
        assert connection.execute(columns.where(RUNS.c.id == "a")).one() == ("When?", 3)


@pytest.mark.parametrize("wanted", [(), ("a",), ("a", "c", "it's"), tuple(f"r{number}" for number in range(40_000))])
def test_any_number_of_values_can_be_asked_for(database: Database, wanted: Sequence[str]) -> None:
    with database.writing() as connection:
        for name in ("a", "b", "c", "it's", "r7"):
            tag(connection, name)
        query = select(TAGS.c.run_id).where(among(connection, TAGS.c.run_id, wanted))
        assert sorted(connection.scalars(query)) == sorted({"a", "b", "c", "it's", "r7"} & set(wanted))


@pytest.mark.parametrize(
    ("text", "found"), [("ÄRGER", True), ("ärger", True), ("糖尿", True), ("100%", True), ("_", False)]
)
def test_a_text_is_found_regardless_of_its_case(database: Database, text: str, found: bool) -> None:
    with database.writing() as connection:
        put(connection, RUNS, run("a", "Was für ein Ärger mit 糖尿病, 100% wahr?"))
    with database.reading() as connection:
        query = select(RUNS.c.id).where(database.found_in(RUNS.c.question, text.casefold()))
        assert (connection.scalar(query) == "a") is found


def test_names_are_compared_byte_by_byte(database: Database) -> None:
    """Python sorts pages of a list that the database has sorted before."""
    names = ["a", "B", "_", "é", "z", "中", "-"]
    with database.writing() as connection:
        for name in names:
            tag(connection, name)
    assert runs_with_tags(database) == sorted(names)


@pytest.mark.parametrize("text", ["half a pair \ud800", "a\x00b"])
def test_a_text_that_no_database_holds_is_made_one_that_both_hold(database: Database, text: str) -> None:
    with database.writing() as connection:
        put(connection, RUNS, run("a", clean(text)))
    with database.reading() as connection:
        assert connection.scalar(select(RUNS.c.question)) == clean(text)


def test_its_state_changes_with_every_kind_of_write(database: Database) -> None:
    seen = set()
    for write in (
        lambda connection: put(connection, RUNS, run("a")),
        lambda connection: put(connection, RUNS, run("a", calls=4)),
        lambda connection: connection.execute(RUNS.delete()),
    ):
        with database.writing() as connection:
            write(connection)
        seen.add(database.state("runs"))
        assert database.state("runs") in seen
    assert len(seen) == 3


def test_threads_that_write_at_once_lose_nothing(database: Database) -> None:
    def write(number: int) -> None:
        for place in range(10):
            with database.writing() as connection:
                tag(connection, f"{number}-{place}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(runs_with_tags(database)) == 60


def test_a_process_that_joined_lives_until_it_leaves(database: Database) -> None:
    here, other = database.owners.join(), database.owners.join()
    assert here.id != other.id
    assert database.owners.alive(here.id) and database.owners.alive(other.id)
    other.end()
    other.end()
    assert database.owners.alive(here.id) and not database.owners.alive(other.id)
    assert not database.owners.alive("never seen")
    here.end()
