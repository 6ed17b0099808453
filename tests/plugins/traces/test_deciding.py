"""What the four-node loop makes of imported traces: TR-02, TR-03 and TR-04."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from engine.model.config import RunConfig
from engine.model.events import fold_all
from engine.model.values import ModelCall, PassageId, RunRecord
from engine.records.codec import event_from_json, event_to_json
from engine.replay import what_if
from engine.replay.grid import paths
from engine.replay.settings import GAPS, OUTCOMES, STATES, SettingsGrid
from engine.replay.table import run_table
from plugins.traces.assembling import evidence_of, program_of, run_id_of
from plugins.traces.deciding import decided, events_of, settings_for
from plugins.traces.foreign import ForeignPassage, ForeignSearch, ForeignTrace, ForeignVerdict
from plugins.traces.trace_file import recognised
from tests.plugins.traces.crag_spans import CATS, DOGS, TIDES, CragTrace, file_of, tides

_names = st.sampled_from([PassageId(name) for name in "abcdef"])
_shares = st.none() | st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0])


@st.composite
def _searches(draw: st.DrawFn) -> ForeignSearch:
    names = draw(st.lists(_names, unique=True, max_size=5))
    scores = draw(st.lists(st.floats(0, 3), min_size=len(names), max_size=len(names)))
    if draw(st.booleans()):
        scores = sorted((min(score, 1.0) for score in scores), reverse=True)
    scored = draw(st.booleans())
    passages = (ForeignPassage(n, f"text {n}", score=s if scored else None) for n, s in zip(names, scores, strict=True))
    return ForeignSearch(draw(st.sampled_from(["one", "two", "three"])), tuple(passages))


@st.composite
def foreign_traces(draw: st.DrawFn) -> ForeignTrace:
    searches = tuple(draw(st.lists(_searches(), min_size=1, max_size=3)))
    verdicts = [
        ForeignVerdict(place, item.id, draw(st.sampled_from([True, False, None])), draw(_shares), grader="llama3")
        for place, search in enumerate(searches)
        for item in search.passages
        if draw(st.integers(0, 3))
    ]
    met = [item.id for search in searches for item in search.passages]
    answer = draw(st.sampled_from(["", "The moon."]))
    return ForeignTrace(
        tool="otlp",
        trace_id="t",
        project="p",
        question="What causes tides?",
        started_at="2026-01-01T00:00:00.000+00:00",
        duration_ms=100.0,
        searches=searches,
        verdicts=tuple(verdicts),
        calls=tuple(ModelCall("grader", "grade", item.round, "llama3", (), "yes") for item in verdicts),
        answer=answer,
        given=draw(st.none() | st.lists(st.sampled_from(met), unique=True).map(tuple)) if met else None,
        error=draw(st.sampled_from(["", "it broke"])),
    )


def imported(*traces: ForeignTrace) -> list[RunRecord]:
    """The runs that an import makes, as they come back from the disk."""
    program = program_of(traces)
    evidence = [evidence_of(trace, program, "2026-01-02") for trace in traces]
    config = settings_for(evidence, program.config)
    made = (events_of(decided(record, config), trace) for record, trace in zip(evidence, traces, strict=True))
    return [fold_all([event_from_json(event_to_json(event)) for event in events]) for events in made]


@given(foreign_traces())
def test_a_what_if_under_the_settings_found_gives_the_decisions_of_the_record(trace: ForeignTrace) -> None:
    [record] = imported(trace)
    found = what_if(record, record.config)
    assert found.decisions == record.decisions
    assert found.gap != "unmeasured"
    if found.state == "known" and str(found.outcome).startswith("answered"):
        assert trace.given is not None
        assert {item.id for item in found.passages} == set(trace.given)


_moved = st.fixed_dictionaries(
    {},
    optional={
        "top_k": st.integers(1, 7),
        "similarity_threshold": st.sampled_from([0.0, 0.3, 0.6]),
        "min_confidence": st.sampled_from([0.2, 0.5, 0.8]),
        "max_rewrites": st.integers(0, 3),
        "min_relevant": st.integers(1, 3),
        "context": st.sampled_from(["union", "last_round"]),
        "grade_pass_threshold": st.sampled_from([0.3, 0.6]),
        "gate": st.sampled_from(["pass_rate", "min_relevant"]),
    },
)


@hypothesis_settings(max_examples=40)
@given(foreign_traces(), st.lists(_moved, min_size=1, max_size=6))
def test_many_settings_at_once_say_what_each_alone_says(trace: ForeignTrace, moved: list[dict[str, object]]) -> None:
    [record] = imported(trace)
    configs = [replace(record.config, **changes) for changes in moved]  # type: ignore[arg-type]
    swept = paths(run_table(record), SettingsGrid.of(configs))
    for place, config in enumerate(configs):
        found = what_if(record, config)
        assert STATES[swept.state[place]] == found.state
        assert (None if swept.gap[place] < 0 else GAPS[swept.gap[place]]) == found.gap
        assert (None if swept.outcome[place] < 0 else OUTCOMES[swept.outcome[place]]) == found.outcome
        assert set(swept.context_ids(place)) == {item.id for item in found.passages}


@hypothesis_settings(max_examples=40)
@given(foreign_traces(), _moved)
def test_what_has_no_scale_is_never_known(trace: ForeignTrace, moved: dict[str, object]) -> None:
    [record] = imported(trace)
    config: RunConfig = replace(record.config, **moved)  # type: ignore[arg-type]
    assert record.origin is not None
    bare = any(item.relevant is not None and item.score is None for item in trace.verdicts)
    if bare and config.min_confidence != record.config.min_confidence:
        assert what_if(record, config).gap == "unmeasured"
    unscaled = any(item.score is None or item.score > 1 for search in trace.searches for item in search.passages)
    if unscaled and config.similarity_threshold != record.config.similarity_threshold:
        assert what_if(record, config).gap == "unmeasured"


def test_the_settings_found_are_those_that_the_program_went_by() -> None:
    made = CragTrace("x", "pets?").retrieve("pets?", [("dogs", DOGS, 0.9), ("cats", CATS, 0.5)])
    made.grade(DOGS, "yes").grade(CATS, "no").rewrite("animals at home").retrieve(
        "animals at home", [("dogs", DOGS, 0.9), ("tides", TIDES, 0.5)]
    )
    made.grade(DOGS, "yes").grade(TIDES, "yes").generate([DOGS, TIDES], "Both.")
    [record] = imported(*recognised(file_of(made.otlp("Both."))).traces)
    # One passage had passed in the first round, and the program went on all the same.
    assert [item.route for item in record.decisions] == ["rewrite", "generate"]
    assert record.config.min_relevant == 2 or record.config.gate == "pass_rate"


def test_where_no_settings_go_the_way_of_the_program_the_run_says_so() -> None:
    made = CragTrace("x", "pets?").retrieve("pets?", [("dogs", DOGS, 0.9)]).grade(DOGS, "yes")
    made.rewrite("animals at home").retrieve("animals at home", [("cats", CATS, 0.9)]).grade(CATS, "no").generate(
        [DOGS], "Dogs."
    )
    [record] = imported(*recognised(file_of(made.otlp("Dogs."))).traces)
    assert record.origin is not None
    assert [(note.code, note.params) for note in record.origin.notes if note.code == "other_path"] == [
        ("other_path", {"round": "0"})
    ]
    assert len(record.rounds) == 2


def test_a_trace_of_a_search_alone_is_undecided_and_needs_verdicts() -> None:
    made = CragTrace("x", "pets?").retrieve("pets?", [("dogs", DOGS, 0.9)])
    [record] = imported(*recognised(file_of(made.otlp())).traces)
    assert (record.outcome, record.decisions) == ("unanswered", ())
    assert what_if(record, record.config).gap == "verdicts"


def test_an_answer_whose_context_is_not_recorded_stands_for_nothing() -> None:
    made = CragTrace("x", "pets?").retrieve("pets?", [("dogs", DOGS, 0.9)]).grade(DOGS, "yes")
    made.generate([], "Dogs.")
    [record] = imported(*recognised(file_of(made.otlp("Dogs."))).traces)
    assert what_if(record, record.config).state == "generation"
    assert record.answer == "Dogs."


def test_the_same_trace_is_the_same_run_from_any_file() -> None:
    alone = recognised(file_of(tides().otlp("The moon."))).traces[0]
    among = recognised(file_of(tides("b").otlp(), tides().otlp("The moon."))).traces
    assert run_id_of(alone) in {run_id_of(trace) for trace in among}
    assert len({run_id_of(trace) for trace in among}) == 2


def refused_by_its_grader(trace_id: str, answer: str) -> CragTrace:
    made = CragTrace(trace_id, "What causes tides?").retrieve("tides", [("cats", CATS, 0.8), ("dogs", DOGS, 0.4)])
    return made.grade(CATS, {"binary_score": "no"}).grade(DOGS, {"binary_score": "no"}).generate([CATS], answer)


def test_a_program_that_answers_though_nothing_passed_is_followed_by_settings_that_do_so_too() -> None:
    """TR-04: the map around its own settings shows the end that the run had."""
    data = file_of(refused_by_its_grader("a1", "The moon.").otlp("The moon."))
    [record] = imported(*recognised(data).traces)
    assert (record.outcome, what_if(record, record.config).outcome) == ("answered_unverified", "answered_unverified")
    assert "would_refuse" not in notes(record)


def test_an_answer_that_the_loop_would_have_refused_is_said_to_be_one() -> None:
    """TR-04: most traces of this import end without an answer where nothing passed."""
    made = [refused_by_its_grader("b1", "The moon.").otlp("The moon.")]
    for name in ("b2", "b3"):
        silent = CragTrace(name, "What causes tides?").retrieve("tides", [("cats", CATS, 0.8), ("dogs", DOGS, 0.4)])
        made.append(silent.grade(CATS, {"binary_score": "no"}).grade(DOGS, {"binary_score": "no"}).otlp(""))
    lines = "\n".join(map(json.dumps, made)).encode()
    answered, *others = imported(*recognised([("all.jsonl", lines)]).traces)
    assert what_if(answered, answered.config).outcome == "abstained"
    assert notes(answered) >= {"would_refuse"} and "other_context" not in notes(answered)
    assert all("would_refuse" not in notes(other) for other in others)


def notes(record: RunRecord) -> set[str]:
    assert record.origin is not None
    return {item.code for item in record.origin.notes}
