"""How much wording a question shares with a passage, whether two say the same, and in which order drafts come."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from engine.builtin.terms import is_han, question_terms, terms
from engine.drafting.values import RULES, Draft, Rule

_ALIKE = 0.8
"""Share of the words of two questions together from which they say the same."""
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+")
PRIOR: dict[Rule, float] = {
    "figure": 0.9,
    "definition": 0.85,
    "way": 0.8,
    "cell": 0.75,
    "chat": 0.75,
    "heading": 0.7,
    "near_miss": 0.7,
    "condition": 0.65,
    "entry": 0.6,
}
"""Which drafts come first: about the share of each rule that somebody accepted who read them (docs/tune.md)."""


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
        bag = _bag(question)
        self._whole.add(tuple(_words(question)))
        for term in bag:
            self._by_term[term].append(bag)

    def has(self, question: str) -> bool:
        """Whether a question with the same words, or with nearly the same ones, was noted."""
        if tuple(_words(question)) in self._whole:
            return True
        bag = _bag(question)
        near = {id(other): other for term in bag for other in self._by_term.get(term, ())}
        return any(len(bag & other) >= _ALIKE * len(bag | other) for other in near.values())


def ordered(drafts: Sequence[Draft]) -> list[Draft]:
    """The best first, so that neither rules nor sources come twice in a row where there is another choice."""
    left = sorted(drafts, key=lambda item: (-worth(item), item.id))
    by_rule: dict[Rule, list[Draft]] = {rule: [item for item in left if item.rule == rule] for rule in RULES}
    taken_of: dict[Rule, int] = dict.fromkeys(RULES, 0)
    from_source: dict[str, int] = defaultdict(int)
    alike: dict[tuple[str, str], int] = defaultdict(int)

    def used(item: Draft) -> int:
        # "Disable Plugin" heads a section of fifty documents, and one question of that kind is enough for now.
        return from_source[item.source] + 3 * (alike[item.rule, item.quote] if item.rule == "heading" else 0)

    found: list[Draft] = []
    while any(by_rule.values()):
        rule = max(
            (rule for rule in RULES if by_rule[rule]),
            key=lambda item: (PRIOR[item] / (1 + taken_of[item]), -RULES.index(item)),
        )
        taken_of[rule] += 1
        draft = min(by_rule[rule], key=used)
        alike[draft.rule, draft.quote] += 1
        by_rule[rule].remove(draft)
        from_source[draft.source] += 1
        found.append(draft)
    return found


def worth(draft: Draft) -> float:
    """How promising a draft is: what its rule is worth, less for wording that is copied and for questions too long."""
    length = len(_words(draft.question)) / (2 if draft.language == "zh" else 1)
    long = max(0.0, length - 14) * 0.03
    copied = 0.1 * draft.shared + 0.02 * max(0, draft.run / (2 if draft.language == "zh" else 1) - 4)
    return PRIOR[draft.rule] + 0.05 * bool(draft.gold_answers) - long - copied


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _bag(question: str) -> frozenset[str]:
    return frozenset(question_terms(question))
