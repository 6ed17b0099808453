"""Candidate names in a passage, guessed without a model from capitals, word classes and rarity."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from engine.builtin import segmenting
from engine.builtin.terms import RARE, STOP_EN, STOP_ZH, is_han, stem, weight_of
from engine.model.language import language_of, sentences

RELATION_WORDS: Mapping[str, Any] = json.loads(Path(__file__).with_name("relations.json").read_text(encoding="utf-8"))
"""Verbs and words of ``relations.json``."""
_VERBS = frozenset(stem(word) for word in RELATION_WORDS["verbs_en"].split())
_GENERIC_EN = frozenset(stem(word) for word in RELATION_WORDS["generic_en"].split())
_LOOSE_EN = frozenset(RELATION_WORDS["loose_en"].split())
"""Words that no phrase goes through."""
_PARTICLES = frozenset("de der den di da la le van von of".split())
"""Small words inside names: Joseph von Mering."""
_NO_PLURAL = frozenset(RELATION_WORDS["no_plural_en"].split())
_GENERIC_ZH = frozenset(RELATION_WORDS["generic_zh"].split())

MOST_NAMES = 20
"""Names kept of one passage: from 16 on no more pairs of sample passages share one, and more tie all to all."""
_LEAST_WEIGHT = 5.0
_LONGEST_WORDS, _FULL_NAME = 4, 2
_LONGEST_HAN = 6
_LONGEST_QUOTED = 12
_COMMONEST = 2.5
"""Weight of the commonest English words: as the first word of a phrase they add nothing ("large waist")."""
_HEADING, _NAME, _AGAIN = 1.5, 1.0, 0.7

_WORD = re.compile(r"[^\W\d_][\w]*(?:['\u2019\-\u2010\u2011][\w]+)*|\d+(?:[.,]\d+)*|[^\w\s]")
_QUOTED_ZH = re.compile(r"[《「“]([^《》「」“”\s，。；：]{2,12})[》」”]")
_NOUN_TAGS = ("n", "vn", "an", "j", "eng")
_JOINING_TAGS = ("b", "g", "k", "ng")
"""Word classes that are no name alone but part of one: 二甲|双|胍, 1|型|糖尿病."""
_NOT_PLURAL = ("ss", "us", "is", "as", "os", "ies", "ses", "xes", "hes", "ices", "'s", "\u2019s")
_BEHIND_NAMES = frozenset("是于向在与被把从对")
"""Words that jieba takes for the end of a person's name it does not know: 林浩是|研发部, 陈雅文于|2014年."""
_WORKS, _FOREIGN = "厂", ("nr", "ns")
_NAME_TAGS = ("nr", "ns", "nt", "nz")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that a passage may be about, as it stands there."""

    name: str
    weight: float
    proper: bool
    """Whether it looks like a proper name."""


@dataclass(frozen=True, slots=True)
class Span:
    """One place in a sentence where a name stands."""

    name: str
    start: int
    end: int


def candidates(text: str, heading: str = "") -> list[Candidate]:
    """The names of a passage, the most telling first, at most :data:`MOST_NAMES`.

    ``heading``: titles above it, whose words count for more. The same text always gives the same names.
    """
    found: dict[str, Candidate] = {}
    for sentence in sentences(text):
        names = _chinese(sentence) if language_of(sentence) == "zh" else _english(sentence, text)
        for item in names:
            key = item.name.casefold()
            known = found.get(key)
            if known is None or (item.proper and not known.proper):
                found[key] = item
    folded, heads = text.casefold(), heading.casefold()
    scored = [
        Candidate(item.name, _weight(item, folded.count(key), key in heads), item.proper) for key, item in found.items()
    ]
    # Python's sort is stable: equal weights stay in the order of the text.
    return sorted(scored, key=lambda item: -item.weight)[:MOST_NAMES]


def spans(sentence: str, names: Sequence[str]) -> list[Span]:
    """Find the names in a sentence, in its order; the longest name counts where several overlap."""
    pattern = _pattern(tuple(sorted(names, key=lambda name: (-len(name), name))))
    if pattern is None:
        return []
    by_key = {name.casefold(): name for name in names}
    return [
        Span(by_key[key], match.start(), match.end())
        for match in pattern.finditer(sentence)
        if (key := match.group().casefold()) in by_key
    ]


@lru_cache(maxsize=8)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str] | None:
    if not names:
        return None
    parts = [re.escape(name) if is_han(name[-1]) else rf"(?<!\w){re.escape(name)}" for name in names]
    # A Latin name may stand in its plural, but not inside a longer word.
    bounded = [
        part if is_han(name[-1]) else rf"{part}(?=(?:e?s)?(?![A-Za-z0-9_]))"
        for part, name in zip(parts, names, strict=True)
    ]
    return re.compile("|".join(bounded), re.IGNORECASE)


def _weight(item: Candidate, times: int, in_heading: bool) -> float:
    more = _AGAIN * min(3, max(0, times - 1))
    return item.weight + (_HEADING if in_heading else 0.0) + (_NAME if item.proper else 0.0) + more


def _english(sentence: str, text: str) -> Iterator[Candidate]:
    """Runs of words between function words and verbs; runs of capitals are names of their own."""
    for whole_run in _runs(list(_WORD.finditer(sentence))):
        run = _trimmed(whole_run)
        if not run:
            continue
        words = [match.group() for match in run]
        name = sentence[run[0].start() : run[-1].end()]
        proper = any(_capital(word) for word in words) and _is_name(run[0].start(), name, text)
        weight = max(weight_of(stem(word.lower())) for word in words) + 0.5 * (len(words) - 1)
        if _worth(words, weight, proper):
            yield Candidate(name if proper else _singular(name), weight, proper)


def _trimmed(run: list[re.Match[str]]) -> list[re.Match[str]]:
    """Cut the commonest adjectives before a name and the participles behind it, and shorten what is too long."""
    while run and (run[-1].group().endswith(("ed", "ing")) and run[-1].group().islower() and len(run) > 1):
        run = run[:-1]
    # "Tomas Lind maintains", but "Euler circuits": after two capitals it is a verb far more often than a plural.
    *before, last = [item.group() for item in run] or [""]
    if len(before) >= _FULL_NAME and last.islower() and last.endswith("s") and all(map(_capital, before)):
        run = run[:-1]
    while len(run) > 1 and _is_common(run[0].group()) and not run[1].group().isdigit():
        run = run[1:]
    run = run[-_LONGEST_WORDS:]
    # A number belongs to the word before it: "type 2 diabetes", not "2 diabetes".
    return run[1:] if run and run[0].group().isdigit() else run


def _is_common(word: str) -> bool:
    return word.islower() and weight_of(stem(word)) <= _COMMONEST


def _runs(tokens: Sequence[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    run: list[re.Match[str]] = []
    for token, after in zip(tokens, [*(match.group() for match in tokens[1:]), ""], strict=True):
        word = token.group()
        last = run[-1].group() if run else ""
        if _capital(last) and word in _PARTICLES and _capital(after):
            run.append(token)
            continue
        if _breaks(word, bool(run)):
            if run:
                yield run
            run = []
            continue
        # "surgeon Frederick Banting": what is capitalised starts again, but "Euler circuit" is one name.
        if last and _capital(word) and not _capital(last) and not last.isdigit() and last not in _PARTICLES:
            yield run
            run = []
        run.append(token)
    if run:
        yield run


def _breaks(word: str, within: bool) -> bool:
    """Return whether a phrase ends before this word."""
    if word[0].isdigit():
        return not (within and word.isdigit() and len(word) <= 2)  # type 2 diabetes
    lower = word.lower()
    if not word[0].isalpha() or lower in STOP_EN or (len(word) == 1 and not word.isupper()):
        return True
    if _capital(word) and within:  # Charles Best
        return False
    return lower in _LOOSE_EN or lower.endswith("ly") or stem(lower) in _VERBS


def _capital(word: str) -> bool:
    return word[:1].isupper()


def _is_name(start: int, name: str, text: str) -> bool:
    """Return whether its capital is more than the beginning of a sentence."""
    if start > 0 or name[1:] != name[1:].lower():
        return True
    places = (match.start() for match in re.finditer(re.escape(name), text))
    return any(text[:place].rstrip()[-1:] not in ("", ".", "!", "?", ":", "\n") for place in places)


def _worth(words: Sequence[str], weight: float, proper: bool) -> bool:
    last = words[-1].lower()
    if len(words) == 1:
        short = len(last) < 3 and not (words[0].isupper() and len(last) == 2)
        if short or stem(last) in _GENERIC_EN or last.isdigit():
            return False
        if not proper and (last.endswith(("ed", "ing")) or weight < _LEAST_WEIGHT + 0.5):
            return False
    return weight >= _LEAST_WEIGHT and not all(stem(word.lower()) in _GENERIC_EN or word.isdigit() for word in words)


def _singular(name: str) -> str:
    """Cut the s of a plural, so that one and many are one entity; what is left is still in the text."""
    last = name.rsplit(" ", 1)[-1].lower()
    if len(last) < 5 or last in _NO_PLURAL or last.endswith(_NOT_PLURAL) or not last.endswith("s"):
        return name
    return name[:-1]


def _chinese(sentence: str) -> Iterator[Candidate]:
    """Words between marks of quotation, and runs of nouns as the dictionary of jieba classes them."""
    for match in _QUOTED_ZH.finditer(sentence):
        if len(match.group(1)) <= _LONGEST_QUOTED and match.group(1) not in STOP_ZH | _GENERIC_ZH:
            yield Candidate(match.group(1), RARE, proper=match.group().startswith("《"))
    run: list[tuple[str, str]] = []
    for word, tag in (*_tagged(sentence), ("", "x")):
        joins = bool(word) and _joins(word, tag, run)
        if joins:
            run.append((word, tag))
        if joins and word != _WORKS:  # which ends a name: 蓝钢水箱厂|生产
            continue
        yield from _named(run)
        run = []
        if word and not joins and _joins(word, tag, run):
            run.append((word, tag))


def _tagged(sentence: str) -> Iterator[tuple[str, str]]:
    """Words with the classes of jieba, mended where names that it does not know make it err."""
    for word, tag in segmenting.tag(sentence):
        if tag == "nr" and len(word) > _FULL_NAME and word[-1] in _BEHIND_NAMES:
            yield word[:-1], tag
            yield word[-1], "v"
        else:
            suffix = word == _WORKS or (tag == "m" and len(word) == len("三号") and word.endswith("号"))
            yield word, "k" if suffix else tag  # 晨星|传感器|厂, 隼|三号


def _joins(word: str, tag: str, run: Sequence[tuple[str, str]]) -> bool:
    if word in STOP_ZH or word in _GENERIC_ZH:
        return False
    if tag == "eng":
        return len(word) > 1 and stem(word.lower()) not in _GENERIC_EN | STOP_EN
    if tag == "k":
        return bool(run)
    if tag == "m":  # of 1型糖尿病
        return word.isdigit() and len(word) == 1 and not run
    if word == "·":
        return bool(run)
    if tag.startswith("n") or tag in _NOUN_TAGS or tag in _JOINING_TAGS:
        return not (run and run[-1][1] == "m" and tag not in ("k", "n"))
    return tag == "x" and bool(re.fullmatch(r"[α-ωΑ-Ω]", word))


def _named(run: Sequence[tuple[str, str]]) -> Iterator[Candidate]:
    """One name of a run that is short enough, else its parts."""
    run = list(run)
    while run and (run[-1][0] == "·" or run[-1][1] in ("b", "m")):
        run.pop()
    whole = "".join(word for word, _ in run)
    if not run or len(whole) < 2 or whole.isdigit():
        return
    parts = _parts(run, whole)
    if len(parts) > 1:
        for part in parts:
            yield from _named(part)
        return
    latin = [word for word, tag in run if tag == "eng"]
    proper = any(tag.startswith(_NAME_TAGS) for _, tag in run) or any(word.isupper() for word in latin)
    weight = max(weight_of(word.lower() if tag == "eng" else word) for word, tag in run) + 0.5 * (len(run) - 1)
    if weight >= _LEAST_WEIGHT:
        yield Candidate(whole, weight, proper)


def _parts(run: list[tuple[str, str]], whole: str) -> list[list[tuple[str, str]]]:
    """A run that is too long, or a title with a name behind it, in pieces; parts of a foreign name stay together."""
    titled = len(run) == 2 and run[1][1].startswith("nr") and not run[0][1].startswith(_FOREIGN) and len(run[1][0]) > 1
    if len(run) == 1 or ((len(whole) <= _LONGEST_HAN or "·" in whole) and not titled):
        return [run]
    pieces: list[list[tuple[str, str]]] = []
    for word, tag in run:
        if pieces and (tag in _JOINING_TAGS or (tag.startswith("nr") and pieces[-1][-1][1].startswith("nr"))):
            pieces[-1].append((word, tag))
        else:
            pieces.append([(word, tag)])
    return pieces
