"""Subjects of a question that no passage mentions: noted below an answer, or in place of one."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.builtin import segmenting
from engine.builtin.answer_form import class_words
from engine.builtin.evidence import Question, weigh
from engine.builtin.failure_analysis import asking_clauses, other_names
from engine.builtin.scripts import is_uncut, one_script
from engine.builtin.terms import PLAIN, is_han, stem, weight_of
from engine.model.language import language_of
from engine.model.values import Passage

if TYPE_CHECKING:
    from engine.builtin.answer_form import Asking

_TELLING = 0.6
"""Share of the heaviest term's weight from which a missing term is worth naming."""
_RARE = 5.0
"""Weight that it needs as well: common words are not missed."""
_NAMED = 5
_MOST_OF_IT = 0.4
"""Share of the question's weight from which a missing word is what the question is about."""
_MUCH_OF_IT = 0.17
_COVERED = 0.75
"""The same share where no sentence covers that much of the question."""
_LATIN = re.compile(r"[A-Za-z][\w.+#-]*(?:[ \t]+[A-Za-z][\w.+#-]*)*", re.ASCII)
_CAPITALS = re.compile(r"\b(?:[A-Z][\w.+#'’-]*|[a-z]+[A-Z]\w*)(?:[ \t]+(?:[A-Z][\w.+#'’-]*|\d+))*")
_FIRST = re.compile(r"\S+")
_SHORT = 3
"""Letters up to which a name must stand alone: AI is not in main."""
_ABBREVIATION = 4
"""Letters up to which another name must: CORS is not in scores."""
_ACRONYM = re.compile(r"\w*?[A-Z]\w*[A-Z]")
_LATIN_NAME = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z]{3,}")
"""Where a text has one, it writes names in Latin letters."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_HUMPED = re.compile(r"\w*[a-z0-9][A-Z]\w*|[A-Z]{2,}[a-z]\w*")
_CODE = re.compile(r"`[^`\n]+`|^ {0,3}(?:```|~~~)|(?<!\w)--[a-z][\w-]+", re.MULTILINE)
_DONE = re.compile(r"(?:ing|ed|ize|ise|en|ly)$")
"""Forms of verbs and adverbs, which a passage may well put in other words."""


def missing_terms(asking: Asking, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Telling terms of the question that no passage mentions, neither as such nor under another name.

    None of a question with words that cannot be cut: pieces of them are no words to look for.
    """
    says = asking.question.forms
    weights = {form: weight_of(term) for term, form in says.items()}
    bar = max(_RARE, _TELLING * max(weights.values(), default=0.0))
    asked = class_words(asking.question.text)
    return tuple(
        form
        for form in _unsaid(asking, passages)
        if form.lower() not in asked and weights[form] >= bar and _names_something(form)
    )[:_NAMED]


def undone(asking: Asking, passages: Sequence[Passage]) -> str:
    """What a question asks the way of, *treated*, 治疗, where no passage has a word of that family, common or not.

    Empty where it is said, where the question asks otherwise, and for "How do I make …", which manuals never repeat.
    """
    term, form = asking.form.deed, asking.deed
    if form not in _unsaid(asking, passages) or (stem(form.lower()) in _plain() and not form.endswith("ed")):
        return ""
    begins = re.compile(rf"(?<![a-z]){re.escape(term)}")
    return "" if len(term) > _SHORT and begins.search(_said(passages).casefold()) else form


def _unsaid(asking: Asking, passages: Sequence[Passage]) -> list[str]:
    """Terms of the question, as it writes them, that no passage has, neither as such nor under another name."""
    question = asking.question
    if is_uncut(question.text):
        return []
    covered: set[str] = set()
    for passage in passages:
        covered.update(weigh(question, names_apart(passage.text), passage.similarity, heading=passage.above).covered)
    text = _said(passages).casefold()
    named = _named_otherwise(question, text)
    return [
        form
        for form in question.forms.values()
        if form not in covered
        and not _in_characters(form, text)
        and not any(form.casefold() in known for known in named)
    ]


def unknown_names(
    asking: Asking, passages: Sequence[Passage], *, covered: float = 0.0, foreign: bool = False
) -> tuple[str, ...]:
    """Names in the question that stand in no passage: without them nothing in the passages is about what was asked.

    A name is what a question writes in capitals inside a sentence, or in Latin script inside a Chinese one; it is
    known where one of its words is. Words that are no names count where they are most of what the question says.
    Fewer are enough in a manual of software, where things have one name each, and where the best sentence has little of
    the question, ``covered`` as a share.
    Where all passages are in another language (``foreign``), only names in Latin script can be compared.
    """
    question = asking.question
    text = _said(passages)
    missing = [form for form in missing_terms(asking, passages) if not _is_named(form, text)]
    shares = shares_of(question)
    han = [form for form in missing if is_han(form) and not foreign]
    if math.fsum(shares[form] for form in han) >= _MOST_OF_IT:
        return tuple(missing)
    fixed = covered < _COVERED and not foreign and writes_code(passages)
    if fixed and math.fsum(shares[form] for form in missing) >= _MUCH_OF_IT:
        return _within_every_clause(missing, question.text)
    rare = () if foreign else missing
    most = [form for form in rare if shares[form] >= _MOST_OF_IT and not is_han(form) and not _DONE.search(form)]
    folded = unicodedata.normalize("NFKC", question.text).strip()
    otherwise = _named_otherwise(question, text.casefold())
    new = [
        form
        for form in question.forms.values()
        if not foreign and _is_new(form, text) and not any(form.casefold() in known for known in otherwise)
    ]
    names = _LATIN if language_of(folded) == "zh" else _CAPITALS
    first = _FIRST.match(folded)
    start = first.end() if first and not _ACRONYM.match(first.group()) else 0  # its capital says nothing
    told = [found.group() for found in names.finditer(folded, 0 if names is _LATIN else start)]
    unknown = [name for name in told if not any(_is_named(word, text) for word in name.split())]
    translated = foreign and not _LATIN_NAME.search(text)
    if translated and len(unknown) == len(told) and not any(map(_ACRONYM.match, unknown)):
        unknown = []  # the passages write names in another script
    named = [form for form in missing if form in most or any(form in name for name in unknown)]
    absent = tuple(form for form in question.forms.values() if form in named or form in new)
    return _within_every_clause(absent, folded)


