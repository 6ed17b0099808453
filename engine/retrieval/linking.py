"""Graph names in a text: the longest first, Latin ones as whole words. Pure (GH-02)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.builtin.scripts import one_script

LEAST_NAME = 2
"""Characters of the shortest name that is looked for: a single one stands in words that mean something else."""
LONGEST_NAME = 80
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[^\W_\u2e80-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af]")
"""Letters and digits of scripts that put spaces between words."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that stands in a text."""

    text: str
    """As it stands there."""
    name: str
    """As the graph has it, normalised and in simplified Chinese."""
    ids: tuple[str, ...]
    """Entities that it stands for."""


def mentions(text: str, names: Mapping[str, tuple[str, ...]]) -> tuple[Mention, ...]:
    """Names of a graph in a text, the first one first; of overlapping ones the longest alone.

    ``names`` are in NFKC, case-folded, in simplified Chinese, white space made one. English plurals are found by
    their singular and the other way round. Each name counts once.
    """
    folded, places = _folded(text)
    found = sorted(_matches(folded, names), key=lambda item: (item[0] - item[1], item[0]))
    taken = bytearray(len(folded))
    chosen = []
    for start, end, name in found:
        if not any(taken[start:end]):
            taken[start:end] = b"\x01" * (end - start)
            chosen.append((start, end, name))
    unique: dict[str, Mention] = {}
    for start, end, name in sorted(chosen):
        ids = _in_script_of(text, names[name])
        unique.setdefault(name, Mention(text[places[start] : places[end - 1] + 1], name, ids))
    return tuple(unique.values())


def _in_script_of(text: str, ids: tuple[str, ...]) -> tuple[str, ...]:
    """Keep the entities that are named in the script of the text; all where none is.

    A short form such as HbA1c is an alias in two languages, and the passages of the other one would only take places.
    """
    chinese = bool(_CHINESE.search(text))
    same_script = tuple(name for name in ids if bool(_CHINESE.search(name)) == chinese)
    return same_script or ids


def _matches(folded: str, names: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[int, int, str]]:
    """Start, end and name of everything that could be a mention."""
    longest = min(LONGEST_NAME, max(map(len, names), default=0)) + 2
    boundary = [_boundary(folded, place) for place in range(len(folded) + 1)]
    for start in range(len(folded)):
        if not boundary[start] or folded[start] == " ":
            continue
        for end in range(start + LEAST_NAME, min(len(folded), start + longest) + 1):
            if not boundary[end]:
                continue
            name = next((form for form in _forms(folded[start:end]) if form in names), None)
            if name is not None:
                yield start, end, name


def _boundary(text: str, place: int) -> bool:
    """Return whether a name may begin or end here: never inside a word of a script with spaces."""
    if place in (0, len(text)):
        return True
    return not (_LATIN.match(text[place - 1]) and _LATIN.match(text[place]))


def _forms(piece: str) -> Iterator[str]:
    """A piece of text and what it may be called in the graph."""
    yield piece
    if len(piece) <= LEAST_NAME or not piece[-1].isascii() or not piece[-1].isalpha():
        return
    if piece.endswith("ies"):
        yield f"{piece[:-3]}y"
    if piece.endswith("es"):
        yield piece[:-2]
    if piece.endswith("s"):
        yield piece[:-1]
    else:
        yield f"{piece}s"


def _folded(text: str) -> tuple[str, list[int]]:
    """The text as names are written, and where each character of it came from."""
    folded: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        for piece in one_script(unicodedata.normalize("NFKC", char).casefold()):
            if piece.isspace() and folded and folded[-1] == " ":
                continue
            folded.append(" " if piece.isspace() else piece)
            places.append(place)
    return "".join(folded), places
