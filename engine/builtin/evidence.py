"""Features of a passage for a question, as numbers and terms: pure, deterministic, one passage at a time."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from engine.builtin.answer_kind import Asked, answer_strength, asked_by
from engine.builtin.code_names import has_name, names_in
from engine.builtin.failure_analysis import asking_clauses, other_names
from engine.builtin.scripts import one_script
from engine.builtin.terms import LEAST, RARE, is_han, surface_terms, terms, weight_of, without_asking
from engine.model.language import language_of, sentences
from engine.model.values import AnswerKind, Language

COVERED_FROM = 0.6
"""Credit from which a term counts as covered: an exact form, a related form, or most of a long Chinese word."""
_RELATED = 0.6
"""Credit for an English word that shares its beginning with the term (treated, treatment)."""
_SAME_CHARACTERS = 0.5
"""Most credit for a Chinese word whose characters stand apart: related words often share one (颁布, 颁发)."""
_OTHER_NAME = 0.8
"""Credit for a term of which the text has another name (passed out, unconscious); tried: 0.4 to 1."""
_SHARED_PREFIX = 5
_UNSAID = 2.3
"""Weight of what a question leaves unsaid, about one term: covering the one word of "diabetes" is weak evidence,
covering six of six is strong. Fitted figures do not change between 1 and 4; without it, one common word made P 0.95."""
_NEAR = 0.85
"""Windows this close to the best one are looked through for the answer."""
LEAST_PART = 3
"""Terms that a part of a compound question needs to be judged alone: "and when?" says nothing by itself."""
_MOST_SENTENCES = 200
"""Beyond this a passage is a document; the rest only counts for the coverage as a whole."""
_UNMARKED: frozenset[AnswerKind] = frozenset({"way"})
"""Kinds whose connectives are no evidence: manuals say how in plain commands ("Set X to Y")."""
_ASKS = re.compile(r"[?？][\"'”’）)]*$")
_GAP = re.compile(r"(?<=[\u3400-\u9fff，。、；：]) +(?=[\u3400-\u9fff\w])|(?<=\w) +(?=[\u3400-\u9fff])")
_SAYS = (
    r"(?:is|are|means|refers? to|stands for|allows?|lets|enables?|provides?)\b"
    r"|是(?!否|不是)|指|即|意为|表示|用于|用来|允许|可以|代表"
)
_DEFINES = 0.8
"""What a sentence that defines the word counts, as a share of phrases."""
_MENTIONED = 0.5
"""What the best sentence counts where a word is asked about that no sentence defines and no heading names."""
_HAN_RUN = re.compile(r"[\u3400-\u9fff]+")

FEATURES = (
    "similarity",
    "coverage",
    "sentence",
    "phrase",
    "hard_gap",
    "hard_absent",
    "soft_gap",
    "heading",
    "last_heading",
    "names_absent",
    "names_headed",
)
"""Names of the numbers in :attr:`Evidence.features`, in order.

