"""What an evaluator's reply says, read tolerantly: strings for objects, lists by dimension, yes and no in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AliasChoices, Field, model_validator

from engine.llm.examples import given_back
from engine.llm.parsing import Part, Reply, plain_text, read_by, yes_or_no
from engine.model.values import EvaluationDimension

MOST_SUGGESTIONS = 8
_LONGEST_SUGGESTION = 400
_LONGEST_QUOTE = 1000

_YES = frozenset({"true", "yes", "y", "1", "pass", "passed", "ok", "是", "通过", "合格"})
_NO = frozenset({"false", "no", "n", "0", "fail", "failed", "否", "不通过", "未通过", "不合格"})
_NOTHING = re.compile(
    r"^(?:none|no(?:thing| (?:suggestions?|issues?|changes?))?|n/?a|无|没有|无建议|-|\[\])?[.。]?$", re.I
)
_EVIDENCE = re.compile(
    r"evidence|cit(?:e|ation|ing)|source|marker|support|passage|\[\d+\]|证据|引用|来源|出处|标注|依据|片段", re.I
)


def dimension_named(value: Any) -> EvaluationDimension | None:
    """The dimension that a name means, in English or Chinese; None where it means neither."""
    folded = re.sub(r"[\W_]+", " ", str(value).casefold()).strip()
    if folded.startswith("reason") or "合理" in folded:
        return "reasonableness"
    if folded.startswith(("evidence", "citation")) or "证据" in folded or "标注" in folded:
        return "evidence_marking"
    return None


def _quote(value: Any) -> str:
    # Kept as it stands: it must be found in the answer word for word.
    quote = value.strip()[:_LONGEST_QUOTE] if isinstance(value, str) else ""
    return "" if given_back(quote) else quote


class SuggestionReply(Part):
    text: Annotated[str, read_by(plain_text, longest=_LONGEST_SUGGESTION)] = Field(
        validation_alias=AliasChoices("suggestion", "text", "issue", "problem", "change", "建议", "问题", "修改建议")
    )
    dimension: Annotated[EvaluationDimension | None, read_by(dimension_named)] = Field(
        None, validation_alias=AliasChoices("dimension", "aspect", "维度")
    )
    """None where the reply names none that is known."""
    quote: Annotated[str, read_by(_quote)] = Field(
        "", validation_alias=AliasChoices("quote", "sentence", "引文", "原文", "原句")
    )

    @property
    def about(self) -> EvaluationDimension:
        """The dimension named, or the one that the words are about."""
        return self.dimension or ("evidence_marking" if _EVIDENCE.search(self.text) else "reasonableness")


def _items(value: Any, dimension: str | None) -> Iterator[dict[str, Any]]:
    """Suggestions as objects, from any form they came in: objects, strings, lists of them, or lists by dimension."""
    if isinstance(value, str):
        for line in value.split("\n"):
            text = line.strip().lstrip("-*• ").strip()
            if not _nothing(text):
                yield {"suggestion": text, "dimension": dimension}
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _items(item, dimension)
    elif isinstance(value, Mapping):
        if any(dimension_named(key) for key in value):
            for key, item in value.items():
                yield from _items(item, key)
            return
        try:
            read = SuggestionReply.model_validate(value)
        except ValueError:
            return
        if not _nothing(read.text):
            yield {"suggestion": read.text, "dimension": read.dimension or dimension, "quote": read.quote}


def _nothing(text: str) -> bool:
    """Whether a suggestion suggests nothing, or is only the prompt's own."""
    return _NOTHING.match(text) is not None or given_back(text)


def _suggestions(value: Any) -> list[Any]:
    return list(_items(value, None))[:MOST_SUGGESTIONS]


def _judgement(value: Any) -> bool | None:
    return None if value is None else yes_or_no(value, yes=_YES, no=_NO)


class EvaluationReply(Reply):
    lists: ClassVar[frozenset[str]] = frozenset({"suggestions"})
    passed: Annotated[bool | None, read_by(_judgement)] = Field(
        None, validation_alias=AliasChoices("passed", "pass", "通过", "是否通过")
    )
    suggestions: Annotated[tuple[SuggestionReply, ...], read_by(_suggestions)] = Field(
        (), validation_alias=AliasChoices("suggestions", "issues", "problems", "建议", "修改建议", "问题")
    )

    @model_validator(mode="after")
    def _says_something(self) -> EvaluationReply:
        if self.passed is None and not self.suggestions:
            raise ValueError("neither a judgement nor a suggestion")
        return self

    @property
    def usable(self) -> bool:
        """Whether it is a judgement: a failure without a suggestion is none."""
        return self.passed is True or bool(self.suggestions)

    def decisive(self) -> tuple[object, ...]:
        return self.passed, self.suggestions
