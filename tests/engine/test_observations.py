"""Observations outlive crashes, full disks and each other: AE-08."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import RecordError
from engine.records.observations import Observations
from tests.support.errors import raises

RECORD = {"time": "2026-01-01T00:00:00+00:00", "query": "为什么？", "epoch": 1, "answer": "因为这样。[1]\n第二行"}
_WRITES_FOREVER = """
import asyncio, sys
from pathlib import Path
from engine.records.observations import Observations

async def main():
    kept = Observations(Path(sys.argv[1]))
    number = 0
    while True:
        await kept.append({"writer": sys.argv[2], "number": number, "text": "x" * 2000})
        print(number, flush=True)
        number += 1

asyncio.run(main())
"""


def append(path: Path, *records: object) -> None:
    for record in records:
        asyncio.run(Observations(path).append(record))  # type: ignore[arg-type]


def test_records_come_back_in_the_order_in_which_they_were_kept(tmp_path: Path) -> None:
    """AE-08"""
    path = tmp_path / "new" / "observational_data.json"
    append(path, RECORD, {**RECORD, "epoch": 2})
    assert Observations(path).read() == [RECORD, {**RECORD, "epoch": 2}]
    assert len(path.read_bytes().splitlines()) == 2
    assert [json.loads(line)["epoch"] for line in path.read_bytes().splitlines()] == [1, 2]


def test_nothing_kept_yet_is_no_error(tmp_path: Path) -> None:
    assert Observations(tmp_path / "o.json").read() == []


@given(st.integers(0, 500))
def test_a_torn_last_record_never_hides_the_others_wherever_it_was_torn(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    """AE-08: it is closed off by a newline first, and left out when reading."""
    path = tmp_path_factory.mktemp("torn") / "o.json"
    append(path, {"n": 1}, {"n": 2, "answer": "文字" * 60})
    whole = path.read_bytes()
    second = whole.index(b"\n") + 1
    kept = second + cut % (len(whole) - second)
    path.write_bytes(whole[:kept])
    assert Observations(path).read()[0] == {"n": 1}
    append(path, {"n": 3})
    found = Observations(path).read()
    assert [item["n"] for item in found] in ([1, 3], [1, 2, 3])
    assert found[-1] == {"n": 3}


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=30) | st.integers(), max_size=4))
def test_any_text_is_one_line(tmp_path_factory: pytest.TempPathFactory, record: dict[str, object]) -> None:
    """AE-08: line breaks, quotes and all inside it."""
    path = tmp_path_factory.mktemp("any") / "o.json"
    append(path, record, RECORD)
    assert Observations(path).read() == [record, RECORD]


def test_a_lone_surrogate_is_kept_as_its_escape(tmp_path: Path) -> None:
    path = tmp_path / "o.json"
    append(path, {"answer": "a\ud800b"})
    assert Observations(path).read() == [{"answer": "a\ud800b"}]


def test_what_is_no_object_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "o.json"
    path.write_bytes(b'[1]\n"text"\nnull\n\xff\xfe\n\n{"n": 1}\n{"n"')
    assert Observations(path).read() == [{"n": 1}]


def test_threads_that_append_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    """AE-08"""
    path = tmp_path / "o.json"

    def work(writer: int) -> None:
        append(path, *({"writer": writer, "number": number} for number in range(20)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = Observations(path).read()
    assert sorted((item["writer"], item["number"]) for item in found) == [(w, n) for w in range(4) for n in range(20)]


def test_processes_killed_in_the_middle_of_appending_leave_every_record_that_they_had_reported(tmp_path: Path) -> None:
    """AE-08: crash-safe."""
    path = tmp_path / "o.json"
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", _WRITES_FOREVER, str(path)]
    reported: dict[str, int] = {}
    running = [
        subprocess.Popen([*command, name], cwd=root, stdout=subprocess.PIPE, text=True, env={**os.environ})
        for name in ("a", "b")
    ]
    try:
        for name, process in zip(("a", "b"), running, strict=True):
            assert process.stdout is not None
            for line in process.stdout:
                reported[name] = int(line)
                if reported[name] >= 10:
                    break
    finally:
        for process in running:
            process.kill()
            process.communicate()
    append(path, {"writer": "after", "number": 0})
    found = [(item["writer"], item["number"]) for item in Observations(path).read()]
    assert found[-1] == ("after", 0)
    for name, newest in reported.items():
        assert [number for writer, number in found if writer == name][: newest + 1] == list(range(newest + 1))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_an_error_of_ours() -> None:
    """AE-08"""
    with raises(RecordError.observation_lost, match="No space left"):
        append(Path("/dev/full"), RECORD)


def test_a_folder_in_its_place_is_an_error_of_ours(tmp_path: Path) -> None:
    with raises(RecordError.observation_lost):
        append(tmp_path, RECORD)
    with raises(RecordError.observation_lost):
        Observations(tmp_path).read()
