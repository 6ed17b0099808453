"""One module of the engine as text: what it defines at its top level, and what its names stand for."""

from __future__ import annotations

import ast
import importlib.util
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ENGINE = "engine"


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or value at the top level of a module, with the lines it takes."""

    module: str
    name: str
    node: ast.stmt
    first: int
    """Line from 1, decorators included."""
    last: int
    """Line from 1, with the docstring below a value."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import binds: a name of a module, or the module itself where ``name`` is empty."""

    module: str
    name: str = ""

    @property
    def ours(self) -> bool:
        return self.module == ENGINE or self.module.startswith(f"{ENGINE}.")


@dataclass(frozen=True, slots=True)
class ModuleSource:
    """The text of a module with its top-level definitions and imports by name."""

    name: str
    path: Path
    lines: tuple[str, ...]
    defined: dict[str, Definition] = field(default_factory=dict)
    imported: dict[str, Imported] = field(default_factory=dict)
    stars: tuple[str, ...] = ()
    """Modules that it takes every public name from."""


@cache
def module_source(name: str) -> ModuleSource:
    """Read a module of the engine without running it."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ValueError(f"{name} has no source")
    path = Path(spec.origin)
    text = path.read_text(encoding="utf-8")
    found = ModuleSource(name, path, tuple(text.splitlines()))
    body = ast.parse(text).body
    stars: list[str] = []
    for place, node in enumerate(body):
        after = body[place + 1] if place + 1 < len(body) else None
        _take(found, node, after, stars)
    return ModuleSource(name, path, found.lines, found.defined, found.imported, tuple(stars))


def resolved(module: str, name: str) -> Definition | Imported | None:
    """What a name means in a module: a definition of ours, something imported, or None for what Python has itself."""
    source = module_source(module)
    if name in source.defined:
        return source.defined[name]
    if name in source.imported:
        item = source.imported[name]
        if not item.ours:
            return item
        if not item.name or _is_module(f"{item.module}.{item.name}"):
            return Imported(f"{item.module}.{item.name}" if item.name else item.module)
        return resolved(item.module, item.name)
    return next((found for star in source.stars if (found := resolved(star, name)) is not None), None)


@cache
def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _take(found: ModuleSource, node: ast.stmt, after: ast.stmt | None, stars: list[str]) -> None:
    if isinstance(node, ast.If):
        # What stands below ``if TYPE_CHECKING`` names types.
        for item in node.body:
            _take(found, item, None, stars)
    elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
        for alias in node.names:
            if alias.name == "*":
                stars.append(node.module or "")
            else:
                found.imported[alias.asname or alias.name] = Imported(node.module or "", alias.name)
    elif isinstance(node, ast.Import):
        for alias in node.names:
            found.imported[alias.asname or alias.name.partition(".")[0]] = Imported(alias.name)
    else:
        for name in _names_of(node):
            last = after.end_lineno if _is_docstring(after) and after is not None else node.end_lineno
            is_value = isinstance(node, ast.Assign | ast.AnnAssign)
            end = (last if is_value else node.end_lineno) or node.lineno
            found.defined[name] = Definition(found.name, name, node, _first_line(node), end)


def _names_of(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [item.id for target in targets for item in ast.walk(target) if isinstance(item, ast.Name)]


def _first_line(node: ast.stmt) -> int:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return min([node.lineno, *(item.lineno for item in node.decorator_list)])
    return node.lineno


def _is_docstring(node: ast.stmt | None) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
