"""A program with some of its settings decided: their branches are folded, and what nothing uses any more is left out.

Works on the text, so that comments and layout stay as they were written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_UNKNOWN = object()
_LEAVES = (ast.Name, ast.Constant, ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)


@dataclass(frozen=True, slots=True)
class _Edit:
    """Bytes of the text that others take the place of."""

    start: int
    end: int
    instead: bytes


def folded(text: str, known: Mapping[str, object]) -> str:
    """The program with every ``if``, conditional expression, ``and`` and ``or`` decided that ``known`` decides.

    ``known``: values of names that are compared with literals or stand alone. What follows a ``return`` or a ``raise``
    that became unconditional goes too.
    """
    while True:
        source = text.encode()
        edits = _outermost(list(_edits(ast.parse(text), source, known)))
        if not edits:
            return text
        for edit in sorted(edits, key=lambda item: -item.start):
            source = source[: edit.start] + edit.instead + source[edit.end :]
        text = source.decode()


def used_parts(text: str, roots: Sequence[str]) -> str:
    """The program without the functions, classes and values of its top level that none of ``roots`` leads to."""
    tree, lines = ast.parse(text), text.splitlines(keepends=True)
    chunks = list(_chunks(tree.body))
    names = {name: place for place, (node, _, _) in enumerate(chunks) for name in _defines(node)}
    wanted = [names[name] for name in roots]
    wanted += [place for place, (node, _, _) in enumerate(chunks) if isinstance(node, ast.Expr | ast.If)]
    kept: set[int] = set()
    while wanted:
        place = wanted.pop()
        if place not in kept:
            kept.add(place)
            used = {item.id for item in ast.walk(chunks[place][0]) if isinstance(item, ast.Name)}
            wanted += [names[name] for name in used if name in names]
    parts = []
    before = 0
    for place, (node, _, last) in enumerate(chunks):
        if place in kept or not _defines(node):
            parts.append("".join(lines[before:last]))
        before = last
    return "".join(parts)


def _chunks(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.stmt, int, int]]:
    """Statements of the top level, each with the docstring below it, and the lines they take."""
    for place, node in enumerate(body):
        after = body[place + 1] if place + 1 < len(body) else None
        if place and isinstance(node, ast.Expr) and isinstance(body[place - 1], ast.Assign | ast.AnnAssign):
            continue
        own = isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(after, ast.Expr)
        last = (after if own and after is not None else node).end_lineno
        yield node, node.lineno, last or node.lineno


def _defines(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [item.id for item in targets if isinstance(item, ast.Name)]


def _outermost(edits: Sequence[_Edit]) -> list[_Edit]:
    kept: list[_Edit] = []
    for edit in sorted(edits, key=lambda item: (item.start, -item.end)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept


def _edits(tree: ast.Module, source: bytes, known: Mapping[str, object]) -> Iterator[_Edit]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def span(node: ast.expr) -> tuple[int, int]:
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        return starts[node.lineno - 1] + node.col_offset, end

    for node in _inner(tree):
        for block in _blocks(node):
            yield from _dead(block, starts)
        if isinstance(node, ast.If) and (decided := _value(node.test, known)) is not _UNKNOWN:
            yield _branch(node, bool(decided), source, starts)
        elif isinstance(node, ast.IfExp) and (decided := _value(node.test, known)) is not _UNKNOWN:
            start, end = span(node.body if decided else node.orelse)
            yield _Edit(*span(node), source[start:end])
        elif isinstance(node, ast.BoolOp) and (shorter := _shorter(node, known)) is not None:
            joiner = b" and " if isinstance(node.op, ast.And) else b" or "
            yield _Edit(*span(node), joiner.join(source[slice(*span(item))] for item in shorter))


def _inner(tree: ast.Module) -> Iterator[ast.AST]:
    """All nodes but the leaves, most of them, in which nothing is left to decide."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(child for child in ast.iter_child_nodes(node) if not isinstance(child, _LEAVES))


def _shorter(node: ast.BoolOp, known: Mapping[str, object]) -> list[ast.expr] | None:
    """The operands that are left where some change nothing; None where nothing is left out."""
    neutral = isinstance(node.op, ast.And)
    values = [_value(item, known) for item in node.values]
    left = [
        item for item, value in zip(node.values, values, strict=True) if value is _UNKNOWN or bool(value) != neutral
    ]
    return left if left and len(left) < len(node.values) else None


def _value(test: ast.expr, known: Mapping[str, object]) -> object:
    """What a test comes to; ``_UNKNOWN`` where the known names do not decide it."""
    if isinstance(test, ast.Name):
        return known.get(test.id, _UNKNOWN)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        value = _value(test.operand, known)
        return value if value is _UNKNOWN else not value
    if isinstance(test, ast.BoolOp):
        values = [_value(item, known) for item in test.values]
        ends = isinstance(test.op, ast.Or)
        if any(value is not _UNKNOWN and bool(value) == ends for value in values):
            return ends
        return _UNKNOWN if _UNKNOWN in values else not ends
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id in known:
        (right,) = test.comparators
        if isinstance(right, ast.Constant) and isinstance(test.ops[0], ast.Eq):
            return known[test.left.id] == right.value
    return _UNKNOWN


def _branch(node: ast.If, decided: bool, source: bytes, starts: Sequence[int]) -> _Edit:
    """The lines of the branch that is taken, moved to where the ``if`` stood."""
    lines = source.splitlines(keepends=True)
    start, end = starts[node.lineno - 1], starts[node.end_lineno or node.lineno]
    is_elif = source[start:].lstrip().startswith(b"elif")
    if not decided and node.orelse and isinstance(node.orelse[0], ast.If) and _is_elif(node.orelse[0], lines):
        first = lines[node.orelse[0].lineno - 1]
        head = first if is_elif else first.replace(b"elif", b"if", 1)
        return _Edit(start, end, head + b"".join(lines[node.orelse[0].lineno : node.end_lineno]))
    taken = node.body if decided else node.orelse
    if is_elif:
        # Its lines belong to an ``else`` of what came before.
        indent = b" " * node.col_offset
        inside = _body_lines(node, taken, lines)
        return _Edit(start, end, indent + b"else:\n" + b"".join(inside) if taken else b"")
    inside = _body_lines(node, taken, lines)
    return _Edit(start, end, b"".join(line[4:] if line.strip() else line for line in inside))


def _is_elif(node: ast.If, lines: Sequence[bytes]) -> bool:
    return lines[node.lineno - 1].lstrip().startswith(b"elif")


def _body_lines(node: ast.If, taken: Sequence[ast.stmt], lines: Sequence[bytes]) -> Sequence[bytes]:
    """The lines of a branch with the comments above its first statement."""
    if not taken:
        return ()
    if taken is node.body:
        first = (node.test.end_lineno or node.lineno) + 1
    else:
        place = node.body[-1].end_lineno or node.lineno
        first = next(number for number in range(place + 1, len(lines)) if lines[number - 1].strip() == b"else:") + 1
    return lines[first - 1 : taken[-1].end_lineno]


def _blocks(node: ast.AST) -> Iterator[Sequence[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def _dead(block: Sequence[ast.stmt], starts: Sequence[int]) -> Iterator[_Edit]:
    """What stands behind a statement that leaves the block."""
    for _place, node in enumerate(block[:-1]):
        if isinstance(node, ast.Return | ast.Raise):
            yield _Edit(starts[node.end_lineno or 0], starts[block[-1].end_lineno or 0], b"")
            return
