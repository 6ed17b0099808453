"""Questions close to what a collection answers that nothing in it answers: one name or number put for another.

Pure functions of the passages. Whether anything answers such a question is told by words: the name that was put in
and most of the other words of the question stand together in no passage of the whole collection. A passage that says
it in other words may escape that, which is why a person looks at each.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from engine.builtin.evidence import read_question, weigh
from engine.builtin.terms import question_terms
from engine.drafting.values import Draft, draft_id
from engine.drafting.wording import Told
from engine.model.language import language_of
from engine.model.values import PassageId
from engine.roles import StoredPassage

_CODE = re.compile(r"`([^`\n]{2,40})`")
_IDENTIFIER = re.compile(r"^(?:--?)?[A-Za-z_$@][\w$@-]*(?:\.[\w$@-]+)*$")
_LOOKS_LIKE_CODE = re.compile(r"[a-z0-9][A-Z]|[._-]\w")
_ACRONYM = re.compile(r"\b[A-Z][A-Z0-9]{1,5}\b")
_VERSION = re.compile(r"(?<=[A-Za-z] )v?\d+(?:\.\d+)?(?=\b)|(?<=[\u4e00-\u9fffA-Za-z] )\d+(?:\.\d+)?(?= ?版本)")
_STANDS_FOR = re.compile(r"^(?:What does (?P<en>[A-Z]\w{1,6}) stand for\?|(?P<zh>[A-Z]\w{1,6}) 的全称是什么？)$")
ANSWERS = 0.6
"""Share of the other words of a question from which a passage that has the name may answer it."""
NEAR_ANSWERS = 0.45
"""The same for passages that a search finds nearest to the question."""
_OF_DEFAULT = re.compile(r"\bthe default of\b|默认值")
_LEAST_BESIDE = 3
"""Words beside the name, so that the question asks for more than what the name means."""
_LEAST_SEEN = 2
"""Passages that a name stands in, so that swapping it in is a near miss and not a wild one."""
_MOST_TRIED = 12
_MOST_PER_NAME = 2


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A question with a swap, and the passage that comes nearest to answering it."""

    draft: Draft
    nearest: PassageId


class Names:
    """Where the names of a collection stand: words of code, abbreviations."""

    def __init__(self, passages: Sequence[StoredPassage]) -> None:
        self.texts = {
            item.id: _folded(f"{item.source}\n{item.title}\n{item.section}\n{item.text}") for item in passages
        }
        self.passages = {item.id: item for item in passages}
        self._entries = frozenset(item.section.split(" > ")[-1] for item in passages)
        self._titles = frozenset(item.title for item in passages)
        self._seen: dict[str, list[PassageId]] = defaultdict(list)
        for item in passages:
            whole = f"{item.title}\n{item.section}\n{item.text}"
            names = {name for name in _CODE.findall(item.text) if _IDENTIFIER.match(name)}
            names |= {head for head in (item.section.split(" > ")[-1], item.title) if _IDENTIFIER.match(head)}
            for name in names | set(_ACRONYM.findall(whole)):
                self._seen[name].append(item.id)

    def with_name(self, name: str) -> list[PassageId]:
        """Passages that a name stands in, as a word of its own whatever its case."""
        folded = _folded(name)
        pattern = re.compile(
            rf"(?<![a-z0-9]){re.escape(folded)}(?![a-z0-9])" if folded.isascii() else re.escape(folded)
        )
        return [passage_id for passage_id, text in self.texts.items() if folded in text and pattern.search(text)]

    def of_one_kind(self, name: str, other: str) -> bool:
        """Whether two names are both titles of documents, or both headings in them."""
        titles = self._titles
        return (name in titles and other in titles) or (other in self._entries and name not in titles)

    def alike(self, name: str) -> list[str]:
        """Other names of the same make, those that share most with it first; each stands in several passages."""
        kind = _kind(name)
        others = [
            other
            for other, where in self._seen.items()
            if other != name and len(where) >= _LEAST_SEEN and _kind(other) == kind
        ]
        return sorted(others, key=lambda other: (_prefix(other) != _prefix(name), -_shared(name, other), other))

    def in_question(self, question: str) -> str:
        """The longest name of the collection that a question has; empty where it has none."""
        found = [
            name
            for name in self._seen
            if name in question and re.search(rf"(?<![\w.]){re.escape(name)}(?![\w]|\.\w)", question) and _kind(name)
        ]
        return max(found, key=len, default="")


