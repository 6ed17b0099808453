"""Put every listed mutation into the product as it is imported; which one acts is said by a variable.

Python imports this module at its start where its folder is in ``PYTHONPATH``; so do processes that tests start.
The files themselves stay as they are.
"""

import ast
import builtins
import json
import os
from importlib.machinery import SourceFileLoader
from typing import Any

_TABLE = os.environ.get("WORKBENCH_TEST_MUTANTS")
"""A JSON file: by path, the rows ``[line, column, end line, end column, kind, mutation, number]``."""
_SEEN = os.environ.get("WORKBENCH_TEST_MUTANTS_SEEN")
"""A folder for the tests that come by each place."""
_noted: set[tuple[int, str]] = set()


def _mutant(number: int) -> bool:
    """Whether this mutation acts; notes that the test at hand came by."""
    if _SEEN:
        test = os.environ.get("PYTEST_CURRENT_TEST", "")
        if (number, test) not in _noted:
            _noted.add((number, test))
            with open(os.path.join(_SEEN, f"{os.getpid()}.jsonl"), "a", encoding="utf-8") as file:
                file.write(json.dumps([number, test]) + "\n")
    return os.environ.get("WORKBENCH_TEST_MUTANT") == str(number)


class _Put(ast.NodeTransformer):
    """Write ``mutation if _mutant(number) else original`` at each place."""

    def __init__(self, rows: list[list[Any]], mutated: Any) -> None:
        self.rows = {tuple(row[:5]): row[6] for row in rows}
        self.mutated = mutated

    def visit(self, node: Any) -> Any:
        place = tuple(getattr(node, name, None) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))
        number = self.rows.get((*place, type(node).__name__))
        self.generic_visit(node)
        if number is None:
            return node
        _, changed = self.mutated(node)
        acts = ast.Call(ast.Name("_mutant", ast.Load()), [ast.Constant(number)], [])
        if changed is None:
            return ast.copy_location(ast.If(ast.UnaryOp(ast.Not(), acts), [node], []), node)
        return ast.copy_location(ast.IfExp(acts, changed, node), node)


def _install(table: dict[str, list[list[Any]]]) -> None:
    from mutating import mutated  # type: ignore[import-not-found]

    as_it_is = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> Any:
        rows = table.get(os.path.realpath(self.path))
        if rows is None:
            return as_it_is(self, fullname)
        tree = _Put(rows, mutated).visit(ast.parse(self.get_data(self.path)))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)

    SourceFileLoader.get_code = get_code  # type: ignore[assignment,method-assign]


if _TABLE:
    builtins._mutant = _mutant  # type: ignore[attr-defined]
    with open(_TABLE, encoding="utf-8") as _file:
        _install(json.load(_file))
