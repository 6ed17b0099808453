"""One sentence of a page and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from components.common.markup import Node


@dataclass(frozen=True)
class Claim:
    said: str
    wrong: tuple[str, ...] = ()


def numbers(text: str) -> list[str]:
    """Every figure of a text, as it is written."""
    return re.findall(r"\d+(?:\.\d+)?", text)


def rows_of(tree: Node) -> Iterator[Node]:
    """Every row of the tables of a tree."""
    if tree.tag == "tr":
        yield tree
    for kid in tree.kids:
        if isinstance(kid, Node):
            yield from rows_of(kid)
