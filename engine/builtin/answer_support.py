"""Built-in verifier: whether the figures, names and code words of a sentence stand in what it cites.

By values alone, without a model, so that it costs nothing and a replay finds the same. Read from each sentence:

- numbers in digits, and in words from 10 on or with a unit: words for smaller ones count out ("two ways");
- their units: a currency, a percentage, a mass … must occur in the same source, and no other unit next to the number;
- names: words with a capital inside a sentence of English, abbreviations; code words: letters with digits, ``a_b``.

They must stand in a source that the sentence cites, in any that was given where it cites none, or in a sentence before
it that was borne out. Written otherwise is the same: 10 %, ten, 10.0, 十; a rounded number where the sentence says that
it is ("about"). What the question says is no invention of the answer, but for figures of a question that can be
answered yes or no: "Does it cost $10?" – "Yes, $10 [1]" affirms a figure, and only a denial may repeat it.
Not read: markers, numbers of lists and steps, blocks of code, questions, names across two languages.
A number of the answer may be computed from a table of the question: see :func:`computed`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache
from itertools import permutations

from engine.builtin.answer_reading import MARKER, Statement, statements
from engine.builtin.cells import CELL, Cell, cell_named
from engine.builtin.terms import RARE, STOP_EN, stem, terms, weight_of
from engine.builtin.written_numbers import TIMES, Number, normal, numbers_in, said_otherwise, units_in, with_decades
from engine.model.language import language_of
from engine.model.values import Attachment, GraphContext, Passage, SentenceCheck, UnsupportedSentence, unsupported_of
from engine.roles import Given

_CELL_MARKER = re.compile(rf"[\[【［]\s*({CELL}(?:\s*[,，、;；]\s*{CELL})*)\s*[\]】］]")
_NO_FIGURE = re.compile(
    r"\b(?:passages?|sources?|documents?|steps?|片段|资料|来源|文档|段落|步骤)\s*[（(\[]?\d{1,3}(?![\d.,]*\d)[)）\]]?"
    r"|第\s*\d{1,2}\s*[步点段条项]|(?<![\w.])[（(]?\d{1,2}[)）、](?=\s*\D)|[①-⑳]|[⁰¹²³⁴-⁹₀-₉]",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\s*(?:[种类点步项]|个?(?:方面|步骤|方法|原因|部分|要点|因素|阶段))"
    r"|\s+(?:[a-z-]+\s+){0,2}(?:types?|kinds?|ways?|steps?|points?|reasons?|things?|parts?|methods?|factors?|categories"
    r"|aspects?|options?|stages?|examples?|cases?|rules?)\b",
    re.IGNORECASE,
)
"""What an answer counts out itself behind a single digit."""
_COUNTING = 10
_CLASSIFIER = re.compile(r"[多余来几]?(?:[个名位人次条只台辆家所座本页行列篇组项例千米元块天日周月年岁倍])")
_OTHER_WORD = re.compile(r"年级|年龄|元[组运一二三素音函方谓]|次[方函]|倍角|日[常本]|月亮|人称")
_FEW = frozenset({"0", "1"})
_ABOUT = re.compile(
    r"\b(?:about|around|approximately|approx|roughly|nearly|almost|some|over|more than|less than|under)\b"
    r"|[≈~约近]|左右|上下|多于|超过|不到",
    re.IGNORECASE,
)
YES_OR_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|may|must)\b"
    r"|吗\s*[？?]?\s*$|是否|是不是|能否|能不能|对吗|有没有|可否|会不会|可不可以",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:no|not|never|nor|neither|without|cannot|rather than|instead of)\b|n't\b|[不没未非无]", re.IGNORECASE
)
_CODE = re.compile(
    r"`([^`\n]+)`|(?<![\w/])(\w*[A-Za-z]\w*_\w+|(?:[A-Za-z]+|[A-Z]+-)\d+[A-Za-z\d]*(?:[.-]\d+)*|[a-z]+[A-Z]\w*"
    r"|[A-Z][a-z]+[A-Z]\w*)(?!\w)",
    re.ASCII,
)
_NAME = re.compile(r"(?<![A-Za-z\d'’`_-])[A-Z][A-Za-z\d'’]*(?:-[A-Za-z\d]+)*")
_BEGINS = re.compile(r"(?:^|[:;.!?。：；！？“”\"(（*#>|–—•\-]\s*|\n\s*)$")
_ENGLISH = re.compile(r"\b(?:the|of|is|are|and|to|was|for|with|an?)\b", re.IGNORECASE)
_EMPHASISED = frozenset("NOTE YES NO NOT OK PLEASE WARNING IMPORTANT".split())
_ROUNDED = Decimal("0.07")
"""Share of a value by which "about" may change it."""
_MOST_CELLS = 12
"""Cited cells of which pairs are compared."""


@dataclass(frozen=True, slots=True)
class Detail:
    """Checkable detail in a sentence."""

    text: str
    number: Number | None = None
    word: str = ""
    """Of a name or a code word, letters and digits alone."""
    name: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """Contents of one text, read once."""

    numbers: Mapping[str, frozenset[str]]
    """Each value with the units that stand next to it; an empty one where it has none."""
    units: frozenset[str]
    bare: str
    stems: frozenset[str]
    initials: str
    language: str

    def bears(self, detail: Detail, *, about: bool = False) -> bool:
        if detail.number is not None:
            return self._has_number(detail.number, about=about)
        return self._has_word(detail)

    def _has_word(self, detail: Detail) -> bool:
        if detail.word in self.bare or stem(detail.text.casefold()) in self.stems:
            return True
        if detail.name:
            return detail.text.isupper() and detail.word in self.initials
        # The 19 of a code word is a figure of its own where the source writes it apart.
        digits = re.findall(r"\d+", detail.text)
        letters = re.findall(r"[A-Za-z]{2,}", detail.text)
        return (
            bool(digits)
            and re.search(r"\w[._]\w", detail.text) is None  # `server.http3` is one name
            and all(normal(Decimal(part)) in self.numbers for part in digits)
            and all(part.casefold() in self.bare for part in letters)
        )

    def _has_number(self, number: Number, *, about: bool) -> bool:
        found = [value for value in number.values if value in self.numbers]
        if about and not found:
            found = [value for value in self.numbers if _rounds_to(value, number)]
        if not found and number.unit == "percent":
            # 0.1 is 10 %, and half of it is 50.
            return any((share := _share(value)) and share in self.numbers for value in number.values)
        return any(self._has_unit(value, number.unit) for value in found)

    def _has_unit(self, value: str, unit: str) -> bool:
        """Return whether the unit is one that the source has, and the number has no other one everywhere in it."""
        units = self.numbers[value]
        if not unit or unit in units:
            return True
        if "" not in units:
            return False
        return unit in TIMES or unit in self.units


def cited_sources(given: Given, statement: Statement) -> list[Source]:
    """The sources that a sentence cites; all that there are where it cites none of them."""
    more = [source_of(text) for text in given.unmarked if text]
    passages, tables = cited_by(given, statement)
    found = [*map(passage_source, passages), *(table_source(table, cells) for table, cells in tables)]
    return [*found, *more]


def cited_texts(given: Given, statement: Statement) -> list[str]:
    """The same sources as texts to read: passages below what they stand under, tables by rows."""
    passages, tables = cited_by(given, statement)
    read = ["\n".join(filter(None, (item.above or item.source, item.dated, item.text))) for item in passages]
    rows = ["\n".join([table.name, *(" | ".join(row) for row in table.rows)]) for table, _ in tables]
    return [*read, *rows, *filter(None, given.unmarked)]


def sentence_alone(statement: Statement) -> str:
    """A sentence without its list sign and markers."""
    return re.sub(r"\s+(?=[.,;:!?，。；：！？])", "", " ".join(_CELL_MARKER.sub(" ", statement.plain).split()))


def cited_by(
    given: Given, statement: Statement
) -> tuple[tuple[Passage, ...], list[tuple[Attachment, tuple[Cell, ...]]]]:
    """The passages and tables that a sentence cites, with the cells it names; all where it cites none."""
    passages = tuple(given.passages[at - 1] for at in statement.markers if 1 <= at <= len(given.passages))
    cells = _cells_of(statement.text)
    tables = [
        (given.tables[at - 1], tuple(c for c in cells if c.table == at))
        for at in dict.fromkeys(cell.table for cell in cells)
        if 1 <= at <= len(given.tables)
    ]
    return (passages, tables) if passages or tables else (given.passages, [(table, ()) for table in given.tables])


@dataclass
class _Reading:
    """The sentences of one answer, in order."""

    question: Source
    yes_or_no: bool
    given: Given
    known: list[Detail] = field(default_factory=list)

    def missing(self, statement: Statement) -> list[str]:
        text = _plain(statement)
        about, denied = bool(_ABOUT.search(text)), bool(_DENIED.search(text))
        cited = cited_sources(self.given, statement)
        lacks = []
        for detail in details(text, names=any(item.language == language_of(text) for item in cited)):
            if self._asked(detail, denied=denied) or any(item.bears(detail, about=about) for item in cited):
                self.known.append(detail)
            elif not any(_same(detail, former) for former in self.known):
                lacks.append(detail.text)
        return list(dict.fromkeys(lacks))

    def _asked(self, detail: Detail, *, denied: bool) -> bool:
        if detail.number is not None and self.yes_or_no and not denied:
            return False
        return self.question.bears(detail)


def word_checks(question: str, answer: str, given: Given) -> tuple[SentenceCheck, ...]:
    """Check every sentence but questions and code: 0 with what is missing, or 1."""
    if not (given.passages or given.tables or any(given.unmarked)):
        return ()
    reading = _Reading(source_of(question), YES_OR_NO.search(question) is not None, given)
    found = []
    for statement in checked_statements(answer):
        missing = tuple(reading.missing(statement))
        found.append(SentenceCheck(statement.text, statement.markers, 0.0 if missing else 1.0, missing=missing))
    return tuple(found)


def checked_statements(answer: str) -> list[Statement]:
    """The sentences of an answer that are checked: all but questions and blocks of code."""
    return [item for item in statements(answer) if item.part != "question" and not item.text.startswith("```")]


def unsupported_sentences(question: str, answer: str, given: Given) -> tuple[UnsupportedSentence, ...]:
    """The sentences of an answer in which the built-in verifier misses something."""
    return unsupported_of(word_checks(question, answer, given), 1.0)


def graph_texts(graph: GraphContext | None) -> tuple[str, ...]:
    """Return the texts of the graph, which have no markers."""
    if graph is None:
        return ()
    entities = (f"{item.name} {item.description}" for item in graph.entities)
    return (*entities, *(item.description for item in graph.relationships))


def details(text: str, *, names: bool = True) -> Iterator[Detail]:
    """Yield the checkable details of a sentence; ``names`` if it is in the language of its source."""
    covered: list[tuple[int, int]] = []
    for match in _CODE.finditer(text):
        word = match.group(1) or match.group(2)
        if match.group(1) is None and re.fullmatch(r"\d+[a-z]*", word):
            continue
        if bare := _bare(word):
            covered.append(match.span())
            yield Detail(word, word=bare)
    for number in numbers_in(text):
        if any(begin <= number.start < end for begin, end in covered) or _counts_out(text, number):
            continue
        covered.append((number.start, number.end))
        yield Detail(number.text, number)
    if (names and _ENGLISH.search(text)) or language_of(text) == "zh":
        yield from _names(text, covered)


def _names(text: str, covered: Sequence[tuple[int, int]]) -> Iterator[Detail]:
    for match in _NAME.finditer(text):
        word = match.group().removesuffix("'s").removesuffix("’s")
        if any(begin <= match.start() < end for begin, end in covered) or len(word) < 2 or word in _EMPHASISED:
            continue
        lower = word.casefold()
        common = lower in STOP_EN or weight_of(stem(lower)) < RARE
        if common or (not word.isupper() and _BEGINS.search(text[: match.start()])):
            continue
        yield Detail(word, word=_bare(word), name=True)


def _counts_out(text: str, number: Number) -> bool:
    """Return whether a number counts what the answer itself lists, or stands in another word."""
    behind = text[number.start + len(number.text.rstrip()) :] if not number.unit else ""
    value = next(iter(number.values))
    small = value.isdigit() and int(value) < _COUNTING
    if number.month:
        return False
    if not number.spelled:
        return small and not number.unit and _COUNTED.match(behind) is not None
    if value in _FEW or _OTHER_WORD.match(text[number.end - 1 :]) or (number.text[0] in "百千万亿"):
        return True
    if number.text[0].isascii():
        return small and not number.unit
    return not number.unit and (small or _CLASSIFIER.match(behind) is None)


def source_of(text: str) -> Source:
    """A text as what answers are held against."""
    return _source(with_decades(unicodedata.normalize("NFKC", _superscripts(text))))


@lru_cache(maxsize=512)
def _source(text: str) -> Source:
    numbers: dict[str, set[str]] = {}
    for number in numbers_in(text):
        for value in number.values:
            numbers.setdefault(value, set()).add(number.unit)
    for found in re.findall(r"\d+(?:\.\d+)?", text):
        # The parts of what reads as one, and digits inside words.
        numbers.setdefault(normal(Decimal(found)), {""})
    for value in said_otherwise(text):
        numbers.setdefault(value, set()).update(("", "percent", "minute"))
    initials = "".join(word[0] for word in re.findall(r"[A-Za-z]+", text)).casefold()
    held = {value: frozenset(units) for value, units in numbers.items()}
    return Source(held, units_in(text), _bare(text), frozenset(terms(text)), initials, language_of(text))


def passage_source(passage: Passage) -> Source:
    """A passage with its name, its date and what it stands under."""
    return source_of("\n".join((passage.source, passage.above, passage.dated, passage.text)))


@lru_cache(maxsize=64)
def table_source(table: Attachment, cells: tuple[Cell, ...]) -> Source:
    """A table of the question, with what can be computed from its columns and from the cells that are cited."""
    text = "\n".join([table.name, *(" | ".join(row) for row in table.rows)])
    return _with_numbers(source_of(text), computed(table, cells))


def computed(table: Attachment, cells: Sequence[Cell] = ()) -> frozenset[str]:
    """Numbers that may be computed of a table: no invention, although no cell has them.

    Sum, mean and count of each column and of the cells cited; difference, ratio and percentage of two cells cited.
    Compared by two decimals, as an answer rounds them.
    """
    body = table.rows[1:] if table.header else table.rows
    columns = [
        [value for row in body if len(row) > at and (value := _cell_value(row[at])) is not None]
        for at in range(max(map(len, table.rows), default=0))
    ]
    named = [value for cell in cells[:_MOST_CELLS] if (value := _cell_value(_cell(table, cell))) is not None]
    found: set[Decimal] = {Decimal(len(body))}
    for values in (*columns, named):
        if values:
            found |= {sum(values, Decimal(0)), sum(values, Decimal(0)) / len(values), Decimal(len(values))}
    for one, other in permutations(named, 2):
        found.add(abs(one - other))
        if other:
            found |= {one / other, one / other * 100, abs(one - other) / other * 100}
    steps = [Decimal(10) ** -places for places in (0, 1, 2)]
    ways = (ROUND_HALF_UP, ROUND_HALF_EVEN)
    return frozenset(normal(value.quantize(step, way)) for value in found for step in steps for way in ways)


def _with_numbers(source: Source, values: Iterable[str]) -> Source:
    numbers = {**{value: frozenset({"", *_OF_ANY}) for value in values}, **source.numbers}
    return Source(numbers, source.units, source.bare, source.stems, source.initials, source.language)


_OF_ANY = ("percent", "dollar", "euro", "yuan", "pound")
"""Units that a computed number takes from its column, whose cells seldom have one."""


def _cells_of(text: str) -> list[Cell]:
    named = (part for match in _CELL_MARKER.finditer(text) for part in re.split(r"\s*[,，、;；]\s*", match.group(1)))
    return [cell for part in named if (cell := cell_named(part)) is not None]


def _cell(table: Attachment, cell: Cell) -> str:
    row = table.rows[cell.row - 1] if 1 <= cell.row <= len(table.rows) else ()
    return row[cell.column - 1] if 1 <= cell.column <= len(row) else ""


def _cell_value(text: str) -> Decimal | None:
    number = next(numbers_in(unicodedata.normalize("NFKC", text)), None)
    try:
        return Decimal(min(number.values, key=len)) if number else None
    except InvalidOperation:
        return None


def _plain(statement: Statement) -> str:
    text = MARKER.sub(" ", _CELL_MARKER.sub(" ", statement.plain))
    return with_decades(unicodedata.normalize("NFKC", _NO_FIGURE.sub(" ", text)))


def _superscripts(text: str) -> str:
    """A text whose raised and lowered digits do not join those before them: NFKC makes 22 of 2²."""
    return re.sub(r"([⁰¹²³⁴-⁹₀-₉]+)", r" \1 ", text)


def _rounds_to(value: str, number: Number) -> bool:
    """Return whether a number is this value rounded to the digits that it gives."""
    for said in number.values:
        try:
            exact, rounded = Decimal(value), Decimal(said)
        except InvalidOperation:
            continue
        if abs(exact - rounded) > abs(exact) * _ROUNDED:
            continue
        last = len(said) - len(said.rstrip("0")) if "." not in said else -len(said.partition(".")[2])
        if abs(exact - rounded) <= Decimal(10) ** last / 2:
            return True
    return False


def _share(value: str) -> str:
    try:
        return normal(Decimal(value) / 100)
    except InvalidOperation:
        return ""


def _same(detail: Detail, former: Detail) -> bool:
    if detail.number is not None and former.number is not None:
        return bool(detail.number.values & former.number.values) and detail.number.unit in ("", former.number.unit)
    return bool(detail.word) and detail.word == former.word


def _bare(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())
