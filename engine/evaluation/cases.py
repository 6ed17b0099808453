"""Questions with what should be found for them, and sets of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from hashlib import sha256
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from engine.errors import EvaluationError
from engine.model.language import language_of, same_wording
from engine.model.values import PassageId, RunRecord

ExpectationKind = Literal["passage", "source", "text"]
SAMPLE_SET = "samples"


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that a right search finds: a passage by id, any passage of a source, or one that contains a text."""

    kind: ExpectationKind
    value: str


@dataclass(frozen=True, slots=True)
class Case:
    """One question of a set."""

    id: str
    """Unique within its set."""
    question: str
    expected: tuple[Expectation, ...] = ()
    """Any of them counts as right; measures of recall count how many are found. Empty: not labelled."""
    language: str = ""
    """``zh``, ``en`` or ``other``; empty where no one looked."""
    kind: str = ""
    """What the data set says about the question, e.g. ``vague``."""
    answerable: bool | None = None
    """None where it is not known: then neither an answer nor an abstention counts as right or wrong."""
    gold_answers: tuple[str, ...] = ()
    """What a right answer says; any of them will do."""

    @property
    def labelled(self) -> bool:
        return bool(self.expected)

    @property
    def by_file(self) -> bool:
        """True if a label names a whole source: which of its passages are right is not known then."""
        return any(item.kind == "source" for item in self.expected)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values that :func:`case_from_dict` reads back."""
        return {**asdict(self), "expected": [asdict(item) for item in self.expected]}


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Cases that belong together, and the collection they are asked of."""

    name: str
    cases: tuple[Case, ...]
    collection: str = "samples"
    origin: str = ""
    """Where the cases came from, e.g. the name of a file."""
    author: str = ""
    """Who saved it, where people sign in."""

    def case(self, case_id: str) -> Case | None:
        return next((case for case in self.cases if case.id == case_id), None)


def case_from_dict(plain: Mapping[str, Any]) -> Case:
    """Read the output of :meth:`Case.to_dict`; raises ``EvaluationError.data_set_unusable`` if it cannot."""
    try:
        return _adapter().validate_python(plain)
    except ValidationError:
        raise EvaluationError.data_set_unusable(name="a case", cause="a field is missing or of another kind") from None


@cache
def _adapter() -> TypeAdapter[Case]:
    # Making one takes longer than reading thirty cases with it.
    return TypeAdapter(Case)


def case_of(record: RunRecord, expected: Iterable[PassageId] = ()) -> Case:
    """A finished run as a case: its question, with the passages that a person marked as right.

    Without any, those that the answer cites count as right; a run that abstained without either stays unlabelled,
    because an abstention does not say that there was nothing to find. The id depends on the question alone, so that
    adding the same question again replaces the case.
    """
    marked = tuple(dict.fromkeys(expected)) or tuple(dict.fromkeys(item.passage_id for item in record.citations))
    return Case(
        id=question_id(record.question),
        question=record.question,
        expected=tuple(Expectation("passage", passage_id) for passage_id in marked),
        language=language_of(record.question),
        kind="run",
        answerable=True if marked else None,
    )


def firsts(cases: Iterable[Case]) -> list[bool]:
    """Return whether no case before asks the same question, case and white space aside."""
    asked = [same_wording(case.question) for case in cases]
    place_of = {text: place for place, text in reversed(list(enumerate(asked)))}
    return [place_of[text] == place for place, text in enumerate(asked)]


def question_id(question: str) -> str:
    """Return the id of a question without a name."""
    return f"q-{sha256(question.strip().encode('utf-8', 'replace')).hexdigest()[:12]}"


@lru_cache(maxsize=1)
def sample_set() -> QuerySet:
    """The labelled questions that come with the program; those of kind ``unanswerable`` have nothing to find."""
    from engine.model.values import SAMPLE_COLLECTION
    from engine.samples import sample_questions

    cases = tuple(
        Case(
            id=item.id,
            question=item.question,
            expected=tuple(Expectation("passage", passage_id) for passage_id in item.expected),
            language=item.language,
            kind=item.kind,
            answerable=item.kind != "unanswerable",
            gold_answers=item.gold_answers,
        )
        for item in sample_questions()
    )
    return QuerySet(SAMPLE_SET, cases, SAMPLE_COLLECTION, origin="shipped")
