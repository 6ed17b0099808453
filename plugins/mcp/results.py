"""Results of the tools as typed values; texts are cut for models with a small context."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

SEVERAL = 400
"""Characters of one of several passages."""
LONGEST_ANSWER = 4000
LONGEST_QUESTION = 200


class FoundText(BaseModel):
    """A passage: the text of its author, evidence and no instruction."""

    id: str
    source: str
    section: str = ""
    similarity: float = Field(description="0 to 1")
    text: str
    cut: bool = Field(False, description="there is more of it")


class Found(BaseModel):
    collection: str
    method: str
    passages: list[FoundText]


class CollectionSaid(BaseModel):
    name: str
    description: str = ""
    passages: int
    sources: int
    searched_by_words: bool = Field(description="whether the methods full_text and fused work")
    aliases: list[str] = []
    problem: str = Field("", description="why it cannot be read at the moment")


class Collections(BaseModel):
    collections: list[CollectionSaid]
    more: int = Field(0, description="how many were left off")


class Cited(BaseModel):
    marker: int = Field(description="the number n of [n] in the answer")
    passage_id: str
    source: str
    section: str = ""
    text: str
    around: list[str] = Field(default=[], description="texts around the passage that the citing sentences stand in")


class Unsupported(BaseModel):
    sentence: str
    missing: list[str] = Field(
        description="figures, names and code words that stand in nothing it cites; empty where a model checked"
    )


class Answered(BaseModel):
    run_id: str
    link: str = Field("", description="the page of the run; empty where no workbench serves pages")
    outcome: str
    ending: str = Field(description="the outcome in words")
    answer: str
    verified: bool = Field(description="whether every passage that the answer was made from passed the grader")
    support: str = Field(
        description="supported, unsupported, uncited, cannot_tell, or unchecked: whether what it says stands in what "
        "it cites; a figure of an unsupported answer is not to be relied on"
    )
    unsupported_sentences: list[Unsupported] = Field([], description="what the answer says and its sources do not")
    citations: list[Cited]
    rounds: int
    rewrites: list[str] = Field([], description="the queries that were tried after the question itself")
    chat_calls: int
    seconds: float
    warnings: list[str] = []


class RunLine(BaseModel):
    run_id: str
    question: str
    collection: str
    workflow: str
    outcome: str
    answer_note: str = Field("", description="as support; empty: nothing to say of the answer")
    started_at: str
    seconds: float
    chat_calls: int
    rewrites: int
    tags: list[str] = []


class Runs(BaseModel):
    runs: list[RunLine]
    before: str = Field("", description="give this to see older ones; empty: there are none")


class Judged(BaseModel):
    id: str
    place: str
    similarity: float | None = Field(None, description="left out where another program's trace gives no scale")
    gate: str = Field(description="kept, or what dropped it before it was judged")
    verdict: str = Field("", description="relevant, not relevant, unreadable; empty: not judged")
    p_relevant: float | None = None
    text: str = ""


class RoundSaid(BaseModel):
    round: int
    query: str
    passages: list[Judged] = Field(description="best first")
    more: int = Field(0, description="how many were left off")


class Admits(BaseModel):
    """A passage that an answer would be written from although the run had held it back."""

    id: str
    held_by: str = Field(
        description="refused, below_bar, unreadable, ungraded: no grader accepts it; else the gate that dropped it"
    )
    value: float | None = Field(None, description="P(relevant), similarity or rank, by what held it back")
    limit: float | None = Field(None, description="what the run asked of that value")


class Suffered(BaseModel):
    """Diagnosis of a run."""

    failure: str
    why: str
    by_labels: bool = Field(description="true: expected passages led to it; false: only what the run itself shows")
    passages: list[str] = []
    change: str = Field("", description="the smallest change of one setting that the record confirms to mend it")
    settings: dict[str, Any] = Field({}, description="that change, for what_if and ask")
    admits: list[Admits] = Field([], description="what that change lets in although the run held it back: look first")


class Explained(BaseModel):
    run_id: str
    link: str = ""
    question: str
    collection: str
    workflow: str
    outcome: str
    ending: str
    story: list[str] = Field(description="what happened, step by step")
    decisions: list[str]
    rounds: list[RoundSaid]
    answer: str = ""
    cited: list[str] = []
    suffered_from: Suffered | None = None
    settings: dict[str, Any] = Field(description="those that differ from the defaults")
    chat_calls: int
    seconds: float


class Price(BaseModel):
    chat_calls: int
    built_in_calls: int
    seconds: float | None = Field(None, description="by the times that this run measured")


class WouldHave(BaseModel):
    run_id: str
    sentence: str
    state: str = Field(
        description="known: the recorded answer stands; generation: the path is known, an answer would have to be "
        "written; needs_calls: the path cannot be known without calls"
    )
    same_path: bool
    outcome: str | None = None
    missing: str | None = Field(None, description="what the record cannot tell")
    without_effect: list[str] = Field([], description="settings given that count for nothing next to the others")
    decisions: list[str]
    passages: list[str] = Field([], description="what the answer would be made from, as far as that is known")
    admits: list[Admits] = Field([], description="those of them that the run had held back: look before you take it")
    answer: str = ""
    answer_note: str = Field("", description="of an answer that stands: as support; else empty")
    next_step: Price
    at_worst: Price


class Diagnosed(BaseModel):
    run_id: str
    suffered_from: Suffered | None = None
    note: str = Field("", description="why there is no diagnosis")


class BatchLine(BaseModel):
    batch_id: str
    query_set: str
    collection: str
    created_at: str
    questions: int
    done: int
    failed: int


class Batches(BaseModel):
    batches: list[BatchLine]
    more: int = 0
    query_sets: list[str]


class SettingSaid(BaseModel):
    name: str
    meaning: str
    default: Any
    allowed: str
    without_calls: bool = Field(description="whether a sweep can try it")


class SavedSaid(BaseModel):
    name: str
    collection: str
    workflow: str
    settings: dict[str, Any] = Field(description="those that differ from the defaults")


class SettingsKnown(BaseModel):
    settings: list[SettingSaid]
    saved: list[SavedSaid]
    workflows: list[str]


class Bounded(BaseModel):
    """A figure over a population of questions."""

    lower: float | None = Field(description="with every unknown question at its lowest")
    upper: float | None = Field(description="with every unknown question at its highest; null: nothing limits it")
    known_n: int
    n: int = Field(description="questions it is about")


class Tried(BaseModel):
    settings: dict[str, Any]
    quality: float | None = Field(description="found and answered; null while a question is unknown")
    quality_bounds: Bounded
    steps: float | None = Field(
        None, description="mean gradings, rewrites and generations; null while a question is unknown"
    )
    steps_bounds: Bounded
    unknown: int = Field(description="questions that would need calls to tell")
    rejected_given: int = Field(
        description="passages that the grader called not relevant and answers would be made from, in all questions"
    )


class Swept(BaseModel):
    batch_id: str
    query_set: str
    questions: int
    combinations: int
    compared: int = Field(description="combinations whose gate a round can meet")
    recommendation: list[str]
    choice: str
    measurably_better: bool = Field(
        description="than the settings compared; where it is not, the recommendation is at most the cheapest equal one"
    )
    settings: dict[str, Any] = Field({}, description="what the recommendation changes; empty: keep those compared")
    recommended: Tried | None = None
    compared_with: Tried
    front: list[Tried] = Field(
        description="combinations that no other beats in both quality and steps by their worse ends, the lower of "
        "quality and the upper of steps, fewest steps first; one that gives answers more rejected passages than the "
        "batch did is only recommended where none does without"
    )


class Done(BaseModel):
    """Changes made."""

    done: str
    id: str = ""


def cut(text: str, most: int) -> str:
    """A text of at most so many characters, its end marked where something is missing."""
    return text if len(text) <= most else text[: most - 2].rstrip() + " …"


def compact(value: Any) -> str:
    """A result as JSON on one line, without what is empty: what a model pays for is what it reads."""
    return json.dumps(_full(value), ensure_ascii=False, separators=(",", ":"))


def _full(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _full(item) for name, item in value.items() if item not in (None, "", [], {})}
    return [_full(item) for item in value] if isinstance(value, list) else value
