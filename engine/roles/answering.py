"""The roles that write and judge answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from engine.model.surroundings import read_with
from engine.model.values import (
    Around,
    Attachment,
    Evaluation,
    GraphContext,
    Language,
    Memory,
    Passage,
    PassageId,
    Sentence,
    SentenceCheck,
)

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
from engine.roles.trace import SILENT, Trace

NO_LIMIT = 10**12
"""A budget of tokens that cuts nothing."""
MOST_CHECKED = 30
"""Sentences of an answer that a model is asked about at most."""
EvaluationAim = Literal["answer", "relevance"]


@dataclass(frozen=True, slots=True)
class TableGiven:
    """A table of the question as the generator reads it: rows keep their numbers, so that cells keep their names."""

    number: int
    """From 1, among the tables of the question."""
    name: str
    header: tuple[str, ...]
    """Empty where the table has none."""
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    """Numbers, from 1 with the header counted, and cells."""
    left_out: int = 0
    """Rows that did not fit."""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    question: str
    passages: tuple[Passage, ...]
    """In the order of their markers: the first is ``[1]``."""
    language: Language
    verified: bool = True
    graph: GraphContext | None = None
    """What the knowledge graph adds to them, the most important first (graph + vector retrieval)."""
    tables: tuple[TableGiven, ...] = ()
    """Tables of the question, whose cells are cited ``[T1:B3]``."""
    around: Mapping[PassageId, Around] = field(default_factory=dict)
    """What surrounds passages in their sources: cited by the marker of their passage."""
    open_parts: tuple[str, ...] = ()
    """Parts of the question that no passage answers: the answer says so."""

    @property
    def read(self) -> tuple[Passage, ...]:
        """The passages with what surrounds them in their text."""
        return read_with(self.passages, self.around)


@dataclass(frozen=True, slots=True)
class RefineRequest:
    question: str
    passages: tuple[Passage, ...]
    threshold: float
    """How much a strip must bear on the question, in [0, 1]; a refiner without such a score does not read it."""
    names: tuple[str, ...] = ()
    """Of entities that the search went along: a strip that connects two of them bears on the question."""
    around: frozenset[PassageId] = frozenset()
    """Which of the passages only surround another one: of these nothing need be kept."""


class Refiner(Protocol):
    """Says which strips of passages bear on a question.

    Contract (tests/contracts/test_refiner.py): by id the strips of each passage, which joined are its text, at least
    one of them kept unless it is in ``around``; a passage that is not in the result is whole. It writes nothing of
    its own; text inside a passage is evidence and never an instruction. A passage for which no reply can be read is
    None, and whole. A server that cannot be reached is a ``ModelError``.
    """

    async def refine(
        self, request: RefineRequest, trace: Trace = SILENT
    ) -> Mapping[PassageId, tuple[Sentence, ...] | None]: ...


class Generator(Protocol):
    """Answers from the passages alone, citing them ``[n]``.

    Contract (tests/contracts/test_generator.py): answers in the question's language; every marker points to a passage
    given; says honestly what is missing; streams pieces through ``trace.token`` whose concatenation, since the last
    ``trace.restart``, is the returned text; with neither passages nor tables it is never called; a marker ``[T1:B3]``
    points to a cell of a table given. Blank output is ``ModelError.empty_reply``.
    """

    @property
    def context_tokens(self) -> int:
        """Budget for the passages, in tokens; the assembling step cuts there."""

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, estimated where the model's tokenizer is not at hand."""

    async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str: ...


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    question: str
    answer: str
    passages: tuple[Passage, ...]
    """In the order of the answer's markers: the first is ``[1]``; their texts may be cut (AE-04)."""
    language: Language
    aim: EvaluationAim = "answer"
    """``answer`` judges reasonableness and evidence marking (AE-02); ``relevance`` only whether the answer
    solves the question (DL-04), with every suggestion under ``reasonableness``."""
    unseen: int = 0
    """Passages that the answer was written from and that are not shown: their markers follow those of ``passages``."""
    removed_markers: tuple[str, ...] = ()
    """Markers that pointed nowhere and were taken out of the answer."""


class Evaluator(Protocol):
    """Judges a finished answer against question and passages.

    Contract (tests/contracts/test_evaluator.py): ``passed`` exactly where there is no suggestion; at least one
    suggestion for each failed dimension, concrete and actionable; text inside answer and passages is evidence and
    cannot change the judgement's form; a quote stands in the answer word for word. A reply that cannot be read after
    one more try is ``UnreadableReply``, a server that cannot be reached a ``ModelError``.
    """

    async def evaluate(self, request: EvaluationRequest, trace: Trace = SILENT) -> Evaluation: ...


class Writer(Protocol):
    """Writes an answer from a conversation and nothing else (AE-06).

    Contract (tests/contracts/test_writer.py): as :class:`Generator` for markers, language, streaming and blank output;
    the first human message holds question and passages, further ones ask for a revision of the answer before them.
    """

    @property
    def context_tokens(self) -> int: ...

    def count_tokens(self, text: str) -> int: ...

    async def write(self, messages: Sequence[BaseMessage], trace: Trace = SILENT) -> str: ...


@dataclass(frozen=True, slots=True)
class DirectRequest:
    question: str
    memories: tuple[Memory, ...]
    language: Language


class DirectAnswerer(Protocol):
    """Answers without a search: from memory or from good manners.

    Contract (tests/contracts/test_direct.py): streams pieces whose concatenation is the returned text, never blank; in
    the question's language; an answer from memory says so and names the sources that the memory has.
    """

    async def answer(self, request: DirectRequest, trace: Trace = SILENT) -> str: ...


@dataclass(frozen=True, slots=True)
class DistilRequest:
    question: str
    sentences: tuple[str, ...]
    """Those of the answer that cite something, in order, each with its markers; at least one."""
    language: Language


class Distiller(Protocol):
    """Says in one or two sentences what an answer claims, to be remembered (DL-06).

    Contract (tests/contracts/test_distiller.py): in the question's language, from the sentences given alone, with their
    markers; streams nothing; never blank. The caller checks the claim: a model may add what no source says.
    """

    @property
    def name(self) -> str:
        """The model that words it; empty where the sentences stay as they are."""

    async def distil(self, request: DistilRequest, trace: Trace = SILENT) -> str: ...


@dataclass(frozen=True)
class Given:
    """Everything that an answer was written from."""

    passages: tuple[Passage, ...] = ()
    """In the order of their markers, with what surrounds them in their text."""
    tables: tuple[Attachment, ...] = ()
    unmarked: tuple[str, ...] = ()
    """Texts that have no marker: facts of a graph, an answer that was remembered."""


class Verifier(Protocol):
    """Says of each sentence of an answer whether what it cites says it.

    Contract (tests/contracts/test_verifier.py): one check for each sentence that states something, in their order; a
    sentence is held against the passages and tables that it cites, and against all that was given where it cites none;
    text inside a passage is evidence and never an instruction. A sentence that could not be checked has no P and says
    why, never a silent pass; a server that cannot be reached raises nothing, and leaves all unchecked.
    """

    async def verify(
        self, question: str, answer: str, given: Given, trace: Trace = SILENT
    ) -> tuple[SentenceCheck, ...]: ...
