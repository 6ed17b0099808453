"""Reading the JSON that chat models write, tolerantly, without ever reading what is not there.

Pure. A reply that holds no readable object, or two that contradict each other, gives None, never a guess.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from engine.llm.examples import given_back
from engine.llm.json_text import LONGEST_REPLY, cut_object, json_objects
from engine.model.values import Verdict

Strategy = Literal["qualify", "broader", "synonyms", "split", "emphasise"]
"""Codes that the built-in rewriter has too, so that pages render both in the same way."""

_LONGEST_REASON = 600
_LONGEST_QUERY = 400
_LIMIT_OF_REASONS = 240
"""Characters after which a model that keeps to our schema had to stop in the middle."""
_MOST_KEYWORDS = 12

_YES = frozenset({"true", "yes", "y", "1", "1.0", "是", "是的", "对"})
_NO = frozenset({"false", "no", "n", "0", "0.0", "否", "不", "不是"})
_RELEVANT = frozenset({"relevant", "相关", "有关"})
_IRRELEVANT = frozenset({"irrelevant", "not relevant", "unrelated", "不相关", "无关"})
_AROUND_WORD = " \t\r\n.。!！\"'“”‘’`*_"
_SURE: Mapping[str, float] = MappingProxyType(
    {
        **dict.fromkeys(("very high", "certain", "很高", "非常高", "极高"), 0.95),
        **dict.fromkeys(("high", "高", "较高"), 0.9),
        **dict.fromkeys(("medium", "moderate", "中", "中等"), 0.6),
        **dict.fromkeys(("low", "very low", "低", "较低", "很低"), 0.3),
    }
)
"""Shares for confidence in words; low is that of a verdict that is more likely wrong, as 0.3 itself would be."""
_NUMBER = re.compile(
    r"(?:~|≈|about|约)?\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)"
    r"\s*(%|percent|/\s*(\d+(?:\.\d+)?)|out of\s*(\d+))?(?:\s*\([^()]*\))?",
    re.I,
)
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d{1,2}(?!\d))|(?<=\b0),(?=\d)")


class Part(BaseModel):
    """An object inside a reply; unknown fields are left out, keys are compared without case."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class Reply(Part):
    """Values that a role reads from a reply."""

    lists: ClassVar[frozenset[str]] = frozenset()
    """Fields whose complete items count where the reply is cut inside them."""

    decisive: ClassVar[tuple[str, ...]]
    """Fields that two objects of one reply must agree on."""

    bare: ClassVar[str] = ""
    """The field that a reply of one word stands for; empty: such a reply says nothing."""


def called(*names: str, otherwise: Any = ...) -> Any:
    """A field by any of some names; required unless there is something ``otherwise``."""
    return Field(otherwise, validation_alias=AliasChoices(*names))


def read_by(read: Callable[..., Any], **options: Any) -> BeforeValidator:
    """A field that ``read`` parses from a model's reply; a ``ValueError`` from it makes the reply unreadable."""
    return BeforeValidator(partial(read, **options))


def word_of(value: Any) -> str:
    """A word or two as they are compared: without case, Markdown, quotation marks and full stop."""
    return " ".join(unicodedata.normalize("NFKC", str(value)).casefold().strip(_AROUND_WORD).split())


def yes_or_no(value: Any, *, yes: frozenset[str] = frozenset(), no: frozenset[str] = frozenset()) -> bool:
    """A judgement in words, with what else a role says for yes and no; ``ValueError`` for anything else."""
    if isinstance(value, bool):
        return value
    words = {word_of(part) for part in re.split(r"[,，、;；]", str(value))}
    if words <= yes | _YES:
        return True
    if words <= no | _NO:
        return False
    raise ValueError("neither yes nor no")


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
    """A confidence as a share in [0, 1], or None where its scale is unclear.

    ``0.8``, ``"0,8"``, ``"80%"``, ``"8/10"`` and ``80`` are 0.8, ``"high"`` is 0.9. Just above 1 is cut to 1. From 2
    to 10 the scale is unknown: read as a percentage, a "no" of confidence 9 out of 10 would pass as relevant.
    """
    if isinstance(value, bool):
        return None
    text = unicodedata.normalize("NFKC", str(value)).strip(_AROUND_WORD.replace(".", ""))
    if (share := _SURE.get(word_of(text))) is not None:
        return share
    found = _NUMBER.fullmatch(_DECIMAL_COMMA.sub(".", text, count=1))
    if found is None:
        return None
    number = float(found.group(1))
    if not math.isfinite(number) or number < 0:
        return None
    if whole := found.group(3) or found.group(4):
        share = number / float(whole) if float(whole) else -1.0
    elif found.group(2):
        share = number / 100
    elif number < 2:
        return min(1.0, number)
    else:
        share = number / 100 if number > 10 else -1.0
    return share if 0 <= share <= 1 else None


