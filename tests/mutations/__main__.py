"""``python -m tests.mutations``: what share of 200 small mistakes in the product the tests notice.

``cover`` runs the tests and notes which of them execute each place; ``run`` tries each place against these, the
cheapest first, for at most a minute of processor time, and prints the share noticed. ``draw`` makes a new list;
``follow`` updates it: it finds places in moved code, names those whose text is gone, and draws as many others.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

from tests.mutations import places
from tests.mutations.places import LIST, ROOT, Place
from tests.mutations.switch.trying import LIMIT_S

_SERVICES = ("browser", "sign_in", "installed", "benchmarks")
"""Folders whose tests take minutes for a service to start."""
_ON_SERVICES = "not neo4j and not test_on_ray and not phoenix and not postgres and not test_on_a_server and not milvus"


def main() -> int:
    """Draw, cover or run, as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("what", choices=["draw", "follow", "cover", "run"])
    parser.add_argument("--work", type=Path, default=Path(".mutations"), help="folder of what was found")
    parser.add_argument("--root", type=Path, default=ROOT, help="checkout whose product and tests these are")
    parser.add_argument("--seconds", type=float, default=LIMIT_S, help="of tests for a place, by their recorded time")
    parser.add_argument("tests", nargs="*", help="tests that cover runs; without them all that need no service")
    options = parser.parse_intermixed_args()
    if options.what == "draw":
        places.write(places.drawn())
        return 0
    if options.what == "follow":
        return follow()
    work = options.work.absolute()
    work.mkdir(exist_ok=True)
    table = work / "table.json"
    if options.what == "cover":
        root = options.root.resolve()
        table.write_text(json.dumps(rows_of(places.located(places.listed(), root), root)), encoding="utf-8")
        return cover(work, root, options.tests)
    return run(work, options.root.resolve(), options.seconds)


def follow() -> int:
    """Bring the list up to date with moved code; name what is gone, and draw as many others."""
    found = places.located(places.listed())
    for place, now in zip(places.listed(), found, strict=True):
        if now is None:
            print(f"gone: {place.file}: {place.function}: {place.text}")
    kept = [place for place in found if place]
    others = (place for place in places.drawn(wanted=2 * places.WANTED) if place not in kept)
    places.write([*kept, *islice(others, places.WANTED - len(kept))])
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
    command = [sys.executable, "-m", "pytest", "-q", "-p", "trying", "-p", "no:cacheprovider", *chosen]
    environment = _environment(work, WORKBENCH_TEST_MUTANTS_SEEN=str(seen))
    return subprocess.run(command, check=False, env=environment, cwd=root).returncode


def run(work: Path, root: Path, seconds: float) -> int:
    """Try each place, and print what became of all."""
    covering, cost = _covering(work / "seen")
    plan = {str(number): _within(tests, cost, seconds) for number, tests in sorted(covering.items())}
    (work / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    files = sorted({test.partition("::")[0] for tests in plan.values() for test in tests})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "trying", "-p", "no:cacheprovider", *files]
    environment = _environment(work, WORKBENCH_TEST_MUTANTS_PLAN=str(work / "plan.json"))
    subprocess.run(command, env=environment, cwd=root, check=False)
    return report(work)


def report(work: Path) -> int:
    """Print the share noticed, and every place that was not."""
    listed = places.listed()
    lines = (work / "plan.results").read_text(encoding="utf-8").splitlines()
    said = {int(number): what for number, what, _ in map(json.loads, lines)}
    counts = Counter(said.get(number, "no test comes by") for number in range(len(listed)))
    for number, place in enumerate(listed):
        if said.get(number) not in ("noticed", "endless"):
            print(f"{number} {said.get(number, 'no test comes by')}: {place.file}: {place.function}: {place.text}")
    noticed = counts["noticed"] + counts["endless"]
    print(f"{noticed} of {len(listed)} noticed ({noticed / len(listed):.0%}); {dict(counts)}")
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
