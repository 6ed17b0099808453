"""How much wording a question shares with a passage, and whether two questions say the same."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from difflib import SequenceMatcher

from engine.builtin.terms import is_han, question_terms, terms

_ALIKE = 0.8
"""Share of the words of two questions together from which they say the same."""
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+")


def shared_with(question: str, passage: str) -> tuple[float, int]:
    """Share of the question's content words that a passage has, in [0, 1], and the longest stretch of words in common.

    A Chinese character counts as a word of the stretch.
    """
    asked = question_terms(question)
    has = frozenset(terms(passage))
    folded = unicodedata.normalize("NFKC", passage).casefold()
    met = sum(term in has or (is_han(term) and term in folded) for term in asked)
    one, other = _words(question), _words(passage)
    longest = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    return (round(met / len(asked), 4) if asked else 0.0), longest.size


class Told:
    """Questions that there are already: whether another says the same as one of them."""

    def __init__(self, questions: Iterable[str] = ()) -> None:
        self._by_term: dict[str, list[frozenset[str]]] = defaultdict(list)
        self._whole: set[tuple[str, ...]] = set()
        for question in questions:
            self.add(question)

    def add(self, question: str) -> None:
        """Note a question."""
        bag = frozenset(question_terms(question))
        self._whole.add(tuple(_words(question)))
        for term in bag:
            self._by_term[term].append(bag)

    def has(self, question: str) -> bool:
        """Whether a question with the same words, or with nearly the same ones, was noted."""
        if tuple(_words(question)) in self._whole:
            return True
        bag = frozenset(question_terms(question))
        near = {id(other): other for term in bag for other in self._by_term.get(term, ())}
        return any(len(bag & other) >= _ALIKE * len(bag | other) for other in near.values())


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
