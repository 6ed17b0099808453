"""A pytest plugin that tries each mutation against tests that come by it, in a copy of the collected process.

Everything is imported and collected once; a mutation costs its tests alone.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

LIMIT_S = 60.0
"""Processor time for the tests of one mutation."""
_LONGEST_S = 240.0
"""Wall time of the same, on whatever else the machine does meanwhile."""
NOTICED, SURVIVED, ENDLESS = 1, 0, 2


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note the processor time of each test, where a folder for it is named."""
    before = os.times()
    result = yield
    if folder := os.environ.get("WORKBENCH_TEST_MUTANTS_SEEN"):
        after = os.times()
        spent = sum(after[:4]) - sum(before[:4])
        with (Path(folder) / f"{os.getpid()}.cost").open("a", encoding="utf-8") as file:
            file.write(json.dumps([item.nodeid, round(spent, 4)]) + "\n")
    return result


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Try the mutations of ``WORKBENCH_TEST_MUTANTS_PLAN`` in place of running the tests."""
    plan = os.environ.get("WORKBENCH_TEST_MUTANTS_PLAN")
    if not plan or session.testsfailed:
        return None
    tests: dict[str, list[str]] = json.loads(Path(plan).read_text(encoding="utf-8"))
    Trials(session, tests, Path(plan).with_suffix(".results")).all()
    return True


class Trials:
    """The mutations of a plan, two at a time, each in a process forked from this one."""

    def __init__(self, session: pytest.Session, tests: dict[str, list[str]], results: Path) -> None:
        self.items = {item.nodeid: item for item in session.items}
        self.tests = tests
        self.results = results
        self.fails: dict[str, bool] = {}
        """Whether a test fails without any mutation, by test."""

    def all(self) -> None:
        """Try every mutation, and write what became of each, a line each."""
        done = {json.loads(line)[0] for line in self._lines()}
        waiting = [number for number in self.tests if number not in done]
        going: dict[int, tuple[str, float]] = {}
        while waiting or going:
            while waiting and len(going) < (os.cpu_count() or 1):
                number = waiting.pop(0)
                going[self._start(number, self.tests[number])] = (number, time.monotonic())
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid in going:
                number, _ = going.pop(pid)
                self._write(number, status)
            for late, (_, since) in list(going.items()):
                if time.monotonic() - since > _LONGEST_S:
                    with suppress(ProcessLookupError):
                        os.killpg(late, signal.SIGKILL)
            if not pid:
                time.sleep(0.02)

    def _lines(self) -> list[str]:
        return self.results.read_text(encoding="utf-8").splitlines() if self.results.exists() else []

    def _write(self, number: str, status: int) -> None:
        failed = self._failed_of(number)
        if failed and self._fails_by_itself(failed):
            self.tests[number].remove(failed)
            self._write(number, self._ended(self._start(number, self.tests[number])))
            return
        said = "noticed" if failed else "survived" if os.waitstatus_to_exitcode(status) == SURVIVED else "endless"
        with self.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps([number, said, failed]) + "\n")

    def _failed_of(self, number: str) -> str:
        found = self._said(number)
        return found.read_text(encoding="utf-8") if found.exists() else ""

    def _said(self, number: str) -> Path:
        return self.results.with_name(f"failed-{number}")

    def _fails_by_itself(self, test: str) -> bool:
        """Whether a test fails without a mutation too: what it noticed is something else."""
        if test not in self.fails:
            status = self._ended(self._start("", [test]))
            self.fails[test] = os.waitstatus_to_exitcode(status) != SURVIVED
        return self.fails[test]

    @staticmethod
    def _ended(pid: int) -> int:
        """The status of a process, which is killed where it takes too long."""
        since = time.monotonic()
        while True:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                return status
            if time.monotonic() - since > _LONGEST_S:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
            time.sleep(0.02)

    def _start(self, number: str, tests: list[str]) -> int:
        self._said(number).unlink(missing_ok=True)
        pid = os.fork()
        if pid:
            return pid
        os.setpgid(0, 0)
        signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number_of_file in (0, 1, 2):
            os.dup2(nothing, number_of_file)
        os.environ["WORKBENCH_TEST_MUTANT"] = number
        code = ENDLESS
        try:
            code = self._run(number, [self.items[test] for test in tests if test in self.items])
        finally:
            os._exit(code)

    def _run(self, number: str, items: list[pytest.Item]) -> int:
        from _pytest.runner import runtestprotocol

        for item, following in zip(items, [*items[1:], None], strict=True):
            os.environ.pop("PYTEST_CURRENT_TEST", None)
            reports = runtestprotocol(item, log=False, nextitem=following)
            if any(report.failed for report in reports):
                self._said(number).write_text(item.nodeid, encoding="utf-8")
                return NOTICED
        return SURVIVED
