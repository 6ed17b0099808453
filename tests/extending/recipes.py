"""The recipes of CONTRIBUTING, and how a reader follows them: each block says where it goes."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(
    r"```(?:python|po)\n# (?P<file>[\w/.]+)(?:, (?P<how>in|before|after) (?P<mark>[^\n]+))?\n(?P<code>.*?)```",
    re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One piece of code of a recipe, and the place that the recipe names for it."""

    file: str
    how: str
    """``in``, ``before`` or ``after`` what ``mark`` names; empty for a new file."""
    mark: str
    code: str


def recipes() -> dict[str, list[Block]]:
    """The blocks of each recipe, by its title."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found: dict[str, list[Block]] = {}
    for section in re.split(r"^### ", text.split("\n## Extend it\n")[1], flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        body = body.split("\n## ")[0]
        found[title] = [Block(m["file"], m["how"] or "", m["mark"] or "", m["code"]) for m in _BLOCK.finditer(body)]
    return found


def follow(block: Block, root: Path) -> None:
    """Put a block where it says, in the copy of the program at ``root``; raises ``ValueError`` where there is none."""
    path = root / block.file
    if not block.how:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.code, encoding="utf-8")
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    if block.how == "after":
        place = _line_with(block.mark, lines) + 1
        indent = _indent_of(lines[place - 1])
    else:
        node = _named(block.mark, "\n".join(lines))
        if block.how == "before":
            place, indent = node.lineno - 1, ""
        elif node.lineno == node.end_lineno:
            lines[node.lineno - 1] = _within(lines[node.lineno - 1], block.code)
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            return
        else:
            place = _end_of(node, lines)
            indent = _indent_of(lines[place - 1]) if not isinstance(node, ast.ClassDef) else "    "
    code = [indent + line if line else "" for line in block.code.rstrip().splitlines()]
    blank = ["", ""] if block.how == "before" else []
    lines[place:place] = [*code, *blank]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _named(name: str, source: str) -> ast.ClassDef | ast.Assign | ast.AnnAssign:
    """The class or the assignment of this name at the top of a module."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Name) and target.id == name:
            return node
    raise ValueError(f"nothing of the name {name}")


def _end_of(node: ast.stmt, lines: list[str]) -> int:
    """The line after the last entry: closing brackets stay behind it."""
    place = node.end_lineno or node.lineno
    while not isinstance(node, ast.ClassDef) and not lines[place - 1].strip(" )]}"):
        place -= 1
    return place


def _within(line: str, code: str) -> str:
    """A collection on one line, with one entry more."""
    place = max(line.rindex(bracket) for bracket in ")]}" if bracket in line)
    return f"{line[:place]}, {code.strip().rstrip(',')}{line[place:]}"


def _line_with(text: str, lines: list[str]) -> int:
    found = [place for place, line in enumerate(lines) if text in line]
    if not found:
        raise ValueError(f"no line with {text}")
    return found[0]


def _indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
