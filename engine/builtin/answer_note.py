"""Notes on a finished answer besides its outcome: unsupported, uncited, or unable to tell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from engine.builtin.answer_reading import MARKER, begins_with_gap, nearest_strip, statements
from engine.builtin.answer_support import YES_OR_NO, cited_by, graph_texts, word_checks
from engine.builtin.direct import direct_answer
from engine.builtin.markers import markers_in, without_markers
from engine.builtin.table_work import Worked, worked_out
from engine.model.config import RoleModel, RunConfig
from engine.model.language import language_of
from engine.model.surroundings import around_of, read_with
from engine.model.values import (
    ANSWERED,
    AnswerNote,
    Outcome,
    PassageId,
    RunRecord,
    unsupported_of,
)
from engine.roles import DirectRequest, Given

_ABOUT_SOURCES = re.compile(
    r"\b(?:passages?|sources?|documents?|texts?|context|information|evidence|articles?)\b"
    r"|资料|片段|段落|文中|文本|文档|文章|材料|来源|上下文|信息|内容",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,，;；]")
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

_AWAITS = re.compile(r"(?:\b(?:is|are|was|were)|[是为叫])$", re.IGNORECASE)
"""Ends of sentences that have yet to say something."""


def noted(record: RunRecord, outcome: Outcome | None = None) -> RunRecord:
    """Add to a run that ends, or has ended, with ``outcome`` what its answer says without support, and its note.

    The record's own checks decide; where it has none, the built-in verifier checks now, as far as the record says what
    its answer was written from. A record that has its note is returned as it is. Nothing is checked where no answer was
    given, and for a trace of another program, whose way to cite is not known.
    """
    if record.unsupported_sentences is not None:
        return record
    given = to_check(record, outcome)
    if given is None:
        return record
    checks = word_checks(record.question, record.answer, given) if record.checks is None else record.checks
    cut = record.config.min_support
    note = note_of((item.p_supported for item in checks), cut, _otherwise(record))
    return replace(record, checks=checks, unsupported_sentences=unsupported_of(checks, cut), answer_note=note)


@dataclass(frozen=True, slots=True)
class Checked:
    """What decides the note of an answer under any settings, without its text or a call."""

    note: AnswerNote
    """The recorded one, which records of older versions keep."""
    otherwise: AnswerNote
    """That of an answer whose every sentence is supported."""
    chances: tuple[float | None, ...] | None
    """P(supported) of each sentence; None where nothing was to be checked."""
    verifier: RoleModel
    min_support: float

    @classmethod
    def of(cls, record: RunRecord) -> Checked:
        """Read a record; sentences of an older version's, which has no checks, are checked by words."""
        checks = record.checks
        if checks is None and record.config.models.verifier.built_in:
            given = to_check(record)
            checks = word_checks(record.question, record.answer, given) if given is not None else None
        chances = None if checks is None else tuple(item.p_supported for item in checks)
        config = record.config
        return cls(record.answer_note, _otherwise(record), chances, config.models.verifier, config.min_support)

    def under(self, config: RunConfig) -> AnswerNote:
        """The note under other settings; what another verifier would say is unknown."""
        if self.chances is None or (config.models.verifier, config.min_support) == (self.verifier, self.min_support):
            return self.note
        if config.models.verifier != self.verifier:
            return "unchecked"
        return note_of(self.chances, config.min_support, self.otherwise)

    def sentences(self, config: RunConfig) -> tuple[int, int, int]:
        """How many sentences are supported under these settings, are not, and are not checked."""
        chances = self.chances or ()
        if config.models.verifier != self.verifier:
            return 0, 0, len(chances)
        known = [item for item in chances if item is not None]
        supported = sum(item >= config.min_support for item in known)
        return supported, len(known) - supported, len(chances) - len(known)


def note_of(chances: Iterable[float | None], min_support: float, otherwise: AnswerNote) -> AnswerNote:
    """The weightiest note; ``otherwise`` is that of an answer whose every sentence is supported."""
    found = tuple(chances)
    if any(item is not None and item < min_support for item in found):
        return "unsupported"
    return otherwise or ("unchecked" if None in found else "")


