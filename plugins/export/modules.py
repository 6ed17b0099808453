"""The workbench's own modules that a program needs, found by following imports from where it begins."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.version import ROOT

_OURS = "engine", "plugins"
_NAMED = re.compile(r"engine[\w.]*:\w+")
_DATA = re.compile(r'with_name\("([\w.-]+)"\)')


@dataclass(frozen=True, slots=True)
class _Import:
    """One import; ``within`` is the function that it stands in, empty at the head of a module."""

    module: str
    names: tuple[str, ...]
    within: str


@dataclass(frozen=True, slots=True)
class _Module:
    path: Path
    text: str
    imports: tuple[_Import, ...]
    used: frozenset[str]
    """Names and attributes that it mentions."""
    defined: frozenset[str]


class Modules:
    """Modules that ``entries`` import, directly or not, copied verbatim.

    An import inside a function counts where that function is mentioned, and unless it is of a module in ``without``,
    which the settings never reach; so does a class that a function names as ``module:Class``. A package that only
    hands on names of its modules keeps the lines of those that are asked for.
    """

    def __init__(self, entries: Iterable[str], without: tuple[str, ...] = ()) -> None:
        self._without = without
        self._modules: dict[str, _Module] = {}
        self._handed_on: dict[str, dict[str, set[str]]] = {}
        self._entries = tuple(entries)
        self._used: set[str] = set()
        self.packages: set[str] = set()
        """Top names of what is imported from other programs."""
        for entry in self._entries:
            self._add(entry)
        while self._follow():
            pass

    def __contains__(self, module: str) -> bool:
        return module in self._modules

    @property
    def files(self) -> dict[str, bytes]:
        """Every file by its path, data that modules read from their own folder among them."""
        found: dict[str, bytes] = {}
        for name, module in self._modules.items():
            found |= {_relative(module.path): module.text.encode()}
            data = (module.path.with_name(item) for item in _DATA.findall(module.text))
            found |= {_relative(path): path.read_bytes() for path in data if path.is_file()}
            for package in _packages_of(name):
                path = f"{package.replace('.', '/')}/__init__.py"
                found.setdefault(path, self._package(package).encode())
        return found

    def _package(self, package: str) -> str:
        """The head of a package: what it hands on."""
        lines = (
            f"from {module} import {', '.join(sorted(names))}\n"
            for module, names in sorted(self._handed_on.get(package, {}).items())
        )
        return "".join(lines)

    def _follow(self) -> bool:
        """Take in what functions import that are mentioned by now; whether anything was new."""
        before = len(self._modules)
        for name, module in list(self._modules.items()):
            for item in module.imports:
                if item.within and (item.within in self._used or name in self._entries):
                    self._take(item)
        return len(self._modules) > before

    def _take(self, item: _Import) -> None:
        top = item.module.partition(".")[0]
        if top not in _OURS:
            self.packages |= {top} - sys.stdlib_module_names
            return
        if item.within and any(f"{item.module}.".startswith(f"{name}.") for name in self._without):
            return
        path = _path_of(item.module)
        if path.name != "__init__.py":
            self._add(item.module)
            return
        for name in item.names:
            if _exists(f"{item.module}.{name}"):
                self._add(f"{item.module}.{name}")
            else:
                self._hand_on(item.module, name)

    def _hand_on(self, package: str, name: str) -> None:
        """Take the module behind a name of a package; the whole package where it defines the name itself."""
        for item in _module(package).imports:
            if item.module.startswith(_OURS) and (name in item.names or (item.names == ("*",) and _has(item, name))):
                self._handed_on.setdefault(package, {}).setdefault(item.module, set()).add(name)
                self._take(_Import(item.module, (name,), ""))
                return
        self._add(package)

    def _add(self, name: str) -> None:
        if name in self._modules:
            return
        self._modules[name] = module = _module(name)
        self._used |= module.used
        for item in module.imports:
            if not item.within:
                self._take(item)


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _packages_of(module: str) -> Iterator[str]:
    parts = module.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts)))


def _exists(module: str) -> bool:
    place = ROOT / module.replace(".", "/")
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def _path_of(module: str) -> Path:
    place = ROOT / module.replace(".", "/")
    return place.with_suffix(".py") if place.with_suffix(".py").is_file() else place / "__init__.py"


def _has(item: _Import, name: str) -> bool:
    return name in _module(item.module).defined


@cache
def _module(name: str) -> _Module:
    path = _path_of(name)
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    attributes = (node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return _Module(path, text, tuple(_imports(tree, "")), frozenset({*names, *attributes}), frozenset(_defined(tree)))


def _imports(node: ast.AST, within: str) -> Iterator[_Import]:
    """Every import below a node but those for type checkers."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom):
            yield _Import(child.module or "", tuple(item.name for item in child.names), within)
        elif isinstance(child, ast.Import):
            yield from (_Import(item.name, (), within) for item in child.names)
        elif isinstance(child, ast.Constant) and within and _NAMED.fullmatch(str(child.value)):
            module, _, name = str(child.value).partition(":")
            yield _Import(module, (name,), within)
        elif not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            inner = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else within
            yield from _imports(child, inner)


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (item.id for target in targets for item in ast.walk(target) if isinstance(item, ast.Name))
        elif isinstance(node, ast.ImportFrom):
            yield from (item.asname or item.name for item in node.names)
