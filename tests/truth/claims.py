"""One sentence of a page and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    said: str
    wrong: tuple[str, ...] = ()
