"""Drafted question, from the passage that answers it to the decision on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from typing import Any, Literal

from pydantic import TypeAdapter

from engine.evaluation.cases import Case, Expectation
from engine.model.language import normalised_query
from engine.model.values import PassageId

Rule = Literal["definition", "figure", "heading", "cell", "entry", "way", "condition", "near_miss", "chat"]
"""What made a question: ``chat`` for a chat model. The others stand in older drafts alone, which rules have made."""
State = Literal["open", "accepted", "refused"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A question that counts nowhere until it is accepted."""

    id: str
    collection: str
    question: str
    rule: Rule
    language: str
    passages: tuple[PassageId, ...] = ()
    """Any of them answers it; none where nothing is meant to, as in some older drafts."""
    source: str = ""
    quote: str = ""
    gold_answers: tuple[str, ...] = ()
    answerable: bool = True
    shared: float = 0.0
    """Share of the question's content words that its passage has too, in [0, 1]."""
    run: int = 0
    """Words, or Chinese characters, of the longest stretch that question and passage have in common."""
    swapped: tuple[str, str] = ("", "")
    """What was put in the place of what, in an older question that nothing is meant to answer."""
    by: str = ""
    """The chat model that wrote it; empty in older drafts that a rule made."""

    def case(self) -> Case:
        """The question as a case of a query set."""
        return Case(
            id=self.id,
            question=self.question,
            expected=tuple(Expectation("passage", passage_id) for passage_id in self.passages),
            language=self.language,
            kind="near_miss" if self.rule == "near_miss" else "drafted",
            answerable=self.answerable,
            gold_answers=self.gold_answers,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values that :func:`draft_from_dict` reads back."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Kept:
    """A draft as it is kept, with what was decided about it."""

    draft: Draft
    state: State
    made_at: str
    """ISO 8601, UTC."""
    set_name: str = ""
    """The query set that it was accepted into."""
    decided_at: str = ""
    author: str = ""
    """Who decided, where people sign in."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values, those of the draft among them."""
        own = {"state": self.state, "set": self.set_name, "made_at": self.made_at, "decided_at": self.decided_at}
        return {**self.draft.to_dict(), **own}


def draft_id(collection: str, question: str) -> str:
    """Return the id of a draft: equal for one question of a collection, however it is spelt."""
    return f"d-{sha256(f'{collection}|{normalised_query(question)}'.encode('utf-8', 'replace')).hexdigest()[:12]}"


def draft_from_dict(plain: Mapping[str, Any]) -> Draft:
    """Read the output of :meth:`Draft.to_dict`; raises ``ValueError`` if it cannot."""
    return _adapter().validate_python(plain)


@cache
def _adapter() -> TypeAdapter[Draft]:
    return TypeAdapter(Draft)