def _confidence(value: Any) -> float | None:
    if value is None:
        return None
    share = read_confidence(value)
    if share is None:
        raise ValueError("not a confidence")
    return share


_REASONS = ("reason", "why", "reasoning", "explanation", "理由", "原因")


class ReasonedReply(Reply):
    """A reply that gives its reason."""

    reason: Annotated[str, read_by(reason_text)] = called(*_REASONS, otherwise="")


class WhyReply(ReasonedReply):
    """Why a verdict is so."""

    decisive = ("reason",)

    reason: Annotated[str, read_by(reason_text)] = called(*_REASONS)


_JUDGED = ("relevant", "is_relevant", "verdict", "relevance", "grade", "binary_score", "judgement", "judgment", "score")
_JUDGED_ZH = ("相关", "是否相关", "相关性", "判断")


def _relevant(value: Any) -> bool:
    return yes_or_no(value, yes=_RELEVANT, no=_IRRELEVANT)


def _numbers(value: Any) -> tuple[int, ...]:
    """Whole numbers in a list; those that are none are left out."""
    return tuple(
        int(text) for text in (str(item).strip() for item in listed(value)) if text.isascii() and text.isdigit()
    )


class VerdictReply(ReasonedReply):
    decisive = ("relevant", "confidence")
    bare = "relevant"

    relevant: Annotated[bool, read_by(_relevant)] = called(*_JUDGED, *_JUDGED_ZH)
    confidence: Annotated[float | None, read_by(_confidence)] = called(
        "confidence", "sure", "certainty", "confidence_score", "confidence_level", "置信度", "把握", otherwise=None
    )
    """In [0, 1], in this verdict; None for a yes or no alone."""

    parts: Annotated[tuple[int, ...], read_by(_numbers)] = called("parts", "部分", otherwise=())
    """Numbers of the parts of the question that the passage answers."""

    @property
    def contradicts_itself(self) -> bool:
        """True if it is a "no" that is more likely wrong than right.

        Small models give the relevance where the confidence in their verdict is asked, and P(relevant) = 1 - confidence
        would turn a firm no into a pass.
        """
        return not self.relevant and self.confidence is not None and self.confidence < 0.5

    def verdict(self, grader: str, fit: str = "", *, alone: bool = False, parts: int = 0) -> Verdict | None:
        """The verdict; None where it contradicts itself. ``alone``: of a yes or no alone, else of none of those.

        ``parts``: how many the question has. One that is named is as probable as the verdict says, any other is not.
        """
        if self.contradicts_itself or (self.confidence is None) is not alone:
            return None
        # As of other programs: certain, and known to stand for nothing.
        confidence = 1.0 if self.confidence is None else self.confidence
        made = Verdict(self.relevant, confidence, self.reason, grader=grader, fit=fit, bare=alone)
        return replace(made, parts=tuple(made.p_relevant * (number in self.parts) for number in range(1, parts + 1)))

    @model_validator(mode="before")
    @classmethod
    def _agrees_with_itself(cls, fields: Any) -> Any:
        if isinstance(fields, Mapping):
            said = set()
            for value in (fields[name] for name in (*_JUDGED, *_JUDGED_ZH) if name in fields):
                try:
                    said.add(_relevant(value))
                except ValueError:
                    continue
            if len(said) > 1:
                raise ValueError("a yes and a no")
        return fields


_CITED = re.compile(r"^(?:[\[【][1-9]\d?[\]】]\s*)+|(?:(?<![\w\]])|(?<=[^\x00-\x7f]))(?:\s*[\[【][1-9]\d?[\]】])+\s*$")
"""Numbers of passages around a query, as small models add them; the ``[0]`` of ``list[0]`` is none."""


