"""A pytest plugin that tries each mutation against tests that come by it, in a copy of the collected process.

Everything is imported and collected once; a mutation costs its tests alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest


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
    """The mutations of a plan, one after another, each in a process forked from this one."""

    def __init__(self, session: pytest.Session, tests: dict[str, list[str]], results: Path) -> None:
        self.session = session
        self.items = {item.nodeid: item for item in session.items}
        self.tests = tests
        self.results = results

    def all(self) -> None:
        """Try every mutation that has no result yet, and write each with the test that noticed it, a line each."""
        self.results.touch()
        done = {json.loads(line)[0] for line in self.results.read_text(encoding="utf-8").splitlines()}
        for number in (number for number in self.tests if number not in done):
            row = json.dumps([number, self._noticed(number)])
            with self.results.open("a", encoding="utf-8") as file:
                file.write(row + "\n")

    def _noticed(self, number: str) -> str:
        """The test that fails with the mutation, by itself too, and not without it; empty where none does."""
        tests = [test for test in self.tests[number] if test in self.items]
        while tests and (failed := self._failed(number, tests)):
            if self._failed(number, [failed]) and not self._failed("", [failed]):
                return failed
            tests.remove(failed)
        return ""

    def _failed(self, number: str, tests: list[str]) -> str:
        """The first of the tests that does not pass with this mutation."""
        at_hand = self.results.with_name("at-hand")
        pid = os.fork()
        if pid:
            os.waitpid(pid, 0)
            return at_hand.read_text(encoding="utf-8")
        os.environ["WORKBENCH_TEST_MUTANT"] = number
        self.session.config.pluginmanager.unregister(name="terminalreporter")
        try:
            self._run([self.items[test] for test in tests], at_hand)
        finally:
            os._exit(0)

    def _run(self, items: list[pytest.Item], at_hand: Path) -> None:
        for item, following in zip(items, [*items[1:], None], strict=True):
            at_hand.write_text(item.nodeid, encoding="utf-8")
            os.environ.pop("PYTEST_CURRENT_TEST", None)
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.session.testsfailed:
                return
        at_hand.write_text("", encoding="utf-8")