``coverage`` and ``sentence``: share of the question's weight in the whole passage and in its best sentence;
``phrase``: share of its phrases; ``hard_gap``, ``soft_gap``: how much less of the question stands around an answer of
the kind asked for than in the best window; ``hard_absent``: no such answer anywhere. ``heading``, ``last_heading``:
share of the question's weight in all that stands above the passage (0 for a question of one term, whose topic is what
a heading names), and in its last heading; ``names_absent``,
``names_headed``: share of the question's names from code (``max_age``) that stand nowhere, and that stand above it.
"""

HARD_KINDS: frozenset[AnswerKind] = frozenset({"date", "number", "person"})
"""Kinds whose presence can be seen in the text itself; the others are told by connectives and are softer evidence."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read once."""

    text: str
    language: Language
    forms: Mapping[str, str]
    """Content terms and how the question writes them."""
    weights: tuple[float, ...]
    """Square root of the IDF of each term; tried: plain IDF and equal weights tell right passages less well."""
    asked: Asked
    phrases: Mapping[str, float]
    """Neighbouring terms (Latin) and characters (Chinese), each with its weight."""
    names: Mapping[str, tuple[tuple[str, ...], ...]]
    """Other names of terms, each name as the terms that a text must have."""
    code_names: tuple[str, ...] = ()
    parts: tuple[Question, ...] = ()
    """What a compound question asks one after the other, as questions; a passage may answer one of them alone."""

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(self.forms)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Features of a passage for a question."""

    features: tuple[float, ...]
    """In the order of :data:`FEATURES`."""
    covered: tuple[str, ...]
    missing: tuple[str, ...]
    """Terms of the question as the question writes them, in its order."""
    headed: tuple[str, ...]
    """Those covered that stand in what is above the passage and not in the passage itself."""
    wanted: AnswerKind
    wanted_found: bool | None


def read_question(text: str) -> Question:
    """Terms, weights, kind of answer and parts of a question; a question without terms is no error."""
    text = one_script(text)
    clauses = asking_clauses(text)
    parts = [_read(clause.strip()) for clause in clauses] if len(clauses) > 1 else []
    return replace(_read(text), parts=tuple(part for part in parts if len(part.terms) >= LEAST_PART))


def _read(text: str) -> Question:
    forms = surface_terms(text, question=True)
    language = language_of(text)
    return Question(
        text=text,
        language=language,
        forms=forms,
        weights=tuple(math.sqrt(_weight(term, language)) for term in forms),
        asked=asked_by(text),
        phrases=_phrases(text, tuple(forms)),
        names=_names(text, tuple(forms)),
        code_names=names_in(text),
    )


def _weight(term: str, language: Language) -> float:
    # In a Chinese question a word in Latin script is a name, however common the word is in English: key, body, model.
    return RARE if language == "zh" and term.isascii() and term.isalpha() else weight_of(term)


def weigh(question: Question, text: str, similarity: float, *, heading: str = "") -> Evidence:
    """Weigh one passage against a question.

    ``similarity`` is that of the question as asked with the passage, in [0, 1]; ``heading`` is what stands above the
    passage: its heading path on the first line, then what it continues. Its words count as covered but hold no answer.
    A sentence that asks is no window, and a passage that only asks covers nothing: repeating a question does not
    answer it.
    """
    units, rest = _units(text)
    tells = any(not unit.asks for unit in units)
    above = _Unit.of(_folded(heading))
    body = _joined([*units, rest]) if tells else _Unit.of("")
    whole = _joined([above, body])
    apart = _in_longer_names(question, whole)
    lead = _credits(question, above, apart) if heading else []
    rows = [_credits(question, unit, apart) for unit in units]
    own = _credits(question, body, apart)
    total = _most(own, lead)
    windows = _windows(units, rows, lead, question.weights)
    said = [row for unit, row in zip(units, rows, strict=True) if not unit.asks]
    said_units = [unit for unit in units if not unit.asks]
    single = max((_share(_most(row, lead), question.weights) for row in said), default=0.0)
    defined = _after_one_word(question) and _defines(question, said_units)
    gaps, found = _answers(question, windows)
    forms = tuple(question.forms.values())
    return Evidence(
        features=(
            similarity,
            _share(total, question.weights),
            single if defined or any(lead) or not _after_one_word(question) else _MENTIONED * single,
            _phrase_share(question, whole) if question.phrases else _DEFINES * defined,
            *gaps,
            *_above(question, above, lead, whole, apart),
        ),
        covered=tuple(form for form, credit in zip(forms, total, strict=True) if credit >= COVERED_FROM),
        missing=tuple(form for form, credit in zip(forms, total, strict=True) if credit < COVERED_FROM),
        headed=tuple(form for form, here, most in zip(forms, own, total, strict=True) if here < COVERED_FROM <= most),
        wanted=question.asked.kind,
        wanted_found=found,
    )


def _answers(question: Question, windows: Sequence[_Window]) -> tuple[tuple[float, float, float], bool | None]:
    """``hard_gap``, ``hard_absent`` and ``soft_gap``, and whether an answer of the kind asked for is near the terms."""
    if question.asked.kind == "other":
        return (0.0, 0.0, 0.0), None
    best = max((window.coverage for window in windows), default=0.0)
    answers = [answer_strength(question.asked, window.text) for window in windows]
    answering = max((window.coverage * answer for window, answer in zip(windows, answers, strict=True)), default=0.0)
    nearest = _NEAR * best if question.terms else 0.0
    found = any(
        answer > 0 and window.coverage >= nearest and (best > 0 or not question.terms)
        for window, answer in zip(windows, answers, strict=True)
    )
    gap = best - answering
    if question.asked.kind in HARD_KINDS:
        return (gap, float(not any(answers)), 0.0), found
    return (0.0, 0.0, gap if question.asked.kind not in _UNMARKED else 0.0), found


def _in_longer_names(question: Question, whole: _Unit) -> frozenset[str]:
    """Terms of names that a text has inside longer ones alone: ``max_age_ms`` says nothing of ``max_age``."""
    if not question.code_names:
        return frozenset()
    text = whole.text.casefold()
    longer = [name for name in question.code_names if name in text and not has_name(text, name)]
    return frozenset(term for name in longer for term in terms(name))


def _above(
    question: Question, above: _Unit, lead: Sequence[float], whole: _Unit, apart: frozenset[str]
) -> tuple[float, float, float, float]:
    """``heading``, ``last_heading``, ``names_absent`` and ``names_headed``."""
    path = above.text.partition("\n")[0]
    last = path.rpartition(" > ")[2]
    ending = lead if last == above.text else _credits(question, _Unit.of(last), apart) if lead else []
    names = question.code_names
    absent = headed = 0.0
    if names:
        text, heading = whole.text.casefold(), above.text.casefold()
        absent = sum(not has_name(text, name) for name in names) / len(names)
        headed = sum(has_name(heading, name) for name in names) / len(names)
    whole_path = _share(lead, question.weights) if len(question.terms) > 1 else 0.0
    return whole_path, _share(ending, question.weights), absent, headed


@dataclass(frozen=True, slots=True)
class _Unit:
    text: str
    stems: tuple[str, ...]
    known: frozenset[str]
    asks: bool

    @classmethod
    def of(cls, text: str) -> _Unit:
        found = tuple(terms(text))
        return cls(text, found, frozenset(found), _ASKS.search(text) is not None)


@lru_cache(maxsize=1_000)
def _units(text: str) -> tuple[tuple[_Unit, ...], _Unit]:
    """The sentences of a text, and all behind the last one that is looked at: each round reads a passage again."""
    parts = sentences(_folded(text))
    return tuple(_Unit.of(part) for part in parts[:_MOST_SENTENCES]), _Unit.of("\n".join(parts[_MOST_SENTENCES:]))


def _joined(units: Sequence[_Unit]) -> _Unit:
    stems = tuple(stem for unit in units for stem in unit.stems)
    return _Unit("\n".join(unit.text for unit in units), stems, frozenset(stems), asks=False)


@dataclass(frozen=True, slots=True)
class _Window:
    text: str
    coverage: float


def _folded(text: str) -> str:
    # Spaces between Chinese words come from copying out of PDF and web pages, and would hide words from a substring.
    return _GAP.sub("", one_script(unicodedata.normalize("NFKC", text)))


def _credits(question: Question, unit: _Unit, apart: frozenset[str]) -> list[float]:
    """Score how far a text covers each term of a question, in its own form or by another name; 0 for ``apart``."""
    found = [0.0 if term in apart else _credit(term, unit) for term in question.terms]
    for at, term in enumerate(question.terms):
        if (
            found[at] < _OTHER_NAME
            and term not in apart
            and any(_has_name(name, unit) for name in question.names.get(term, ()))
        ):
            found[at] = _OTHER_NAME
    return found


def _has_name(name: tuple[str, ...], unit: _Unit) -> bool:
    return all(part in unit.text if is_han(part) else part in unit.known for part in name)


def _credit(term: str, unit: _Unit) -> float:
    """Score how far a text covers a term, in [0, 1]."""
    if is_han(term):
        if term in unit.text:
            return 1.0
        pieces = _bigrams(term)
        by_pairs = 0.8 * sum(piece in unit.text for piece in pieces) / len(pieces) if len(pieces) > 1 else 0.0
        by_characters = _SAME_CHARACTERS * sum(char in unit.text for char in term) / len(term) if pieces else 0.0
        return max(by_pairs, by_characters)
    if term in unit.known:
        return 1.0
    if len(term) >= _SHARED_PREFIX and term.isalpha():
        start = term[: max(_SHARED_PREFIX, len(term) - 3)]
        shorter = any(term[:length] in unit.known for length in range(_SHARED_PREFIX, len(term)))
        return _RELATED if shorter or any(word.startswith(start) for word in unit.known) else 0.0
    return 0.0


def _share(credits: Sequence[float], weights: Sequence[float]) -> float:
    """Share of the question's weight that is covered, shrunk for short questions; 0 for one without terms."""
    mass = sum(credit * weight for credit, weight in zip(credits, weights, strict=True)) if credits else 0.0
    return mass / (sum(weights) + _UNSAID)