def query_text(value: Any) -> str:
    """A query on one line, without numbers of passages around it; raises ``ValueError`` for what is none."""
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

    query: Annotated[str, read_by(query_text)] = called("query", "rewritten_query", "new_query", "查询", "新查询")
    keywords: Annotated[tuple[str, ...], read_by(_keywords)] = called("keywords", "关键词", otherwise=())
    strategy: Annotated[Strategy | Literal[""], read_by(_strategy)] = ""


ReplyT = TypeVar("ReplyT", bound=Reply)


_CALLED = ("arguments", "parameters", "input", "args")
"""Where the call of a tool has what it is called with, perhaps as a text of its own."""
_ELEMENT = re.compile(r"<(?:parameter=)?([\w ]{1,40})>\s*([^<>]*?)\s*</")
_LINE = re.compile(
    r"^[ \t>*_•#-]*([^\s:：=*`][^:：=\n*`]{0,40}?)[ \t*_`]*[:：=][ \t*_`]*(\S[^\n]*?)[ \t*_`,，]*$", re.M
)


def read_reply(text: str, shape: type[ReplyT]) -> ReplyT | None:
    """The one object of that shape in a reply, or None where there is none or where two disagree.

    Code fences, text around the object, trailing commas, single or curly quotes, bare words, a wrapping object, the
    call of a tool and Python's ``True`` are read; a key given twice with different values is not. Without any object,
    lines or elements that name the fields are read, and the one word that the shape allows.
    """
    found = [item for candidate in json_objects(text) for item in _of_shape(candidate, shape, 0)]
    if not found and not any(sign in text for sign in "{｛"):
        found = list(_of_shape(_named_in(text[:LONGEST_REPLY], shape), shape, 2))
    for name in shape.decisive:
        said = [value for value in (getattr(item, name) for item in found) if value is not None]
        if any(value != said[0] for value in said):
            return None
    # What agrees may be less complete: the one that says most, and of several the last.
    return max(reversed(found), key=lambda item: len(item.model_fields_set), default=None)


def read_cut_reply(text: str, shape: type[ReplyT]) -> ReplyT | None:
    """Read a truncated reply if everything decisive was complete; else None.

    A text that was being written is kept as a reason only; of a list, its complete items where the shape allows it.
    """
    reader = cut_object(text)
    if reader is None:
        return None
    name, begun = reader.unfinished
    if reader.broken or name in reader.fields:
        return None
    if name in _REASONS and isinstance(begun, str) and begun:
        reader.fields[name] = begun + "…"
    elif name in shape.lists and isinstance(begun, list):
        reader.fields[name] = begun
    found = next(_of_shape(reader.fields, shape, 2), None)
    # A yes or no alone is one where nothing else was to follow.
    return None if isinstance(found, VerdictReply) and found.confidence is None else found


def _of_shape(value: Any, shape: type[ReplyT], depth: int) -> Iterator[ReplyT]:
    if depth > 3:
        return
    if isinstance(value, Mapping):
        try:
            yield shape.model_validate(value)
            return
        except ValidationError:
            if any(not isinstance(value.get(name), Mapping | list | None) for name in _decisive_names(shape)):
                # It says what decides, and in no way that can be read; what stands inside it decides nothing.
                return
            children: Any = [_unpacked(name, child) for name, child in value.items()]
    elif isinstance(value, list):
        children = value
    else:
        return
    for child in children:
        yield from _of_shape(child, shape, depth + 1)


def _unpacked(name: str, value: Any) -> Any:
    """Decode a tool call's arguments from JSON text."""
    return next(json_objects(value), None) if name in _CALLED and isinstance(value, str) else value


def _decisive_names(shape: type[Reply]) -> Iterator[str]:
    for name in shape.decisive:
        choices = shape.model_fields[name].validation_alias
        yield from map(str, choices.choices) if isinstance(choices, AliasChoices) else (name,)


def _named_in(text: str, shape: type[Reply]) -> dict[str, Any]:
    """The fields that a text without JSON names, or its one word; nothing where a field is named in two ways."""
    fields: dict[str, Any] = {}
    for name, value in (*_ELEMENT.findall(text), *_LINE.findall(text)):
        folded = word_of(name)
        if fields.setdefault(folded, value) != value:
            return {}
    word = re.sub(r"^\s*```\w*\s|```\s*$|</?tool_call>", "", text)
    # A sign alone may as well be the number of a passage.
    spoken = len(word_of(word)) > 1 or not word_of(word).isascii()
    return fields or ({shape.bare: word} if shape.bare and spoken else {})
