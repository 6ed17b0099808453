"""``python -m tests.mutations``: what share of 200 small mistakes in the product the tests notice.

``cover`` runs the tests and notes which of them execute each place; ``run`` tries each place against these, the
cheapest first, up to a minute of recorded processor time, and prints the share noticed. ``draw`` makes a new list;
``follow`` updates it: it finds places in moved code, and names those whose text is gone and what it drew instead.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
from pathlib import Path

from tests.mutations import places
from tests.mutations.places import LIST, ROOT, Place

_SERVICES = ("browser", "sign_in", "installed", "benchmarks")
"""Folders whose tests take minutes for a service to start."""
_ON_SERVICES = "not neo4j and not cluster and not phoenix and not postgres and not test_on_a_server and not milvus"
_PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "trying", "-p", "no:cacheprovider")


def main() -> int:
    """Draw, cover or run, as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("what", choices=["draw", "follow", "cover", "run"])
    parser.add_argument("--work", type=Path, default=Path(".mutations"), help="folder of what was found")
    parser.add_argument("--root", type=Path, default=ROOT, help="checkout whose product and tests these are")
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests for a place, by their recorded time")
    parser.add_argument("tests", nargs="*", help="tests that cover runs; without them all that need no service")
    options = parser.parse_intermixed_args()
    if options.what == "draw":
        places.write(places.drawn())
        return 0
    if options.what == "follow":
        return follow()
    work, root = options.work.absolute(), options.root.resolve()
    work.mkdir(exist_ok=True)
    found = places.located(places.listed(), root)
    (work / "table.json").write_text(json.dumps(rows_of(found, root)), encoding="utf-8")
    if options.what == "cover":
        return cover(work, root, options.tests)
    run(work, root, options.seconds)
    return report(work, found)


def follow() -> int:
    """Bring the list up to date with moved code; name what is gone, and what is drawn instead."""
    found = places.located(places.listed())
    taken = {(place.file, place.function) for place in found if place}
    others = (place for place in places.drawn(wanted=2 * places.WANTED) if (place.file, place.function) not in taken)
    now = [place or next(others) for place in found]
    for was, old, new in zip(places.listed(), found, now, strict=True):
        if old is None:
            print(f"gone: {was.file}: {was.function}: {was.text}; now {new.file}: {new.function}: {new.text}")
    places.write(now)
    return 0


def rows_of(found: list[Place | None], root: Path) -> dict[str, list[list[object]]]:
    """The table that processes read: positions by file."""
    numbers = {place: number for number, place in enumerate(found) if place}
    rows: dict[str, list[list[object]]] = {}
    for file in sorted({place.file for place in numbers}):
        path = root / file
        for place, node in places.places_of(file, ast.parse(path.read_text(encoding="utf-8"))):
            if place in numbers:
                position = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
                row: list[object] = [*position, type(node).__name__, place.mutation, numbers[place]]
                rows.setdefault(os.path.realpath(path), []).append(row)
    return rows


def cover(work: Path, root: Path, tests: list[str]) -> int:
    """Run the tests with every place in, and none acting."""
    seen = work / "seen"
    seen.mkdir(exist_ok=True)
    chosen = tests or [*(f"--ignore=tests/{folder}" for folder in _SERVICES), "-k", _ON_SERVICES]
    command = [*_PYTEST, *chosen]
    environment = _environment(work, WORKBENCH_TEST_MUTANTS_SEEN=str(seen))
    return subprocess.run(command, check=False, env=environment, cwd=root).returncode


def run(work: Path, root: Path, seconds: float) -> None:
    """Try each place that has no result yet."""
    covering, cost = _covering(work / "seen")
    plan = {str(number): _within(tests, cost, seconds) for number, tests in sorted(covering.items())}
    (work / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    named = {test.partition("::")[0] for tests in plan.values() for test in tests}
    files = sorted(file for file in named if (root / file).exists())
    command = [*_PYTEST, "-o", "timeout=120", *files]
    environment = _environment(work, WORKBENCH_TEST_MUTANTS_PLAN=str(work / "plan.json"))
    subprocess.run(command, env=environment, cwd=root, check=False)


def report(work: Path, found: list[Place | None]) -> int:
    """Print the share noticed, and every place that was not."""
    lines = (work / "plan.results").read_text(encoding="utf-8").splitlines()
    noticed = {int(number): test for number, test in map(json.loads, lines)}
    here = {number: place for number, place in enumerate(found) if place}
    for number, place in here.items():
        if not noticed.get(number):
            said = "survived" if number in noticed else "no test comes by"
            print(f"{number} {said}: {place.file}: {place.function}: {place.text}")
    share = sum(bool(noticed.get(number)) for number in here)
    print(f"{share} of {len(here)} noticed ({share / len(here):.0%})")
    return 0


def _covering(seen: Path) -> tuple[dict[int, set[str]], dict[str, float]]:
    """The tests that came by each place, and what each test costs."""
    covering: dict[int, set[str]] = {}
    cost: dict[str, float] = {}
    for file in seen.glob("*.jsonl"):
        for number, test in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            if test:
                covering.setdefault(number, set()).add(test.rpartition(" (")[0])
    for file in seen.glob("*.cost"):
        cost.update(map(json.loads, file.read_text(encoding="utf-8").splitlines()))
    return covering, cost


def _within(tests: set[str], cost: dict[str, float], seconds: float) -> list[str]:
    """The cheapest tests that fit into the time, one at least; those that did not run to their end are left out."""
    chosen: list[str] = []
    for test in sorted(tests & cost.keys(), key=lambda name: (cost[name], name)):
        seconds -= cost[test]
        if chosen and seconds < 0:
            break
        chosen.append(test)
    return chosen


def _environment(work: Path, **more: str) -> dict[str, str]:
    folder = str(LIST.parent / "switch")
    return {**os.environ, "PYTHONPATH": folder, "WORKBENCH_TEST_MUTANTS": str(work / "table.json"), **more}


if __name__ == "__main__":
    sys.exit(main())