def _within_every_clause(absent: Sequence[str], text: str) -> tuple[str, ...]:
    """The words, unless a part of the question has none of them: it may well be answered without the others."""
    clauses = asking_clauses(text)
    if len(clauses) > 1 and not all(any(form in clause for form in absent) for clause in clauses):
        return ()
    return tuple(map(_base, absent))


def writes_code(passages: Sequence[Passage]) -> bool:
    """Return whether passages are of a manual of software: half of them have words of code."""
    return 2 * sum(_CODE.search(item.text) is not None for item in passages) >= len(passages)


def _said(passages: Sequence[Passage]) -> str:
    return names_apart(one_script(" ".join(f"{item.above} {item.text}" for item in passages)))


def names_apart(text: str) -> str:
    """A text with the words of its names in code behind it: *Unknown Writer Error* of UnknownWriterError."""
    names = _HUMPED.findall(text)
    return f"{text} {' '.join(_HUMP.sub(' ', name) for name in names)}" if names else text


def _named_otherwise(question: Question, text: str) -> list[str]:
    """The expressions of a question that a case-folded text names otherwise."""
    return [known for known, names in other_names(question.text) if any(stands_in(name, text) for name in names)]


def _is_new(form: str, text: str) -> bool:
    """Return whether a Chinese word is in no dictionary, like product names, and shares no character with the text."""
    unheard = is_han(form) and len(form) > 1 and not segmenting.has_word(form)
    return unheard and not any(char in text for char in form) and all(_is_noun(tag) for _, tag in segmenting.tag(form))


def _is_noun(tag: str) -> bool:
    return tag[0] in "nj" or tag == "vn"


def _is_named(word: str, text: str) -> bool:
    """Return whether a name occurs in a text in any spelling: Web-Socket, web socket and WebSocket are one name."""
    letters = _letters(_base(word))
    if len(letters) > _SHORT:
        return letters in _letters(text)
    return re.search(rf"(?<![a-z0-9]){re.escape(_base(word).casefold())}(?![a-z0-9])", text.casefold()) is not None


def _base(form: str) -> str:
    return re.sub(r"['’]s$", "", form)


def _letters(text: str) -> str:
    plain = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))
    # Anaemia and anemia, oestrogen and estrogen.
    return plain.replace("ae", "e").replace("oe", "e")


def shares_of(question: Question) -> dict[str, float]:
    total = math.fsum(question.weights) or 1.0
    return {form: weight / total for form, weight in zip(question.forms.values(), question.weights, strict=True)}


def _in_characters(form: str, text: str) -> bool:
    """Return whether half of a Chinese word occurs in a text: words are cut by guess, and 四元 has the 元
    of 元素."""
    return is_han(form) and 2 * sum(char in text for char in form) >= len(form)


_NO_NAME = re.compile(
    r"(?:i|you|he|she|it|we|they|that|there|here)['’](?:m|d|ll|ve|re|s)"
    r"|ok|okay|hi|hello|hey|thanks|thx|fyi|asap|dr|prof|mr|mrs|ms|u|i{1,3}|iv",
    re.IGNORECASE,
)
"""Words with a capital that name nothing to look for: greetings, titles, contractions, Roman numerals."""


@lru_cache(maxsize=1)
def _plain() -> frozenset[str]:
    return frozenset(map(stem, PLAIN))


def _names_something(form: str) -> bool:
    """Return whether a reader would look for the word: in Chinese a noun or an abbreviation, else all but numbers."""
    if not is_han(form):
        return not form[0].isdigit() and not _NO_NAME.fullmatch(form) and stem(form.lower()) not in _plain()
    return form not in PLAIN and segmenting.has_word(form) and all(_is_noun(tag) for _, tag in segmenting.tag(form))


def stands_in(name: str, text: str) -> bool:
    """Return whether a name, or a word of the same family, stands in a case-folded text: pregnancy, pregnant."""
    name = name.casefold()
    if name.isascii() and len(name) <= _ABBREVIATION:
        return re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text) is not None
    return name in text or (name.isascii() and len(name) > 6 and name[:5] in text)
