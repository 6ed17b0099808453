"""The rooms of the program: few modules at the root of the engine, and no circle of imports anywhere."""

from __future__ import annotations

from tests import size


def test_no_circle_of_imports() -> None:
    """Imports for types and those inside of functions included."""
    assert size.cycles(size.import_graph()) == []


def test_the_longest_chain_of_imports_passes_few_folders() -> None:
    assert size.floors(size.import_graph()) <= 12


def test_the_root_of_the_engine_stays_small() -> None:
    assert len(list((size.ROOT / "engine").glob("*.py"))) <= 8
