"""Reading the JSON that chat models write, tolerantly, without ever reading what is not there.

Pure. A reply that holds no readable object, or two that contradict each other, gives None, never a guess.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from engine.llm.examples import given_back

Strategy = Literal["qualify", "broader", "synonyms", "split", "emphasise"]
"""Codes that the built-in rewriter has too, so that pages render both alike."""

LONGEST_REPLY = 20_000
"""Characters of a reply that are looked at; a verdict takes some 300."""
_MOST_OBJECTS = 64
_MOST_BROKEN = 4
_MOST_DEPTH = 32
_LONGEST_REASON = 600
_LONGEST_QUERY = 400
_LIMIT_OF_REASONS = 240
"""Characters after which a model that keeps to our schema had to stop in the middle."""
_MOST_KEYWORDS = 12

_YES = frozenset({"true", "yes", "y", "1", "relevant", "是", "是的", "对", "相关", "有关"})
_NO = frozenset(
    {"false", "no", "n", "0", "irrelevant", "not relevant", "unrelated", "否", "不", "不是", "不相关", "无关"}
)
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(%|/\s*(\d+(?:\.\d+)?))?", re.I)


class Part(BaseModel):
    """An object inside a reply; unknown fields are left out, keys are compared without case."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class Reply(Part):
    """What a role reads from a reply."""

    lists: ClassVar[frozenset[str]] = frozenset()
    """Fields whose complete items count where the reply is cut inside them."""

    decisive: ClassVar[tuple[str, ...]]
    """Fields that two objects of one reply must agree on."""


def called(*names: str, otherwise: Any = ...) -> Any:
    """A field by any of some names; required unless there is something ``otherwise``."""
    return Field(otherwise, validation_alias=AliasChoices(*names))


def read_by(read: Callable[..., Any], **options: Any) -> BeforeValidator:
    """A field that ``read`` makes of what a model wrote there; a ``ValueError`` from it makes the reply unreadable."""
    return BeforeValidator(partial(read, **options))


def yes_or_no(value: Any, *, yes: Container[str], no: Container[str]) -> bool:
    """A judgement in words; raises ``ValueError`` for any other word."""
    if isinstance(value, bool):
        return value
    folded = unicodedata.normalize("NFKC", str(value)).casefold().strip(" .。!！\"'")
    if folded not in yes and folded not in no:
        raise ValueError("neither yes nor no")
    return folded in yes


def name_text(value: Any) -> str:
    """A name out of a list that the prompt gave, as we write it; raises ``ValueError`` for what is no text."""
    if not isinstance(value, str):
        raise ValueError("not a name")
    return value.strip().casefold().replace("-", "_").replace(" ", "_")


def listed(value: Any) -> Sequence[Any]:
    """A list, also where it was written as one text with commas; empty for anything else."""
    parts = re.split(r"[,，、;；]", value) if isinstance(value, str) else value
    return parts if isinstance(parts, list | tuple) else ()