def _windows(
    units: Sequence[_Unit], rows: Sequence[Sequence[float]], lead: Sequence[float], weights: Sequence[float]
) -> list[_Window]:
    windows: list[_Window] = []
    for at, unit in enumerate(units):
        if not unit.asks:
            windows.append(_Window(unit.text, _share(_most(rows[at], lead), weights)))
        if at + 1 < len(units) and not (unit.asks and units[at + 1].asks):
            said = [part.text for part in units[at : at + 2] if not part.asks]
            windows.append(_Window(" ".join(said), _share(_most(_most(rows[at], rows[at + 1]), lead), weights)))
    return windows


def _most(first: Sequence[float], second: Sequence[float]) -> list[float]:
    return [max(pair) for pair in zip(first, second, strict=True)] if second else list(first)


def _names(text: str, asked: Sequence[str]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Other names of the question's terms; those of an expression go to every term of it."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for expression, others in other_names(text):
        parts = frozenset(terms(expression))
        split = tuple((name,) if is_han(name) else tuple(terms(name)) for name in others)
        named = tuple(name for name in split if name)
        for term in asked:
            # Expression and question are not cut into words in the same way: 老想喝水, 喝水.
            if term in parts or (is_han(term) and (term in expression or expression in term)):
                found[term] = (*found.get(term, ()), *named)
    return found


def _phrases(text: str, asked: Sequence[str]) -> dict[str, float]:
    """Phrases of a question with their weights.

    A Chinese pair weighs the less the rarer its characters are, as a rare word counts in the coverage already; the
    wording around it is what a phrase adds. Against equal weights the log loss falls in every fold, by little; F1 does
    not rise in all of them.
    """
    latin = [term for term in asked if not is_han(term)]
    weights = {f"{first} {second}": 1.0 for first, second in pairwise(latin)}
    for run in _HAN_RUN.findall(without_asking(_folded(text))):
        for piece in _bigrams(run):
            weights[piece] = (2 * LEAST / (weight_of(piece[0]) + weight_of(piece[1]))) ** 2
    return weights


def _bigrams(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _after_one_word(question: Question) -> bool:
    """Return whether a question asks what one word means."""
    return question.asked.kind == "definition" and len(question.forms) == 1


def _defines(question: Question, units: Sequence[_Unit]) -> bool:
    """Return whether a sentence defines the one word that a question asks about."""
    form = re.escape(next(iter(question.forms.values())))
    says = re.compile(rf"(?<![\w-])\W{{0,2}}{form}\W{{0,2}}(?:\s*\([^)]*\)|（[^）]*）)?\s*(?:{_SAYS})", re.IGNORECASE)
    return any(says.search(unit.text) for unit in units)


def phrase_share(question: Question, text: str) -> float:
    """Share of the weight of the question's phrases that a text holds, shrunk like the coverage."""
    return _phrase_share(question, _Unit.of(_folded(text)))


def _phrase_share(question: Question, whole: _Unit) -> float:
    """Share of the weight of the question's phrases that the passage holds, shrunk like the coverage."""
    if not question.phrases:
        return 0.0
    joined = f" {' '.join(whole.stems)} "
    found = sum(
        weight
        for phrase, weight in question.phrases.items()
        if ((phrase in whole.text) if is_han(phrase) else (f" {phrase} " in joined))
    )
    count = len(question.phrases)
    return found / sum(question.phrases.values()) * count / (count + 1)
