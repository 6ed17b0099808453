"""The rooms of the program: few modules at the root of the engine, and no circle of imports anywhere."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]


def test_no_circle_of_imports() -> None:
    """Imports for types and those inside of functions included."""
    graph = grimp.build_graph("engine", "components", "pages")
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as found:
        pytest.fail(" -> ".join(found.args[1]))


def test_the_root_of_the_engine_stays_small() -> None:
    assert len(list((ROOT / "engine").glob("*.py"))) <= 5
