"""One sentence of a page and what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    said: str
    wrong: tuple[str, ...] = ()


def numbers(text: str) -> list[str]:
    """Every figure of a text, as it is written."""
    return re.findall(r"\d+(?:\.\d+)?", text)
