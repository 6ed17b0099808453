"""Spans of a passage that contain the question's terms, for a component to mark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from engine.model.values import RunRecord

Segment = tuple[str, bool]
"""A stretch of text and whether it is marked."""

_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9'’-]{2,}")
_HAN_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]{2,}")
_UNSAID = frozenset(
    _LATIN_WORD.findall(
        "the and for are was were what which who whom whose when where why how does did can could would should with "
        "from this that these those there have has had its his her their your you about into than then them they not "
        "but any some most more very will may might must also only tell explain please describe define mean means "
        "between many much long often first use used one two"
    )
)
_UNSAID_HAN = frozenset("的了是在有和与吗呢吧么什怎哪会能不没我你他她它这那些个太很一为何如多少几谁及或而请要可")
"""Characters that carry no subject: a pair that holds one of them marks nothing."""


def question_terms(record: RunRecord) -> tuple[str, ...]:
    """The terms of the question: those the grader named as covered or missing, else its words."""
    named = [
        term
        for current in record.rounds
        for verdict in current.verdicts.values()
        for term in (*verdict.covered, *verdict.missing)
    ]
    return _distinct(named) or _distinct(_words(record.question))


def query_terms(query: str) -> tuple[str, ...]:
    """The words of a query that carry a subject."""
    return _distinct(_words(query))


def segments(text: str, terms: Sequence[str]) -> tuple[Segment, ...]:
    """The text cut where marks begin and end; joined again it is the text itself.

    Latin terms match whole words with a common ending, case apart; others match wherever they stand.
    """
    pattern = "|".join(_matching(term) for term in sorted(terms, key=len, reverse=True) if term.strip())
    if not pattern:
        return ((text, False),) if text else ()
    found: list[Segment] = []
    end = 0
    for match in re.finditer(pattern, text, re.IGNORECASE):
        if match.start() > end:
            found.append((text[end : match.start()], False))
        found.append((match.group(), True))
        end = match.end()
    if end < len(text):
        found.append((text[end:], False))
    return tuple(found)


def _matching(term: str) -> str:
    escaped = re.escape(term.strip())
    if not term.isascii():
        return escaped
    return rf"(?<![A-Za-z0-9]){escaped}(?:s|es|ed|ing|['’]s)?(?![A-Za-z0-9])"


def _words(question: str) -> list[str]:
    latin = [word for word in _LATIN_WORD.findall(question) if word.lower() not in _UNSAID]
    # Without a dictionary every pair of neighbouring characters is tried; pairs that no passage holds mark nothing.
    pairs = [run[at : at + 2] for run in _HAN_RUN.findall(question) for at in range(len(run) - 1)]
    return latin + [pair for pair in pairs if not _UNSAID_HAN.intersection(pair)]


def _distinct(terms: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term for term in terms if term.strip()))
