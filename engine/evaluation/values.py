"""Batches and labels in the evaluation store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from engine.evaluation.cases import SAMPLE_SET, sample_set
from engine.model.config import RunConfig
from engine.model.values import Claim, Fault, PassageId, RunId
from engine.samples.shipped import EVIDENCE_CONFIG, STARTED_AT, evidence_run

if TYPE_CHECKING:
    from engine.evaluation.answers import Basis
    from engine.evaluation.measures import Measure


@dataclass(frozen=True, slots=True)
class Spent:
    """Cost of runs."""

    calls: int = 0
    """Of chat models."""
    tokens: int = 0
    """Of their prompts and replies, as far as the servers said."""

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.calls + other.calls, self.tokens + other.tokens)


NOTHING_SPENT = Spent()


@dataclass(frozen=True, slots=True)
class Batch:
    """The cases of a query set run under one config; what is written here survives the end of the process."""

    id: str
    set_name: str
    config: RunConfig
    concurrency: int
    created_at: str
    """ISO 8601, UTC."""
    case_ids: tuple[str, ...]
    """In the order of the set."""
    runs: Mapping[str, RunId]
    """By case id; of cases that are begun, also where the run was cut off."""
    failures: Mapping[str, Fault]
    """By case id: runs that failed and questions that could not be run."""
    done: frozenset[str] = frozenset()
    """Cases whose run ended by itself, failures left out."""
    spent: Spent = NOTHING_SPENT
    """By the cases that have ended."""
    ended_at: Mapping[str, str] = field(default_factory=dict)
    """By case id: when its end was noted, ISO 8601, UTC."""
    author: str = ""
    """Who began it, where people sign in."""

    @property
    def total(self) -> int:
        return len(self.case_ids)

    @property
    def finished(self) -> bool:
        """True if no case is left, failed ones counted as ended."""
        return len(self.done) + len(self.failures) >= self.total

    @property
    def left(self) -> tuple[str, ...]:
        """Cases without a finished run, failures left out."""
        return tuple(item for item in self.case_ids if item not in self.done and item not in self.failures)

    @property
    def shipped(self) -> bool:
        """True for the runs of the samples that come with the program."""
        return self.id == SHIPPED_BATCH


SHIPPED_BATCH = "shipped"


@cache
def shipped_batch() -> Batch:
    """The runs of the sample questions that come with the program."""
    names = tuple(case.id for case in sample_set().cases)
    runs = {name: evidence_run(name) for name in names}
    return Batch(SHIPPED_BATCH, SAMPLE_SET, EVIDENCE_CONFIG, 1, STARTED_AT, names, runs, {}, frozenset(names))


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """Progress of a batch."""

    done: int
    """Runs that ended by themselves, failures left out."""
    failed: int
    total: int
    rate_per_s: float
    """Cases ended a second in the last half minute, or since the batch was begun if that is less."""
    remaining_s: float | None
    """None where nothing runs or no rate is known."""
    running: bool
    """Whether it is running, here or in another process."""
    fault: Fault | None = None
    """What ended it here before its last case, e.g. a disk that is full; None where a person stopped it."""
    elsewhere: bool = False
    """Whether other processes were to run it, so that this one could instead (``resume(here=True)``)."""
    spent: Spent = NOTHING_SPENT
    """By the cases that have ended."""
    workers: int | None = None
    """Other processes that are at work on it; None where threads of one process are."""
    gives_up_s: float | None = None
    """Seconds until those that finish nothing are given up; None while they work, and without any."""
    interrupted: bool = False
    """Whether its process ended without letting it go."""

    @property
    def state(self) -> Literal["running", "done", "failed", "interrupted", "stopped"]:
        """As the list of jobs has it."""
        if self.running:
            return "running"
        if self.done + self.failed >= self.total:
            return "done"
        return "failed" if self.fault is not None else "interrupted" if self.interrupted else "stopped"


Drawing = Literal["random", "chosen", ""]
"""How a pair came to be judged: drawn at random among all, chosen because much hangs on it, or met by hand.

Only those drawn at random stand for others, and so only they feed an interval."""


@dataclass(frozen=True, slots=True)
class Label:
    """Label of a passage for a question."""

    question: str
    passage_id: PassageId
    relevant: bool
    labelled_at: str
    """ISO 8601, UTC."""
    author: str = ""
    """Who said so, where people sign in."""
    explanation: str = ""
    drawn: Drawing = ""
    judge: str = ""
    """The name that a judge gave themselves; each has a judgement of their own. Empty: said in passing."""


@dataclass(frozen=True, slots=True)
class AnswerJudgement:
    """Judgement of an answer by a person or a model.

    Answers are the same where their texts are, white space aside: a run that gives one again is judged already.
    """

    question: str
    answer: str
    right: Literal["yes", "in_part", "no", "unreadable"]
    """``unreadable``: a model said nothing that can be read; never said by a person."""
    explanation: str = ""
    by: Literal["person", "model"] = "person"
    judge: str = ""
    """The name that a person gave themselves, or the model's."""
    drawn: Drawing = ""
    claims: tuple[Claim, ...] = ()
    """What a model found in the answer and the gold answers; none from people."""
    shown: str = ""
    """Digest of what a model was shown with question and answer; empty from people."""
    judged_at: str = ""
    """ISO 8601, UTC; filled in where it is kept."""
    author: str = ""
    """Who said so, or had the model say so, where people sign in; filled in where it is kept."""


@dataclass(frozen=True, slots=True)
class JudgingProgress:
    """Progress of a judge on some answers."""

    judge: str
    """The model, as ``provider:model``."""
    done: int
    """Answers with a verdict of this judge, also from before."""
    unreadable: int
    """Answers of which it said nothing that can be read, or that are too long for its context."""
    total: int
    """Distinct answers that can be judged: given, and with passages or gold answers to judge them by."""
    running: bool = False
    fault: Fault | None = None
    """What ended the last attempt early; what was judged before stands."""


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """One answer, each figure as :data:`figures.Measure` defines it; None where nothing tells."""

    run: RunId
    right: bool | None
    told_by: Basis | None
    gold_answers: tuple[str, ...]
    figures: dict[Measure, float | None]
    judgements: tuple[AnswerJudgement, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values."""
        return {
            "run": self.run,
            "right": self.right,
            "told_by": self.told_by,
            "gold_answers": list(self.gold_answers),
            **{str(name): value for name, value in self.figures.items()},
            "judgements": [asdict(item) for item in self.judgements],
        }
