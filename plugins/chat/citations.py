"""The citations of an answer as a chat shows them: numbered from 1 in their order, as annotations, as footnotes.

Chat programs number the sources they get by order, so a marker that is the third of a run's passages would point
nowhere, or to another source, were it the first in the answer. The run keeps its own numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from engine.builtin.markers import markers_in
from engine.model.values import Citation, RunRecord

_MARKUP = re.compile(r"[\\`*\[\]!<>~$&]|(?<!\w)_|_(?!\w)")
"""What Markdown, HTML and formulas begin with: names of sources are text, whoever wrote them."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """A text whose markers are numbered by their first use."""

    text: str
    numbers: Mapping[int, int]
    """New numbers by those of the run."""
    places: tuple[tuple[int, int, int], ...]
    """Number of the run, begin and end of every marker."""


def numbered(text: str, markers: Collection[int]) -> Numbered:
    """Renumber the markers of a text that are among ``markers``; text after it changes nothing of this."""
    numbers: dict[int, int] = {}
    places: list[tuple[int, int, int]] = []
    pieces: list[str] = []
    length = end = 0
    for marker in markers_in(text):
        number = int(marker.parts[0]) if len(marker.parts) == 1 and marker.parts[0].isdigit() else 0
        if number not in markers:
            continue
        start, after = marker.start + len(marker.lead), text.index("]", marker.start) + 1
        new = f"[{numbers.setdefault(number, len(numbers) + 1)}]"
        pieces += [text[end:start], new]
        begin = length + start - end
        length, end = begin + len(new), after
        places.append((number, begin, length))
    return Numbered("".join([*pieces, text[end:]]), numbers, tuple(places))


def in_chat(record: RunRecord) -> Numbered:
    """The answer of a run with its citations numbered for a chat."""
    return numbered(record.answer, {item.marker for item in record.citations})


def url_citations(record: RunRecord, found: Numbered, link: str) -> list[dict[str, Any]]:
    """One ``url_citation`` for each marker, in the order of the text; titles of several passages differ."""
    cited = {item.marker: item for item in record.citations}
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": begin,
                "end_index": end,
                "title": f"{place_of(cited[marker])} [{found.numbers[marker]}]",
                "url": passage_link(link, cited[marker]),
            },
        }
        for marker, begin, end in found.places
    ]


def footnotes(record: RunRecord, found: Numbered, link: str) -> str:
    """Return the lines below the answer: its sources, and the run's address."""
    cited = {item.marker: item for item in record.citations}
    lines = [f"[{new}] {_plain(place_of(cited[old]))}" for old, new in found.numbers.items()]
    # Two spaces before its end keep a line apart from the next one in Markdown.
    return "\n\n" + "  \n".join([*lines, link])


def place_of(citation: Citation) -> str:
    """Source and section, in one line, and the surroundings that are cited in place of the passage."""
    parts = (citation.source, citation.section, *citation.around)
    return " › ".join(" ".join(part.split()) for part in parts if part.strip())


def passage_link(link: str, citation: Citation) -> str:
    """The page of the run, opened at the passage."""
    return f"{link}&passage={quote(citation.passage_id, safe='')}"


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", text)
