"""A panel is one file: ``view`` draws values and reaches no engine, ``panel`` takes the engine."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ROOT / "pages" / "parts"
Function = ast.FunctionDef | ast.AsyncFunctionDef
_CALLS_ENGINE = {"engine", "get_engine"}
_WITH_ONE_USER = {
    "components.picture.ranks",
    "components.picture.routes",
    "components.runs.compare",
    "components.runs.compare_evidence",
    "components.runs.report",
    "components.runs.report_passages",
    "components.runs.run_list",
}
"""Modules that still wait to be part of the file that uses them; this list only grows shorter."""


def panels() -> Iterator[tuple[str, dict[str, Function]]]:
    """Yield each module of ``pages/parts`` that has ``view`` or ``panel``, with its functions by name."""
    for path in sorted(PARTS.rglob("*.py")):
        functions = functions_of(path.read_text("utf-8"))
        if functions.keys() & {"view", "panel"}:
            yield str(path.relative_to(PARTS)), functions


def functions_of(source: str) -> dict[str, Function]:
    return {item.name: item for item in ast.parse(source).body if isinstance(item, Function)}


def reached(functions: dict[str, Function], start: str) -> Iterator[Function]:
    """Yield the functions of a module that ``start`` names, itself first, at any depth."""
    waiting, seen = [start], set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in functions:
            continue
        seen.add(name)
        yield functions[name]
        waiting += [item.id for item in ast.walk(functions[name]) if isinstance(item, ast.Name)]


def engines_in(function: Function) -> list[str]:
    """Return the names by which a function reaches an engine: its parameters, their types, and what it calls."""
    args = function.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
    typed = [item.arg for item in every if item.annotation and "Engine" in names_in(item.annotation)]
    return typed + sorted({item.arg for item in every} & {"engine"}) + sorted(names_in(function) & _CALLS_ENGINE)


def names_in(tree: ast.AST) -> set[str]:
    return {item.id for item in ast.walk(tree) if isinstance(item, ast.Name)}


@pytest.mark.parametrize(("path", "functions"), [pytest.param(*found, id=found[0]) for found in panels()])
def test_a_view_reaches_no_engine_and_a_panel_takes_it_first(path: str, functions: dict[str, Function]) -> None:
    reaching = {item.name: found for item in reached(functions, "view") if (found := engines_in(item))}
    assert not reaching, f"{path}: view reaches an engine through {reaching}"
    if (panel := functions.get("panel")) and "engine" in (names := [item.arg for item in panel.args.args]):
        assert names[0] == "engine", path


@pytest.mark.parametrize(
    "source",
    [
        "def view(values, machine: Engine): ...",
        "def view(values, engine): ...",
        "def view(values): inner(values)\ndef inner(values): get_engine().runs()",
        "def view(values): list(map(inner, values))\ndef inner(engine: Engine): ...",
    ],
)
def test_an_engine_is_found_wherever_a_view_reaches_it(source: str) -> None:
    functions = functions_of(source)
    assert any(engines_in(item) for item in reached(functions, "view"))


def test_what_only_one_file_draws_with_stands_in_that_file() -> None:
    imports = grimp.build_graph("components", "pages", "plugins", "engine", cache_dir=None)
    modules = [name for name in imports.modules if name.startswith("components.") and name.count(".") == 2]
    folders = {path.name for path in PARTS.iterdir()} | {"picture"}
    single = {
        name
        for name in modules
        if name.split(".")[1] in folders and len(imports.find_modules_that_directly_import(name)) == 1
    }
    assert single <= _WITH_ONE_USER