def near_misses(drafts: Iterable[Draft], names: Names, collection: str, most: int, told: Told) -> Iterator[NearMiss]:
    """Up to ``most`` questions that no passage answers by words, each made of a draft by one swap.

    ``told``: questions that there are already; those that are made are noted in it.
    """
    made = 0
    used: dict[str, int] = defaultdict(int)
    for draft in drafts:
        if made >= most:
            return
        for question, swapped in _swaps(draft, names):
            if used[swapped[1]] >= _MOST_PER_NAME or told.has(question):
                continue
            nearest = unanswered(question, swapped, names, names.texts)
            if nearest is not None:
                used[swapped[1]] += 1
                made += 1
                told.add(question)
                yield NearMiss(_draft(draft, question, swapped, names.passages[nearest], collection), nearest)
                break


def unanswered(
    question: str, swapped: tuple[str, str], names: Names, among: Iterable[PassageId], bar: float = ANSWERS
) -> PassageId | None:
    """The passage that comes nearest to an answer; None where one of ``among`` may be one, or none has the name."""
    wanted = frozenset(among)
    having = [item for item in names.with_name(swapped[1]) if item in wanted]
    if not having or _STANDS_FOR.match(question):  # what is spelt out nowhere was found before
        return next(iter(having or names.with_name(swapped[1])), None)
    shares = {item: other_words(question, swapped[1], names.passages[item]) for item in having}
    nearest = max(shares, key=lambda item: shares[item])
    return None if shares[nearest] >= bar else nearest


def other_words(question: str, name: str, passage: StoredPassage) -> float:
    """Share of the weight of a question's words beside a name that a passage has, in [0, 1]."""
    rest = re.sub(re.escape(name), " ", question, flags=re.IGNORECASE)
    read = read_question(rest)
    if not question_terms(rest) or not read.forms:
        return 1.0  # nothing but the name: whatever has it may answer
    found = weigh(read, passage.text, 0.0, heading=f"{passage.title}\n{passage.section}")
    pairs = zip(read.forms.values(), read.weights, strict=True)
    return math.fsum(weight for form, weight in pairs if form in found.covered) / math.fsum(read.weights)


def _swaps(draft: Draft, names: Names) -> Iterator[tuple[str, tuple[str, str]]]:
    """Questions that one swap makes of a draft, with what was put for what."""
    if stands := _STANDS_FOR.match(draft.question):
        short = stands.group("en") or stands.group("zh")
        for other in names.alike(short)[:_MOST_TRIED]:
            if 2 < len(other) < 6 and other.isalpha() and other.isupper() and not _spelt_out(other, names):
                yield draft.question.replace(short, other), (short, other)
        return
    if draft.rule in ("entry", "definition", "heading"):
        return  # of every name there is something to say
    name = names.in_question(draft.question)
    beside = len(question_terms(draft.question.replace(name, " "))) if name else 0
    if not name or _kind(name) == "acronym" or (beside < _LEAST_BESIDE and not _OF_DEFAULT.search(draft.question)):
        return
    whole = re.compile(rf"(?<![\w.]){re.escape(name)}(?![\w])")
    for other in names.alike(name)[:_MOST_TRIED]:
        if names.of_one_kind(name, other) and (_prefix(other) == _prefix(name) != "" or _shared(name, other)):
            found = whole.search(draft.question)
            if found is not None:
                yield f"{draft.question[: found.start()]}{other}{draft.question[found.end() :]}", (name, other)


def _spelt_out(short: str, names: Names) -> bool:
    """Whether a passage has words that begin with the letters of an abbreviation, one after the other."""
    letters = [char for char in short if char.isalpha()]
    between = r"[\s-]+(?:(?:of|and|for|the|to|in|over)[\s-]+)?"
    pattern = re.compile(between.join(rf"\b{re.escape(char.lower())}[a-z]+" for char in letters))
    return any(pattern.search(text) for text in names.texts.values())


def _draft(of: Draft, question: str, swapped: tuple[str, str], nearest: StoredPassage, collection: str) -> Draft:
    return replace(
        of,
        id=draft_id(collection, question),
        question=question,
        rule="near_miss",
        language=language_of(question),
        passages=(),
        source=nearest.source,
        quote=nearest.id,
        gold_answers=(),
        answerable=False,
        swapped=swapped,
    )


def _kind(name: str) -> str:
    """Of which make a name is; empty for words that could be anything."""
    if _ACRONYM.fullmatch(name):
        return "acronym"
    if name.startswith("-"):
        return "flag"
    if "." in name:
        return "dotted"
    return "code" if _LOOKS_LIKE_CODE.search(name) else ""


def _prefix(name: str) -> str:
    return name.rpartition(".")[0]


def _shared(one: str, other: str) -> int:
    parts = frozenset(re.findall(r"[A-Z]?[a-z]+|\d+", one))
    return len(parts & frozenset(re.findall(r"[A-Z]?[a-z]+|\d+", other)))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
