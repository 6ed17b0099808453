"""Places of the product where a fixed mutation may stand, how they are drawn, and how they are found in moved code.

A place is named by what it says, not by its line: the file and the function, the text of the expression, and which
one of equal texts it is. A function that has moved to another file is found by its name and the text.
"""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.mutations.switch.mutating import mutated

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("places.json")
SEED = 27
WANTED = 200
_TELLING = 30
"""Characters of a text that is found by itself, in a function of another name."""
_PRODUCT = ("engine", "components", "pages/*", "plugins")
"""Scripts right in ``pages`` are read by Streamlit, which no import sees."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Place:
    """One expression or statement of a function, and the mutation that stands there."""

    file: str
    function: str
    """Qualified by the classes and functions around it, e.g. ``Evaluation.figure``."""
    mutation: str
    text: str
    nth: int
    """Which of the equal texts in the function, from 0."""


def functions(tree: ast.AST, above: str = "") -> Iterator[tuple[str, Function]]:
    """Every function of a module with its qualified name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (*(ast.FunctionDef, ast.AsyncFunctionDef), ast.ClassDef)):
            name = f"{above}{node.name}"
            if not isinstance(node, ast.ClassDef):
                yield name, node
            yield from functions(node, f"{name}.")
        else:
            yield from functions(node, above)


def nodes_of(function: Function) -> Iterator[ast.expr | ast.stmt]:
    """Yield the nodes of a function's body in the order of its text, without inner functions, patterns, f-strings."""
    waiting: list[ast.AST] = list(reversed(function.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.JoinedStr, ast.pattern)):
            continue
        if isinstance(node, (ast.expr, ast.stmt)):
            yield node
        inside = [child for child in ast.iter_child_nodes(node) if not _annotates(node, child)]
        waiting.extend(reversed(inside))


def _annotates(node: ast.AST, child: ast.AST) -> bool:
    return isinstance(node, ast.AnnAssign) and child is node.annotation


def places_of(file: str, tree: ast.Module) -> Iterator[tuple[Place, ast.expr | ast.stmt]]:
    """Every place of a module with its node."""
    for name, function in functions(tree):
        seen: dict[tuple[str, str], int] = {}
        for node in nodes_of(function):
            if found := mutated(node):
                text = ast.unparse(node)
                nth = seen[found[0], text] = seen.get((found[0], text), -1) + 1
                yield Place(file, name, found[0], text, nth), node


def drawn(root: Path = ROOT, wanted: int = WANTED) -> list[Place]:
    """Draw places by chance with a fixed seed, one a function at most."""
    by_function: dict[tuple[str, str], list[Place]] = {}
    for file in _files(root):
        for place, _ in places_of(file, ast.parse((root / file).read_text(encoding="utf-8"))):
            by_function.setdefault((file, place.function), []).append(place)
    chance = random.Random(SEED)
    weights = {key: len(found) for key, found in by_function.items()}
    chosen: list[Place] = []
    for _ in range(min(wanted, len(by_function))):
        key = chance.choices(list(weights), list(weights.values()))[0]
        del weights[key]
        chosen.append(chance.choice(by_function[key]))
    return chosen


def listed() -> list[Place]:
    """The places of the repository's list."""
    return [Place(**row) for row in json.loads(LIST.read_text(encoding="utf-8"))]


def write(places: Iterable[Place]) -> None:
    """Write the list, one place a line."""
    rows = ",\n".join(json.dumps(asdict(place), ensure_ascii=False) for place in places)
    LIST.write_text(f"[\n{rows}\n]\n", encoding="utf-8")


def located(places: Iterable[Place], root: Path = ROOT) -> list[Place | None]:
    """Each place as it is named today; None where no such function holds the text any more."""
    today = _Today(root)
    return [today.of(place) for place in places]


class _Today:
    """The places of a tree, read file by file as they are asked for, all of them only for one that has moved."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.read: dict[str, list[Place]] = {}

    def of(self, place: Place) -> Place | None:
        """Find a place in its file, or in another one; a number alone stands in many functions of one name."""
        if place in self._in(place.file):
            return place
        ways: tuple[Callable[[Place], Hashable], ...] = (
            lambda one: (one.function, one.mutation, one.text, one.nth),
            lambda one: (Path(one.file).name, one.function, one.mutation, one.text, one.nth),
            lambda one: (
                (one.function.rpartition(".")[2], one.mutation, one.text, one.nth)
                if one.mutation != "constant"
                else one
            ),
            lambda one: (one.mutation, one.text) if len(one.text) > _TELLING else one,
        )
        for files in ([place.file], _files(self.root)):
            here = [one for file in files for one in self._in(file)]
            for way in ways:
                same = [one for one in here if way(one) == way(place)]
                if len(same) == 1:
                    return same[0]
        return None

    def _in(self, file: str) -> list[Place]:
        if file not in self.read:
            path = self.root / file
            tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.Module([], [])
            self.read[file] = [place for place, _ in places_of(file, tree)]
        return self.read[file]


def _files(root: Path) -> Iterator[str]:
    for folder in _PRODUCT:
        for path in sorted(root.glob(f"{folder}/**/*.py")):
            yield path.relative_to(root).as_posix()
