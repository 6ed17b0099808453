"""Events and records survive being written as JSON, no matter what they hold; damaged text is refused by name."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import RecordError
from engine.model.config import RunConfig
from engine.model.events import Event, PassageScreened, ReasonGiven, RunStarted, SetJudged, Surrounded, fold_all
from engine.model.values import Outcome, PassageId, ReasonAsked, RunId, SetVerdict, Surrounding, Verdict
from engine.records.codec import event_from_json, event_to_json, record_from_dict
from tests.components.loop_events import RUNS
from tests.support.recorded import recorded_run

EVENT_CLASSES = get_args(Event)
CONFIGS = st.builds(
    RunConfig,
    top_k=st.integers(1, 20),
    similarity_threshold=st.floats(0, 1),
    max_rewrites=st.integers(0, 5),
    gate=st.sampled_from(("pass_rate", "min_relevant")),
    answer_unverified=st.booleans(),
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: st.integers(-(2**53), 2**53),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    type(None): st.none(),
    Any: st.none() | st.booleans() | TEXT | st.lists(TEXT, max_size=2),
    RunConfig: CONFIGS,
}


@cache
def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Anything that a field of this type may hold."""
    if hint in PLAIN:
        return PLAIN[hint]
    if isinstance(hint, NewType):
        return values_of(hint.__supertype__)
    if isinstance(hint, type) and is_dataclass(hint):
        hints = get_type_hints(hint)
        return st.builds(hint, **{item.name: values_of(hints[item.name]) for item in fields(hint)})
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, types.UnionType):
        return st.one_of([values_of(argument) for argument in arguments])
    if origin is tuple:
        return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
    assert origin is Mapping, hint
    return st.dictionaries(values_of(arguments[0]), values_of(arguments[1]), max_size=2)


@pytest.mark.parametrize("kind", EVENT_CLASSES, ids=lambda kind: str(kind.__name__))
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_every_kind_of_event_comes_back_equal_from_its_json(kind: Any, data: st.DataObject) -> None:
    event = data.draw(values_of(kind))
    assert event_from_json(event_to_json(event)) == event


def test_recorded_runs_hold_every_kind_of_event_and_come_back_equal() -> None:
    names = ("quality: low, rewritten, high", "dual: corrected", "graph: at once")
    loops = [event for name in names for event in RUNS[name].events()]
    # Only runs of settings that these do not have send these.
    whole = SetJudged(round=0, verdict=SetVerdict((PassageId("p"),), "part", "One thing is missing."))
    around = Surrounded(surroundings=(Surrounding(PassageId("s.md#2"), "s.md", "What comes next.", ordinal=2),))
    explained = ReasonGiven(asked=ReasonAsked(PassageId("p"), "It says so."))
    screened = PassageScreened(round=0, passage_id=PassageId("p"), verdict=Verdict(True, 0.6, "a score", raw=0.4))
    events = [*recorded_run(1, "answered"), *recorded_run(0, "failed"), *loops, whole, around, screened, explained]
    assert {type(event) for event in events} == set(EVENT_CLASSES)
    assert [event_from_json(event_to_json(event)) for event in events] == events


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_a_record_comes_back_equal_from_its_plain_form(outcome: Outcome) -> None:
    """SC-10."""
    record = fold_all(recorded_run(2, outcome))
    plain = json.loads(json.dumps(record.to_dict()))
    assert record_from_dict(plain) == record
    assert plain["calls"] == {"chat": record.calls, "cached": record.cached_calls, "built_in": record.built_in_calls}
    assert [item["inequality"] for item in plain["decisions"]] == [item.inequality for item in record.decisions]


@pytest.mark.parametrize("text", ["", "{", "null", '{"kind": "no_such_kind"}', '{"kind": "retrieved", "round": "x"}'])
def test_damaged_text_is_a_record_error(text: str) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        event_from_json(text)


def test_a_damaged_plain_record_is_a_record_error() -> None:
    plain = fold_all(recorded_run()).to_dict()
    del plain["question"]
    with pytest.raises(RecordError, match="cannot be read"):
        record_from_dict(plain)


def test_text_of_any_script_and_control_characters_survive() -> None:
    event = RunStarted(run_id=RunId("r"), question="zero \x00, 图 𝄞, \u2028", config=RunConfig(), started_at="now")
    assert event_from_json(event_to_json(event)) == event
