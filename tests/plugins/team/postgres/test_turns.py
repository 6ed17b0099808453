"""All processes of one database together give a model server no more calls than it may have (TM-16)."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path

import pytest

import engine
from plugins.team.postgres import PostgresDatabase
from plugins.team.slot_table import SlotTable
from plugins.team.turns import LOOK_S, Turns

ROOT = Path(str(engine.__file__)).parent.parent
SERVER = "http://model.test"
MOST = 3
PATIENCE_S = 60.0

CALLS = """
import asyncio, os, sys
from plugins.team.postgres import PostgresDatabase
from plugins.team.turns import Turns

log = os.open(sys.argv[5], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

async def call(turns):
    async with turns.turn(sys.argv[2]):
        os.write(log, b"+")
        print("in", flush=True)
        line = await asyncio.to_thread(sys.stdin.readline)
        os.write(log, b"-")

async def main():
    turns = Turns(PostgresDatabase(sys.argv[1]), 3, 0.0, lease_s=float(sys.argv[3]))
    await asyncio.gather(*(call(turns) for _ in range(int(sys.argv[4]))))
    turns.close()

asyncio.run(main())
"""


class Caller:
    """A process with so many calls that end one by one as it is asked; ``begun`` counts those that got a turn."""

    def __init__(self, url: str, calls: int, lease_s: float = 20.0, log: str = os.devnull) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CALLS, url, SERVER, str(lease_s), str(calls), log],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        self.begun = 0
        self.changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stdout:
            for _ in stdout:
                with self.changed:
                    self.begun += 1
                    self.changed.notify_all()

    def end_one(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def until_begun(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: self.begun >= count, PATIENCE_S), f"{self.begun} have begun"

    def finish(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(PATIENCE_S) == 0
        self._reader.join()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._reader.join()
        assert self.process.stdin is not None
        self.process.stdin.close()


@pytest.fixture
def database(postgres_url: str) -> Iterator[PostgresDatabase]:
    opened = PostgresDatabase(postgres_url)
    yield opened
    opened.close()


def test_on_postgres_two_processes_never_have_more_calls_under_way_than_the_server_may_have(
    postgres_url: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    both = [Caller(postgres_url, 8, log=str(log))]
    both[0].until_begun(MOST)
    both.append(Caller(postgres_url, 8, log=str(log)))
    for caller in both:
        for _ in range(8):
            caller.end_one()
    for caller in both:
        caller.finish()
        assert caller.begun == 8
    under_way = list(accumulate(1 if mark == ord("+") else -1 for mark in log.read_bytes()))
    assert len(under_way) == 32 and under_way[-1] == 0
    assert max(under_way) == MOST


def test_on_postgres_what_a_killed_process_held_is_free_when_its_lease_is_over(
    postgres_url: str, database: PostgresDatabase
) -> None:
    dead = Caller(postgres_url, MOST, lease_s=1.0)
    dead.until_begun(MOST)
    assert SlotTable(database, 1.0).take(SERVER, 1, MOST) == []
    waiting = Caller(postgres_url, 1, lease_s=1.0)
    dead.kill()
    waiting.until_begun(1)
    waiting.finish()


def test_on_postgres_a_slot_in_use_is_renewed_beyond_its_lease(postgres_url: str, database: PostgresDatabase) -> None:
    holder = Caller(postgres_url, MOST, lease_s=1.0)
    holder.until_begun(MOST)
    other = SlotTable(database, 1.0)
    with database.reading() as connection:
        began = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
    pause = threading.Event()
    while True:
        assert other.take(SERVER, 1, MOST) == []
        with database.reading() as connection:
            now = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
        if (now - began).total_seconds() > 2.5:
            break
        pause.wait(0.1)
    holder.finish()


def test_on_postgres_other_servers_have_turns_of_their_own(database: PostgresDatabase) -> None:
    table = SlotTable(database)
    assert table.take("http://one.test", 5, 2) == [1, 2]
    assert table.take("http://two.test", 5, 2) == [1, 2]
    assert SlotTable(database).take("http://one.test", 1, 2) == []
    table.give_back("http://one.test", [1])
    assert SlotTable(database).take("http://one.test", 5, 2) == [1]


def test_on_postgres_calls_a_second_lie_apart_no_matter_who_makes_them(database: PostgresDatabase) -> None:
    tables = [SlotTable(database), SlotTable(database)]
    waits = [tables[place % 2].wait_s(SERVER, per_second=0.5) for place in range(6)]
    assert waits[0] == 0.0
    # Moments two seconds apart, less what the questions themselves took.
    assert all(2 * place - 1 < wait <= 2 * place for place, wait in enumerate(waits[1:], 1))


def test_on_postgres_a_call_that_is_cancelled_while_it_waits_loses_its_turn_for_no_one(
    database: PostgresDatabase,
) -> None:
    async def calls() -> list[str]:
        turns = Turns(database, 1, 0.0)
        done: list[str] = []
        entered, leave = asyncio.Event(), asyncio.Event()

        async def call(name: str) -> None:
            async with turns.turn(SERVER):
                done.append(name)
                entered.set()
                await leave.wait()

        first = asyncio.create_task(call("first"))
        await entered.wait()
        second, third = asyncio.create_task(call("second")), asyncio.create_task(call("third"))
        await asyncio.sleep(0)
        second.cancel()
        leave.set()
        await asyncio.gather(first, third)
        await asyncio.to_thread(turns.close)
        return done

    assert asyncio.run(calls()) == ["first", "third"]


def test_on_postgres_who_waits_has_a_turn_though_another_process_has_calls_without_end(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugins.team.turns.TURN_S", 0.1)

    async def calls() -> bool:
        greedy, other = Turns(database, 2, 0.0), Turns(database, 2, 0.0)
        full, served = asyncio.Semaphore(0), asyncio.Event()

        async def without_end() -> None:
            while not served.is_set():
                async with greedy.turn(SERVER):
                    full.release()
                    # As long as a look at the table takes, so that the slot is hardly ever free.
                    await asyncio.to_thread(SlotTable(database).lent_out, SERVER, 2)

        async def waits() -> None:
            await full.acquire()
            await full.acquire()
            async with other.turn(SERVER):
                served.set()

        try:
            await asyncio.wait_for(asyncio.gather(without_end(), without_end(), waits()), PATIENCE_S)
            return served.is_set()
        finally:
            served.set()
            await asyncio.to_thread(greedy.close)
            await asyncio.to_thread(other.close)

    assert asyncio.run(calls())


def test_on_postgres_a_server_is_lent_out_when_every_slot_is_held_by_one_that_lives(
    database: PostgresDatabase,
) -> None:
    living, dead = SlotTable(database), SlotTable(database, lease_s=-1.0)
    living.take(SERVER, 1, 2)
    assert not living.lent_out(SERVER, 2) and living.lent_out(SERVER, 1)
    dead.take(SERVER, 1, 2)
    assert not living.lent_out(SERVER, 2), "what a dead process held is free"
    assert not living.lent_out("http://other.test", 1)


def test_on_postgres_a_turn_that_was_on_its_way_to_a_cancelled_call_is_given_to_the_next(
    database: PostgresDatabase,
) -> None:
    async def calls() -> bool:
        turns = Turns(database, 1, 0.0)
        async with turns.turn(SERVER):
            second, third = asyncio.create_task(call(turns)), asyncio.create_task(call(turns))
            await asyncio.sleep(0)
        # It was handed on just now, and not taken yet.
        second.cancel()
        served = await asyncio.wait_for(third, PATIENCE_S)
        await asyncio.to_thread(turns.close)
        return served

    async def call(turns: Turns) -> bool:
        async with turns.turn(SERVER):
            return True

    assert asyncio.run(calls())


def test_on_postgres_calls_that_wait_ask_the_database_with_a_pause(database: PostgresDatabase) -> None:
    looks: list[float] = []
    enough = threading.Event()

    class Counted(SlotTable):
        def take(self, server: str, wanted: int, most: int) -> list[int]:
            looks.append(time.monotonic())
            if len(looks) == 10:
                enough.set()
            return super().take(server, wanted, most)

    async def waits() -> None:
        turns = Turns(database, 1, 0.0)
        turns._table = Counted(database)
        call = asyncio.create_task(turns._slot(SERVER))
        assert await asyncio.to_thread(enough.wait, PATIENCE_S)
        call.cancel()
        await asyncio.to_thread(turns.close)

    assert SlotTable(database).take(SERVER, 1, 1) == [1]
    asyncio.run(waits())
    pauses = [after - before for before, after in pairwise(looks)]
    assert min(pauses) >= LOOK_S / 2