def plain_text(value: Any, longest: int) -> str:
    """One line without control characters, cut with an ellipsis."""
    if isinstance(value, list | tuple):
        value = " ".join(str(part) for part in value)
    text = "" if value is None else str(value)
    kept = "".join(" " if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") else char for char in text)
    line = " ".join(kept.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def reason_text(value: Any, longest: int = _LONGEST_REASON) -> str:
    """A reason on one line; empty where it is only what the prompt showed, with an ellipsis where it had to stop."""
    text = plain_text(value, longest)
    if given_back(text):
        return ""
    stopped = len(text) >= _LIMIT_OF_REASONS and text[-1] not in "….!?。！？”\"')）"
    return f"{text}…" if stopped else text


def read_confidence(value: Any) -> float | None:
    """A confidence as a share in [0, 1], or None where its scale cannot be told.

    ``0.8``, ``"80%"``, ``"8/10"`` and ``80`` are 0.8. Just above 1 is cut to 1. From 2 to 10 the scale is unknown:
    read as a percentage, a "no" of confidence 9 out of 10 would pass as relevant.
    """
    if isinstance(value, bool):
        return None
    found = _NUMBER.fullmatch(unicodedata.normalize("NFKC", str(value)).strip())
    if found is None:
        return None
    number = float(found.group(1))
    if not math.isfinite(number) or number < 0:
        return None
    if found.group(2) == "%":
        share = number / 100
    elif found.group(3):
        whole = float(found.group(3))
        share = number / whole if whole else -1.0
    elif number < 2:
        return min(1.0, number)
    else:
        share = number / 100 if number > 10 else -1.0
    return share if 0 <= share <= 1 else None


def _confidence(value: Any) -> float:
    share = read_confidence(value)
    if share is None:
        raise ValueError("not a confidence")
    return share


_REASONS = ("reason", "why", "reasoning", "explanation", "理由", "原因")


class ReasonedReply(Reply):
    """A reply that gives its reason."""

    reason: Annotated[str, read_by(reason_text)] = called(*_REASONS, otherwise="")


class VerdictReply(ReasonedReply):
    decisive = ("relevant", "confidence")

    relevant: Annotated[bool, read_by(yes_or_no, yes=_YES, no=_NO)] = called(
        "relevant", "is_relevant", "相关", "是否相关"
    )
    confidence: Annotated[float, read_by(_confidence)] = called("confidence", "sure", "置信度")
    """In [0, 1], in this verdict."""


_CITED = re.compile(r"^(?:[\[【][1-9]\d?[\]】]\s*)+|(?:(?<![\w\]])|(?<=[^\x00-\x7f]))(?:\s*[\[【][1-9]\d?[\]】])+\s*$")
"""Numbers of passages around a query, as small models add them; the ``[0]`` of ``list[0]`` is none."""


def _query(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_QUERY:
        raise ValueError("not a query")
    text = _CITED.sub("", plain_text(value, _LONGEST_QUERY)).strip()
    if not any(char.isalnum() for char in text) or given_back(text):
        raise ValueError("no query")
    return text


def _keywords(value: Any) -> tuple[str, ...]:
    words = (plain_text(part, 60) for part in listed(value) if isinstance(part, str | int | float))
    return tuple(dict.fromkeys(word for word in words if word and not given_back(word)))[:_MOST_KEYWORDS]


def _strategy(value: Any) -> str:
    folded = str(value).casefold().strip()
    return folded if folded in get_args(Strategy) else ""


class RewriteReply(ReasonedReply):
    decisive = ("query",)

    query: Annotated[str, read_by(_query)] = called("query", "rewritten_query", "new_query", "查询", "新查询")
    keywords: Annotated[tuple[str, ...], read_by(_keywords)] = called("keywords", "关键词", otherwise=())
    strategy: Annotated[Strategy | Literal[""], read_by(_strategy)] = ""


ReplyT = TypeVar("ReplyT", bound=Reply)


def read_reply(text: str, shape: type[ReplyT]) -> ReplyT | None:
    """The one object of that shape in a reply, or None where there is none or where two disagree.

    Code fences, text around the object, trailing commas, single or curly quotes, bare words, a wrapping object and
    Python's ``True`` are read; a key given twice with different values is not.
    """
    found = [item for candidate in json_objects(text) for item in _of_shape(candidate, shape, 0)]
    decisive = [[getattr(item, name) for name in shape.decisive] for item in found]
    return found[-1] if found and all(item == decisive[0] for item in decisive) else None


def read_cut_reply(text: str, shape: type[ReplyT]) -> ReplyT | None:
    """What a reply that breaks off has said up to there, where all that decides was complete; else None.

    A text that was being written is kept as a reason only; of a list, its complete items where the shape allows it.
    """
    start = text.find("{")
    if start < 0:
        return None
    found, key, rest = _complete_fields(text[start:LONGEST_REPLY])
    if key in _REASONS and rest.startswith('"') and (said := _begun_text(rest)):
        found[key] = said + "…"
    elif key in shape.lists and rest.startswith("["):
        found[key] = _complete_items(rest)
    return next(_of_shape(found, shape, 2), None) if found else None


_SPACE = re.compile(r"[\s,]*")
_COLON = re.compile(r"\s*:\s*")
_AFTER_VALUE = re.compile(r"\s*[,}]")


def _complete_fields(text: str) -> tuple[dict[str, Any], str, str]:
    """The complete fields of an object that breaks off; the name of the one it breaks off in, and what is there."""
    decoder = json.JSONDecoder(object_pairs_hook=_without_contradiction)
    found: dict[str, Any] = {}
    at = 1
    while True:
        at = _end(_SPACE, text, at)
        try:
            name, at = decoder.raw_decode(text, at)
            colon = _COLON.match(text, at)
            if not isinstance(name, str) or colon is None:
                return found, "", ""
            if name.casefold() in found:
                # Which of the two it means cannot be told.
                return {}, "", ""
        except (ValueError, RecursionError):
            return found, "", ""
        name, at = name.casefold(), colon.end()
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return found, name, text[at:]
        if not (_AFTER_VALUE.match(text, end) or (end == len(text) and text[end - 1] in '"}]el')):
            # A number at the very end may go on.
            return found, name, text[at:]
        found[name], at = value, end


def _complete_items(text: str) -> list[Any]:
    decoder = json.JSONDecoder(object_pairs_hook=_without_contradiction)
    found: list[Any] = []
    at = 1
    while True:
        try:
            item, at = decoder.raw_decode(text, _end(_SPACE, text, at))
        except (ValueError, RecursionError):
            return found
        found.append(item)


def _begun_text(text: str) -> str:
    """A string that is not closed, as far as it can be read: an escape may be cut in the middle."""
    for cut in range(min(8, len(text) - 1)):
        try:
            return str(json.loads(text[: len(text) - cut] + '"'))
        except ValueError:
            continue
    return ""


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Every outermost JSON object in a text, repaired where it must be; unreadable ones are skipped."""
    text = text[:LONGEST_REPLY]
    position, broken = text.find("{"), 0
    for _ in range(_MOST_OBJECTS):
        # Each broken start costs a walk to the end of the text; a reply of nothing but those is not worth more.
        if position < 0 or broken == _MOST_BROKEN:
            return
        value, end = _object_at(text, position)
        if value is not None:
            yield value
        else:
            broken += 1
        position = text.find("{", end)


def _object_at(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    """The object that begins at ``start`` and the place after it; None and the next place where it cannot be read."""
    decoder = json.JSONDecoder(object_pairs_hook=_without_contradiction)
    try:
        value, end = decoder.raw_decode(text, start)
        return value, end
    except (ValueError, RecursionError):
        pass
    repaired = _Repair(text, start)
    try:
        return decoder.decode(repaired.output), repaired.end
    except (ValueError, RecursionError):
        return None, repaired.end if repaired.closed else start + 1


def _without_contradiction(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        name = unicodedata.normalize("NFKC", key).strip().casefold()
        # A quotation that escapes its string repeats a key; the last one winning would let a passage decide.
        if name in made and made[name] != value:
            return {"contradiction": name}
        made[name] = value
    return made


def _of_shape(value: Any, shape: type[ReplyT], depth: int) -> Iterator[ReplyT]:
    if depth > 2:
        return
    if isinstance(value, Mapping):
        try:
            yield shape.model_validate(value)
            return
        except ValidationError:
            children: Any = value.values()
    elif isinstance(value, list):
        children = value
    else:
        return
    for child in children:
        yield from _of_shape(child, shape, depth + 1)


_CLOSING = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_SIGNS = {"，": ",", "：": ":", "｛": "{", "｝": "}"}
_WORDS = {"true": "true", "false": "false", "none": "null", "null": "null"}
_BARE = re.compile(r"[^\s,:{}\[\]\"'“”‘’，：]+")
_ENDS_STRING = re.compile(r"\s*(?:[,:}\]，：]|$)")
_ESCAPES = frozenset('"\\/bfnrtu')


class _Repair:
    """One walk over an almost-JSON object: ``output`` is JSON where it could be made so, ``end`` the place after it."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._at = start
        self._parts: list[str] = []
        self._open: list[str] = []
        self.closed = False
        while self._at < len(text) and not self.closed and len(self._open) <= _MOST_DEPTH:
            self._step()
        self.end = self._at

    @property
    def output(self) -> str:
        return "".join(self._parts) if self.closed else ""

    def _step(self) -> None:
        char = _SIGNS.get(self._text[self._at], self._text[self._at])
        if char in _CLOSING:
            self._string(_CLOSING[char])
        elif char in "{[":
            self._open.append(char)
            self._put(char)
        elif char in "}]":
            self._close(char)
        elif char in ",:" or char.isspace():
            self._put(char)
        else:
            self._bare()

    def _put(self, text: str, length: int = 1) -> None:
        self._parts.append(text)
        self._at += length

    def _close(self, char: str) -> None:
        while self._parts and (self._parts[-1].isspace() or self._parts[-1] == ","):
            self._parts.pop()
        self._put(char)
        self._open.pop()
        self.closed = not self._open

    def _string(self, closing: str) -> None:
        text, at = self._text, self._at + 1
        made = ['"']
        while at < len(text):
            char = text[at]
            if char == "\\" and at + 1 < len(text):
                made.append(text[at : at + 2] if text[at + 1] in _ESCAPES else _escaped(text[at + 1]))
                at += 2
                continue
            # A quote inside the string, such as an apostrophe, is not followed by a sign of JSON.
            if char == closing and _ENDS_STRING.match(text, at + 1):
                break
            made.append(_escaped(char))
            at += 1
        self._parts.append("".join(made) + '"')
        self._at = at + 1

    def _bare(self) -> None:
        found = _BARE.match(self._text, self._at)
        word = found.group() if found else self._text[self._at]
        known = _WORDS.get(word.casefold())
        number = re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", word)
        self._put(known or (word if number else json.dumps(word)), len(word))


def _escaped(char: str) -> str:
    return json.dumps(char, ensure_ascii=False)[1:-1]
