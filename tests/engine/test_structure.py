"""The rooms of the program: few modules at the root of the engine, and no circle of imports anywhere."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]


def test_no_circle_of_imports() -> None:
    """Imports for types and those inside of functions included."""
    graph = grimp.build_graph("engine", "components", "pages")
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    assert _circle(imports) == ()


def _circle(imports: dict[str, set[str]]) -> tuple[str, ...]:
    """The first circle of imports; empty where there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as found:
        return tuple(found.args[1])
    return ()


def test_a_circle_is_found() -> None:
    assert set(_circle({"a": {"b"}, "b": {"a"}})) == {"a", "b"}


def test_the_root_of_the_engine_stays_small() -> None:
    assert len(list((ROOT / "engine").glob("*.py"))) <= 5
