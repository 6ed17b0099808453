"""Words of passages and queries for full-text search: cut here, since no store's own analyzer finds words in Chinese.

Measured on XQuAD and on the labelled sample questions (``python -m tests.benchmarks fused``). Chinese words by rjieba
in its search mode; single characters or pairs of them as well were no better. English lightly stemmed, which
helps; stop words stay, since leaving them out lost more in English than it won in Chinese. Traditional Chinese counts
as simplified. Japanese, Korean, Thai and their like are cut into overlapping pieces.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.builtin import segmenting
from engine.builtin.scripts import HAN, PAIRED, TRIPLED, folded, pieces, without_marks
from engine.builtin.terms import stem

SEGMENTING = "words-2"
"""Recorded with every collection; another name whenever :func:`words` gives other words for a text.

Passages and queries must be cut in the same way: a collection of another version is still searched, but finds less.
"""

_MOST_PARTS = 30
"""Pieces of words that are looked for inside other words, each at the cost of a look at every passage."""

MOST_BYTES = 65_535
"""What the field of words holds, as every other text field of Milvus at most."""

K1 = 1.5
B = 0.75
"""Parameters of BM25: how soon a repeated word stops counting, and how much a long passage loses."""

_NO_LETTER = rf"\W{HAN}{PAIRED}{TRIPLED}"
_TOKEN = re.compile(
    rf"(?P<han>[{HAN}]+)"
    rf"|(?P<run>[{PAIRED}]+|[{TRIPLED}]+)"
    r"|(?P<number>\d+(?:[.,]\d+)*)"
    rf"|(?P<word>[^{_NO_LETTER}]+(?:['\u2019][^\d_{_NO_LETTER}]+)?)"
)
_WITHOUT_SPACES = re.compile(f"[{HAN}{PAIRED}{TRIPLED}]+")


def words(text: str) -> list[str]:
    """Words of a text in their order, repeats kept; each is one to every analyzer, also to one that knows only ``\\w``.

    NFKC, case folding, one Chinese script, no combining characters; numbers without thousands separators, with ``_``
    for the decimal point; a number is cut off the unit that follows it (``5mg``), while names that hold digits
    (``HbA1c``) stay whole.
    """
    return list(_words(folded(text)))


def query_words(text: str) -> list[str]:
    """Words to look for: those of the text, and those that versions before ``words-2`` cut it to."""
    now = words(text)
    earlier = _words(without_marks(unicodedata.normalize("NFKC", text).casefold()))
    return now + [word for word in earlier if word not in now]


def missing_parts(query: Iterable[str], held: Container[str], *, found: bool) -> list[str]:
    """List the parts to look for inside other words, for words that no passage holds: 牛 in 牛奶.

    Nothing for words of scripts with spaces between words. Pieces of long words only where nothing was ``found``:
    where other words point to one place they point to another more often than not.
    """
    lacking = (word for word in query if word not in held and _WITHOUT_SPACES.fullmatch(word))
    return list(dict.fromkeys(part for word in lacking for part in ([word] if found else pieces(word))))[:_MOST_PARTS]


def words_in(fields: Iterable[str]) -> set[str]:
    return {word for field in fields for word in field.split()}


def with_parts(scores: Mapping[str, float], fields: Mapping[str, str], parts: Sequence[str]) -> dict[str, float]:
    """Scores by id, with those of passages whose words hold some of the parts.

    A word that no passage has is rarer than all that were found, so a passage with a part of it comes before others.
    """
    best = max(scores.values(), default=0.0) + 1.0
    shares = {key: sum(part in field for part in parts) / len(parts) for key, field in fields.items()}
    return dict(scores) | {key: scores.get(key, 0.0) + best * share for key, share in shares.items()}


def field_of(text: str) -> str:
    """The words of a passage as the store keeps them: joined by spaces, cut at a word where the field would be full."""
    joined = " ".join(words(text))
    if len(joined.encode()) <= MOST_BYTES:
        return joined
    cut = joined.encode()[: MOST_BYTES + 1].decode(errors="ignore")
    return cut.rpartition(" ")[0]


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Statistics of a whole collection for BM25."""

    passages: int
    mean_length: float
    """Words of a passage, on average."""
    containing: Mapping[str, int]
    """Passages that hold a word, by word."""

    @classmethod
    def of(cls, fields: Iterable[str]) -> WordCounts:
        """Counted over the fields of words of passages."""
        containing: Counter[str] = Counter()
        passages = length = 0
        for field in fields:
            found = field.split()
            passages += 1
            length += len(found)
            containing.update(set(found))
        return cls(passages, length / passages if passages else 0.0, containing)

    def score(self, query: Iterable[str], field: str) -> float:
        """BM25 of a passage, 0 and up: Robertson and Zaragoza 2009, with the IDF that is never below 0."""
        held = Counter(field.split())
        longer = 1.0 - B + B * held.total() / self.mean_length if self.mean_length else 1.0
        return math.fsum(
            asked * self._idf(word) * held[word] * (K1 + 1.0) / (held[word] + K1 * longer)
            for word, asked in Counter(query).items()
            if word in held
        )

    def rarest(self, query: Iterable[str], most: int) -> list[str]:
        """Words of a query, the rarest first, that at most so many passages hold in all; those no one holds are not."""
        found: list[str] = []
        left = most
        for word in sorted(set(query), key=lambda word: (self.containing.get(word, 0), word)):
            left -= self.containing.get(word, 0)
            if left < 0:
                break
            if word in self.containing:
                found.append(word)
        return found

    def _idf(self, word: str) -> float:
        containing = self.containing.get(word, 0)
        # A passage that was written a moment ago may hold a word that was not counted.
        return math.log((max(self.passages - containing, 0) + 0.5) / (containing + 0.5) + 1.0)


def _words(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        found = match.group()
        if match.lastgroup == "han":
            yield from segmenting.cut_for_search(found)
        elif match.lastgroup == "run":
            yield from pieces(found)
        elif match.lastgroup == "number":
            yield found.replace(",", "").replace(".", "_")
        else:
            yield stem(found.replace("\u2019", "'")).partition("'")[0]
