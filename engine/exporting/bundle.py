"""Functions of the engine with all that they need, word for word, as one module that imports nothing of it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from engine.exporting.module_source import Definition, Imported, module_source, resolved

_DATA = re.compile(r'with_name\("([\w.]+)"\)')


@dataclass(frozen=True, slots=True)
class Use:
    """A place in the text of a definition where another name stands; offsets are bytes, as the parser counts them."""

    line: int
    start: int
    end: int
    meant: Definition | Imported


class Bundle:
    """What some names of the engine need, in the order in which it can be run.

    Each name is written ``module:name``. Names that two modules use for different things get the module behind them.
    Raises ``ValueError`` for a name that there is not, and where a function imports something of the engine itself.
    """

    def __init__(self, wanted: Iterable[str]) -> None:
        self._uses: dict[tuple[str, str], tuple[Use, ...]] = {}
        self._definitions: dict[tuple[str, str], Definition] = {}
        self._modules: list[str] = []
        self._imports: dict[str, Imported] = {}
        for item in wanted:
            module, _, name = item.partition(":")
            found = resolved(module, name)
            if not isinstance(found, Definition):
                raise ValueError(f"{item} is not defined by the engine")
            self._collect(found)
        self._order_modules()

    @cached_property
    def data(self) -> tuple[Path, ...]:
        """Files that the functions read from the folder in which they stand."""
        found = {
            module_source(item.module).path.with_name(name)
            for item in self._definitions.values()
            for name in _DATA.findall("\n".join(_lines(item)))
        }
        return tuple(sorted(found))

    @property
    def packages(self) -> frozenset[str]:
        """Top names of the packages that are imported, those of Python itself included."""
        inside = {name for item in self._definitions.values() for name in _imported_inside(item)}
        return frozenset({item.module.partition(".")[0] for item in self._imports.values()} | inside)

    def text(self, docstring: str) -> str:
        """The module, with ``docstring`` at its head."""
        parts = [f'"""{docstring}"""\n', "from __future__ import annotations\n", import_lines(self._imports)]
        for module in self._modules:
            own = sorted((item for item in self._distinct(module)), key=lambda item: item.first)
            parts.append(f"# {module.replace('.', '/')}.py\n")
            parts.extend(_spaced(own, {item.name: self._rewritten(item) for item in own}))
        return "\n".join(parts).rstrip("\n") + "\n"

    def _distinct(self, module: str) -> list[Definition]:
        own = [item for item in self._definitions.values() if item.module == module]
        return list({item.first: item for item in own}.values())

    @cached_property
    def _names(self) -> Mapping[tuple[str, str], str]:
        taken: dict[str, tuple[str, str]] = {}
        names: dict[tuple[str, str], str] = {}
        for module in self._modules:
            for key in (key for key in self._definitions if key[0] == module):
                name = key[1]
                if taken.get(name, key) != key or name in self._imports:
                    name = f"{name}_{module.rpartition('.')[2]}"
                taken[name] = key
                names[key] = name
        return names

    def _collect(self, definition: Definition) -> None:
        key = definition.module, definition.name
        if key in self._definitions:
            return
        self._definitions[key] = definition
        uses = self._uses[key] = _uses(definition)
        for use in uses:
            if isinstance(use.meant, Definition):
                self._collect(use.meant)
            else:
                name = _lines(definition)[use.line - definition.first].encode()[use.start : use.end].decode()
                self._imports[name] = use.meant

    def _order_modules(self) -> None:
        needed: dict[str, set[str]] = {}
        for (module, _), uses in self._uses.items():
            others = {use.meant.module for use in uses if isinstance(use.meant, Definition)} - {module}
            needed.setdefault(module, set()).update(others)

        def place(module: str) -> None:
            if module not in self._modules and module in needed:
                for other in sorted(needed.pop(module)):
                    place(other)
                self._modules.append(module)

        for module in sorted(needed):
            place(module)

    def _rewritten(self, definition: Definition) -> str:
        lines = [line.encode() for line in _lines(definition)]
        for use in sorted(self._uses[definition.module, definition.name], key=lambda use: (use.line, -use.start)):
            if isinstance(use.meant, Definition):
                place = use.line - definition.first
                meant = self._names[use.meant.module, use.meant.name].encode()
                lines[place] = lines[place][: use.start] + meant + lines[place][use.end :]
        text = b"\n".join(lines).decode()
        own, name = definition.name, self._names[definition.module, definition.name]
        if own != name:
            text = re.sub(rf"^((?:async )?def |class |){own}\b", rf"\g<1>{name}", text, count=1, flags=re.M)
        return text


def import_lines(imports: Mapping[str, Imported]) -> str:
    """Imports as a formatter orders them: those of Python itself first, then those of packages."""
    plain: dict[bool, list[str]] = {True: [], False: []}
    named: dict[bool, dict[str, list[str]]] = {True: {}, False: {}}
    for name, item in imports.items():
        standard = item.module.partition(".")[0] in sys.stdlib_module_names
        if item.name:
            said = name if item.name == name else f"{item.name} as {name}"
            named[standard].setdefault(item.module, []).append(said)
        else:
            plain[standard].append(f"import {item.module}" + ("" if item.module == name else f" as {name}"))
    blocks = []
    for standard in (True, False):
        lines = sorted(plain[standard])
        lines += [_from(module, sorted(said, key=_as_sorted)) for module, said in sorted(named[standard].items())]
        blocks += ["\n".join(lines) + "\n"] if lines else []
    return "\n".join(blocks) + "\n"


def _from(module: str, names: Sequence[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) <= 120 else f"from {module} import (\n    " + ",\n    ".join(names) + ",\n)"


def _as_sorted(name: str) -> tuple[int, str]:
    bare = name.partition(" ")[0]
    return (0 if bare.isupper() and len(bare) > 1 else 1 if bare[:1].isupper() else 2), bare.casefold()


def _lines(definition: Definition) -> tuple[str, ...]:
    return module_source(definition.module).lines[definition.first - 1 : definition.last]


def _spaced(definitions: Sequence[Definition], texts: Mapping[str, str]) -> Iterator[str]:
    """Blank lines as a formatter wants them: two around functions and classes, none between values."""
    for place, item in enumerate(definitions):
        is_value = isinstance(item.node, ast.Assign | ast.AnnAssign)
        before_value = place == 0 or isinstance(definitions[place - 1].node, ast.Assign | ast.AnnAssign)
        yield ("" if is_value and before_value else "\n\n" if place else "\n") + texts[item.name]
    yield "\n"


@cache
def _imported_inside(definition: Definition) -> frozenset[str]:
    """Top names of the packages that a function imports when it runs."""
    return frozenset(
        (node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name).partition(".")[0]
        for node in ast.walk(definition.node)
        if isinstance(node, ast.ImportFrom | ast.Import)
    )


@cache
def _uses(definition: Definition) -> tuple[Use, ...]:
    return tuple(_found_uses(definition))


def _found_uses(definition: Definition) -> Iterator[Use]:
    for node, bound in _names_in(definition.node, frozenset()):
        if isinstance(node, ast.Name):
            if node.id not in bound:
                meant = resolved(definition.module, node.id)
                if meant is not None and meant != definition and not (isinstance(meant, Imported) and meant.ours):
                    yield _use(node, meant)
        elif isinstance(node.value, ast.Name) and node.value.id not in bound:
            module = resolved(definition.module, node.value.id)
            if isinstance(module, Imported) and module.ours:
                meant = resolved(module.module, node.attr)
                if not isinstance(meant, Definition):
                    raise ValueError(f"{module.module}.{node.attr} is not defined by the engine")
                yield _use(node, meant)


def _use(node: ast.Name | ast.Attribute, meant: Definition | Imported) -> Use:
    return Use(node.lineno, node.col_offset, node.end_col_offset or 0, meant)


def _names_in(node: ast.AST, bound: frozenset[str]) -> Iterator[tuple[ast.Name | ast.Attribute, frozenset[str]]]:
    """Every name and attribute with the names that are bound around it by a function."""
    if isinstance(node, ast.ImportFrom) and Imported(node.module or "").ours:
        raise ValueError(f"line {node.lineno} imports {node.module} inside a function")
    if isinstance(node, ast.Name | ast.Attribute):
        yield node, bound
    inner = bound
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        inner = bound | _bound_by(node)
    for child in ast.iter_child_nodes(node):
        yield from _names_in(child, inner)


def _bound_by(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    given = {item.arg for item in ast.walk(function.args) if isinstance(item, ast.arg)}
    stored = {item.id for item in ast.walk(function) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}
    return frozenset(given | stored)
