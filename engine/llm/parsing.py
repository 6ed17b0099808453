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
    reader = _Reader(text[:LONGEST_REPLY], start)
    name, begun = reader.unfinished
    if reader.broken or name in reader.fields:
        return None
    if name in _REASONS and isinstance(begun, str) and begun:
        reader.fields[name] = begun + "…"
    elif name in shape.lists and isinstance(begun, list):
        reader.fields[name] = begun
    return next(_of_shape(reader.fields, shape, 2), None)


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Every outermost JSON object in a text, read as it is meant; unreadable ones are skipped."""
    text = text[:LONGEST_REPLY]
    position, broken = text.find("{"), 0
    for _ in range(_MOST_OBJECTS):
        # Each broken start costs a walk to the end of the text; a reply of nothing but those is not worth more.
        if position < 0 or broken == _MOST_BROKEN:
            return
        reader = _Reader(text, position)
        if reader.cut or reader.broken:
            broken += 1
        else:
            yield reader.fields
        position = text.find("{", position + 1 if reader.cut else reader.end)


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
_WORDS = {"true": True, "false": False, "none": None, "null": None}
_BARE = re.compile(r"[^\s,:{}\[\]\"'“”‘’，：]+")
_ENDS_STRING = re.compile(r"\s*(?:[,:}\]，：]|$)")
_ESCAPES = re.compile(r'\\u[0-9a-fA-F]{4}|\\["\\/bfnrt]|["\\]')
_BEGUN_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")


class _Reader:
    """One walk over an object as models write it: with any quotes, bare words, trailing commas and Chinese signs."""

    def __init__(self, text: str, start: int) -> None:
        self.end = start
        """The place after the object."""
        self.fields: dict[str, Any] = {}
        self.unfinished: tuple[str, Any] = "", None
        """The field in which it breaks off, with the text or the complete items of the list that were begun."""
        self.cut = False
        """Whether the text ends before the object does, or goes too deep."""
        self.broken = False
        """Whether it cannot be told what the object means."""
        self._text = text
        self._depth = 0
        try:
            self._members("}", lambda: self._field(self.fields))
        except IndexError:
            self.cut = True

    def _sign(self) -> str:
        while self._text[self.end].isspace():
            self.end += 1
        return _SIGNS.get(self._text[self.end], self._text[self.end])

    def _members(self, closing: str, take: Callable[[], None]) -> None:
        """Read what stands between brackets, with a comma between any two and perhaps one behind the last."""
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise IndexError
        self.end += 1
        ready = True
        while (sign := self._sign()) not in ("}", "]"):
            self.broken = self.broken or (sign == ",") is ready
            ready = sign == ","
            if ready:
                self.end += 1
            else:
                take()
        self.broken = self.broken or sign != closing
        self.end += 1
        self._depth -= 1

    def _field(self, fields: dict[str, Any]) -> None:
        name = unicodedata.normalize("NFKC", str(self._value())).strip().casefold()
        if self._sign() != ":":
            self.broken = True
            return
        self.end += 1
        outermost = self._depth == 1
        if outermost:
            self.unfinished = name, None
        value = self._value()
        if outermost:
            self.unfinished = "", None
        # A quotation that escapes its string repeats a key; the last one winning would let a passage decide.
        self.broken = self.broken or (name in fields and fields[name] != value)
        fields[name] = value

    def _value(self) -> Any:
        sign = self._sign()
        if sign == "{":
            fields: dict[str, Any] = {}
            self._members("}", lambda: self._field(fields))
            return fields
        if sign == "[":
            items: list[Any] = []
            self._begin(items)
            self._members("]", lambda: items.append(self._value()))
            return items
        if sign in _CLOSING:
            return self._string(_CLOSING[sign])
        if sign in "}],:":
            self.broken = True
            self.end += sign == ":"
            return None
        return self._bare()

    def _begin(self, value: Any) -> None:
        if self._depth == 1 and self.unfinished[0]:
            self.unfinished = self.unfinished[0], value

    def _string(self, closing: str) -> str:
        start = self.end + 1
        for found in re.compile(rf"\\.|{closing}", re.DOTALL).finditer(self._text, start):
            # A quote inside the string, such as an apostrophe, is not followed by a sign of JSON.
            if found.group() == closing and _ENDS_STRING.match(self._text, found.end()):
                self.end = found.end()
                return _unescaped(self._text[start : found.start()])
        self._begin(_unescaped(_BEGUN_ESCAPE.sub("", self._text[start:])))
        raise IndexError

    def _bare(self) -> Any:
        found = _BARE.match(self._text, self.end)
        word = found.group() if found else self._text[self.end]
        self.end += len(word)
        if word.casefold() in _WORDS:
            return _WORDS[word.casefold()]
        if self.end == len(self._text):
            # A number or a word at the very end may go on.
            raise IndexError
        try:
            return json.loads(word)
        except ValueError:
            return word


def _unescaped(text: str) -> str:
    """What a string of JSON says; a quote inside it stands for itself, and so does what is escaped without need."""
    mended = _ESCAPES.sub(lambda found: {'"': '\\"', "\\": ""}.get(found.group(), found.group()), text)
    return str(json.loads(f'"{mended}"', strict=False))
