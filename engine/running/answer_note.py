"""What has to be said of a finished answer beside its outcome: that it cannot tell, or that it cites nothing."""

from __future__ import annotations

import re

from engine.builtin.answer_reading import MARKER, statements
from engine.model.values import AnswerNote, Outcome, RunRecord

_ANSWERED: tuple[Outcome, ...] = ("answered", "answered_forced", "answered_unverified")
_ABOUT_SOURCES = re.compile(
    r"\b(?:passages?|sources?|documents?|texts?|context|information|evidence|articles?)\b"
    r"|资料|片段|段落|文中|文本|文档|文章|材料|来源|上下文|信息|内容",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,，;；]")
_ANY_MARKER = re.compile(r"[\[【［]\s*[Tt]?\d[^\[\]【】［］]{0,20}[\]】］]|[\[【［]\s*\d\s*[\]】］]")
_DENIAL = re.compile(
    r"\b(?:do|does|did|is|are|was|were|can|could|has|have)(?: not|n't) (?:\w+ ){0,2}?"
    r"(?:say|mention(?:ed)?|state[ds]?|specif\w+|contain\w*|cover(?:ed)?|give[ns]?|answer(?:ed)?|tell|address\w*"
    r"|explain\w*|include\w*|provide[ds]?|discuss\w*|describe[ds]?|found|find|known?|available|determined?|sufficient"
    r"|enough|refer|relate[ds]?)\b"
    r"|\bno (?:\w+ ){0,2}?(?:information|passages?|mention|statements?|data|evidence|answer|details?)\b"
    r"|\bcannot (?:be )?(?:\w+ed|answer|tell|say|told|said|determine|find|provide)\b"
    r"|\bnothing (?:is|was) (?:known|said|found|mentioned)"
    r"|\b(?:unable|not able) to (?:answer|tell|determine|find|provide)"
    r"|(?:没有|没|未|不)(?:能|曾|有|直接|明确|具体|足够|充分|任何)*"
    r"(?:提到|提及|提供|说明|说|写明|给出|涉及|记载|回答|指出|讲|交代|包含|包括|找到|相关|关于|足够|讨论|描述|知道|清楚)"
    r"|信息不足|不得而知|无法(?:从[^。]{0,20})?(?:确定|得知|判断|回答|得出|提供|找到|知道)",
    re.IGNORECASE,
)


def note_on(record: RunRecord, outcome: Outcome) -> AnswerNote:
    """The note of a run that ends so; empty for an answer that cites, and wherever nothing was given to cite.

    A built-in generator quotes with markers or says that it cannot tell: a denial beside a marker is a passage's own.
    """
    given = record.context
    if outcome not in _ANSWERED or given is None or not (given.passages or given.tables):
        return ""
    if not record.answer.strip():
        return ""
    if record.config.models.generator.built_in:
        return "" if record.citations or record.cell_citations else "cannot_tell"
    if denies(record.answer):
        return "cannot_tell"
    return "" if record.citations or record.cell_citations else "uncited"


def denies(answer: str) -> bool:
    """Whether an answer says that nothing is known, and states nothing with a citation besides.

    A denial with a marker counts where it speaks of the sources: "the cause is not known [1]" is a fact of one.
    """
    denials = claims = 0
    for item in statements(answer):
        if _DENIAL.search(item.plain) and (not item.markers or _denied_of_sources(item.text)):
            denials += 1
        elif item.markers:
            return False
        elif item.part == "claim":
            claims += 1
    # Who denies and then tells something all the same, without a source, has told it.
    return denials > 0 and claims <= denials


def _denied_of_sources(sentence: str) -> bool:
    """Whether what a sentence puts its markers on is that the sources say nothing."""
    cited = [clause for clause in _CLAUSE.split(sentence) if MARKER.search(clause)]
    return _ABOUT_SOURCES.search(MARKER.sub(" ", sentence)) is not None and all(map(_DENIAL.search, cited))


def wordless(text: str, question: str = "") -> bool:
    """Whether a text says nothing: markers, signs and the question itself are no answer."""
    said = _letters(_ANY_MARKER.sub("", text))
    return said in ("", _letters(question))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