def to_check(record: RunRecord, outcome: Outcome | None = None) -> Given | None:
    """What the answer of a run that ends with ``outcome`` is held against; None where there is nothing to check."""
    if record.origin is not None or (outcome or record.outcome) not in ANSWERED or not record.answer.strip():
        return None
    return given_of(record)


def given_of(record: RunRecord) -> Given | None:
    """Return the basis of an answer: passages, tables, graph, or the memory repeated; None without any."""
    context = record.context
    if context is not None and (context.passages or context.tables):
        worked = _worked(record)
        besides = (worked.text,) if worked else ()
        return Given(
            read_with(context.passages, around_of(record)), record.tables, (*graph_texts(context.graph), *besides)
        )
    memories = record.recall.holding if record.recall else ()
    if not memories or not any(draft.direct and draft.text == record.answer for draft in record.drafts):
        return None
    request = DirectRequest(record.question, memories, language_of(record.question))
    return Given(besides=(direct_answer(request), *(item.answer for item in memories)))


def _worked(record: RunRecord) -> Worked | None:
    """Return the result computed from the tables, if the question asks for one."""
    return worked_out(record.question, record.tables, language_of(record.question)) if record.tables else None


def _otherwise(record: RunRecord) -> AnswerNote:
    """The note of an answer without unsupported sentences; empty for one that cites what bears it out.

    A built-in generator quotes with markers or says that it cannot tell, before all else where it quotes too: a denial
    next to a marker is a passage's own.
    """
    worked = _worked(record)
    # What was worked out from cells needs no marker.
    known = worked is not None and worked.known and worked.text == record.answer
    cites = bool(record.citations or record.cell_citations) or known
    if record.context is None or not (record.context.passages or record.context.tables):
        return ""
    if record.config.models.generator.built_in:
        return "" if cites and not begins_with_gap(record.answer) else "cannot_tell"
    if denies(record.answer):
        return "cannot_tell"
    return "" if cites else "uncited"


def nearest_strips(record: RunRecord) -> dict[str, tuple[PassageId, str]]:
    """By sentence that is unsupported or unchecked, the passage and the part of it that come nearest by their words.

    Of the passages that the sentence cites, or all that were given where it cites none; sentences that share no word
    with them are left out.
    """
    doubted = {item.sentence for item in record.unsupported_sentences or ()}
    doubted |= {item.sentence for item in record.checks or () if item.p_supported is None}
    given = Given(record.context.passages if record.context else ())
    found = {}
    for statement in statements(record.answer) if doubted else ():
        near = nearest_strip(statement, cited_by(given, statement)[0]) if statement.text in doubted else None
        if near is not None:
            found[statement.text] = near
    return found


def denies(answer: str) -> bool:
    """Return whether an answer says that nothing is known, and states nothing with a citation besides.

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
    # A denial followed by an unsourced statement counts as a statement.
    return denials > 0 and claims <= denials


def _denied_of_sources(sentence: str) -> bool:
    """Return whether what a sentence puts its markers on is that the sources say nothing."""
    cited = [clause for clause in _CLAUSE.split(sentence) if MARKER.search(clause)]
    return _ABOUT_SOURCES.search(MARKER.sub(" ", sentence)) is not None and all(map(_DENIAL.search, cited))


def wordless(text: str, question: str = "") -> bool:
    """Return whether a text says nothing: no answer are markers, signs, the question, and *The port is [1].*"""
    said = _letters(without_markers(text))
    if said in ("", _letters(question)):
        return True
    # "Yes, it is [1]" says enough.
    wanted = bool(question) and not YES_OR_NO.search(question)
    return wanted and all(_hollow(item.text) for item in statements(text))


def _hollow(sentence: str) -> bool:
    """Return whether a marker stands for what a sentence should say."""
    return any(markers_in(sentence)) and _AWAITS.search(without_markers(sentence).rstrip(" .:。：")) is not None


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
