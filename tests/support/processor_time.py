"""Where the processor time of the tests goes: ``python -m pytest --processor-time``, in one process or several.

Wall times say more of what else a machine does. A test is charged for its own process and for those that it started and
waited for; a server that several tests share, for the last of them. Importing and collecting stand apart.
"""

from __future__ import annotations

import resource
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any

import pytest

COSTLIEST = 40
_folders: defaultdict[str, float] = defaultdict(float)
_files: defaultdict[str, float] = defaultdict(float)
_cases: Counter[str] = Counter()
_collecting: list[float] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processor-time", action="store_true", help="print seconds of processor per folder and file")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--processor-time"):
        config.pluginmanager.register(_Report() if hasattr(config, "workerinput") else _Table())


def used_s() -> float:
    """Processor time of this process, and of those that it started and that have ended."""
    own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


class _Report:
    """Notes what each test of this process takes."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        item.stash[_BEGAN] = used_s()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown":
            report.user_properties = [*report.user_properties, ("processor_s", used_s() - item.stash[_BEGAN])]
        return report

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["collecting_s"] = used_s()
        else:
            _collecting.append(used_s())


class _Table(_Report):
    """Adds up what the tests of all processes took."""

    def pytest_testnodedown(self, node: Any) -> None:
        _collecting.append(getattr(node, "workeroutput", {}).get("collecting_s", 0.0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        spent = dict(report.user_properties).get("processor_s")
        if report.when == "teardown" and isinstance(spent, float):
            file = report.nodeid.partition("::")[0]
            parts = file.split("/")
            folder = "/".join(parts[: 3 if parts[1] == "plugins" and len(parts) > 3 else 2])
            for counted, name in ((_folders, folder), (_files, file)):
                counted[name] += spent
            _cases[folder] += 1

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("seconds of processor")
        rows = [("importing and collecting", f"{sum(_collecting):.0f}", "")]
        rows += [(name, f"{spent:.0f}", str(_cases[name])) for name, spent in _costliest(_folders)]
        rows.append(("all", f"{sum(_collecting) + sum(_folders.values()):.0f}", str(sum(_cases.values()))))
        terminalreporter.write("\n".join(_table(rows)) + "\n\n")
        costliest = [(name, f"{spent:.0f}", "") for name, spent in _costliest(_files)[:COSTLIEST]]
        terminalreporter.write("\n".join(_table(costliest)) + "\n")


_BEGAN = pytest.StashKey[float]()


def _costliest(spent: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(spent.items(), key=lambda item: -item[1])


def _table(rows: Iterable[tuple[str, str, str]]) -> list[str]:
    return ["| folder | s | tests |", "| --- | ---: | ---: |", *(f"| {a} | {b} | {c} |" for a, b, c in rows)]
