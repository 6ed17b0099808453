"""Why a run went wrong: the rules follow expected passages where there are labels, else what the run shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given

from components.ask.diagnosis import next_text, why_text
from components.common.i18n import words_for
from engine.model.config import RunConfig
from engine.model.decide import gated
from engine.model.events import fold_all
from engine.model.values import (
    Citation,
    Context,
    Decision,
    Passage,
    PassageId,
    Round,
    RunId,
    RunRecord,
    UnsupportedSentence,
    Verdict,
)
from engine.replay.diagnosis import Diagnosis, Failure, diagnose
from engine.samples.demos import demo_record, demos
from tests.engine.whatif.world import World, recordings, run_in, worlds
from tests.support.recorded import recorded_run

YES, NO, NEARLY = Verdict(True, 0.9, ""), Verdict(False, 0.9, ""), Verdict(False, 0.55, "")
UNREADABLE = Verdict(None, 0.0, "")
EN = words_for("en")


def run_with(
    similarities: list[float],
    verdicts: dict[str, Verdict] | None = None,
    *,
    outcome: str = "abstained",
    reason: str = "max_rewrites",
) -> RunRecord:
    """One round over passages p1, p2 …, best first, under the default settings."""
    config = RunConfig()
    passages = [
        Passage(PassageId(f"p{place}"), "s.md", "text", value, value) for place, value in enumerate(similarities, 1)
    ]
    judged = {PassageId(name): verdict for name, verdict in (verdicts or {}).items()}
    current = Round(0, "a question", gated(passages, config), verdicts=judged)
    given = (
        tuple(item for item in passages if item.id in judged and judged[item.id].passes(0.5))
        if outcome != "abstained"
        else ()
    )
    kept, passed = len(current.kept), len(given)
    return RunRecord(
        id=RunId("r"),
        question="a question",
        config=config,
        started_at="2025-03-01T09:30:00+00:00",
        rounds=(current,),
        decisions=(Decision(0, "generate", reason, (), passed, kept),),  # type: ignore[arg-type]
        context=Context(given),
        outcome=outcome,  # type: ignore[arg-type]
    )  # fmt: skip


def expecting(*names: str) -> dict[PassageId, tuple[int, ...]]:
    return {PassageId(name): (place,) for place, name in enumerate(names)}


def failure(record: RunRecord, **more: object) -> Failure | None:
    found = diagnose(record, **more)  # type: ignore[arg-type]
    return found.failure if found else None


def test_a_run_that_answered_with_its_gate_met_has_nothing_to_mend() -> None:
    well = [demo_record(item.id) for item in demos() if item.scenario in ("passes", "noise", "rescue")]
    assert len(well) == 6
    assert [diagnose(record) for record in well] == [None] * 6


def test_an_answer_with_a_sentence_that_nothing_bears_out_is_unsupported() -> None:
    """SC-07: that a marker pointed nowhere says nothing of the sentences that cite what bears them out."""
    record = fold_all(recorded_run())
    assert record.removed_markers
    assert failure(record) is None
    doubted = (UnsupportedSentence(record.answer, ("$10",), (1,)),)
    assert failure(replace(record, unsupported_sentences=doubted, answer_note="unsupported")) == "unsupported_answer"


ANSWERED = run_with([0.5, 0.4], {"p1": YES, "p2": NO}, outcome="answered", reason="passed")
UNSEARCHED = replace(run_with([], reason="deadline"), rounds=(Round(0, "a question", (), searched=False),))
CAUSES: dict[str, tuple[RunRecord, dict[str, Any], Failure | None]] = {
    "stopped": (fold_all(recorded_run(outcome="cancelled")), {}, None),
    "failed": (fold_all(recorded_run(outcome="failed")), {}, None),
    "interrupted": (fold_all(recorded_run(outcome="interrupted")), {}, None),
    "an empty collection": (run_with([]), {}, "nothing_retrieved"),
    "passed in a graded probe, never kept": (run_with([0.5, 0.1], {"p1": NO, "p2": YES}), {}, "dropped_by_similarity"),
    "out of time": (run_with([0.5], {"p1": NO}, reason="deadline"), {}, "budget_spent"),
    "out of time before a search": (UNSEARCHED, {}, "budget_spent"),
    "out of time before a search for what is marked": (UNSEARCHED, {"met": {}}, "budget_spent"),
    "unverified": (fold_all(recorded_run(outcome="answered_unverified")), {}, "unsupported_answer"),
    "cites nothing": (ANSWERED, {}, "unsupported_answer"),
    "never found": (run_with([0.5], {"p1": NO}), {"met": {}}, "nothing_retrieved"),
    "dropped below": (run_with([0.5, 0.1], {"p1": NO}), {"met": expecting("p2")}, "dropped_by_similarity"),
    "beyond top-k": (run_with([0.5] * 6, {"p1": NO}), {"met": expecting("p6")}, "dropped_by_similarity"),
    "right by its labels": (ANSWERED, {"met": expecting("p1")}, None),
    "rightly refused": (run_with([0.05]), {"answerable": False}, None),
    "unjudged, out of time": (run_with([0.5], reason="deadline"), {"met": expecting("p1")}, "budget_spent"),
    "unjudged, no grader": (run_with([0.5], reason="grader_unavailable"), {"met": expecting("p1")}, None),
}


@pytest.mark.parametrize(("record", "labels", "cause"), CAUSES.values(), ids=CAUSES)
def test_a_cause_follows_from_the_run_and_its_labels(
    record: RunRecord, labels: dict[str, Any], cause: Failure | None
) -> None:
    """SC-04, SC-05, SC-07, SC-13: ``no_passages`` is the only way to no candidates at all."""
    assert failure(record, **labels) == cause


@pytest.mark.parametrize(
    "record",
    [
        run_with([0.27, 0.1]),
        run_with([0.5], {"p1": NEARLY}),
        run_with([0.5], {"p1": NO}),
        run_with([0.05, 0.01]),
        demo_record("demo-abstains-en"),
        demo_record("demo-abstains-zh"),
    ],
    ids=["nearly kept", "nearly passed", "refused", "far off", "demo", "demo in Chinese"],
)
def test_where_nothing_passed_and_no_label_is_known_no_cause_is_picked(record: RunRecord) -> None:
    found = diagnose(record)
    assert found is not None and (found.failure, found.labelled, found.passages) == ("undetermined", False, ())
    judged = found.figures["refused"] + found.figures["unreadable"] + found.figures["unjudged"]
    assert judged == found.figures["candidates"] == len(record.passages)


def test_a_refusal_of_the_built_in_grader_is_known_as_one_by_words() -> None:
    by_model = replace(NO, grader="ollama:qwen3:4b")
    for expected in (None, expecting("p1")):
        words = diagnose(run_with([0.68], {"p1": NO}), met=expected)
        read = diagnose(run_with([0.68], {"p1": by_model}), met=expected)
        assert words is not None and words.by_words and words.grader == "builtin"
        assert read is not None and not read.by_words and read.grader == "ollama:qwen3:4b"


def test_a_reply_that_could_not_be_read_is_no_refusal() -> None:
    found = diagnose(run_with([0.5], {"p1": UNREADABLE}), met=expecting("p1"))
    assert found is not None and found.figures == {"unreadable": 1, "others": 0}
    assert not found.by_words


def test_a_passage_that_passed_and_was_lost_again_was_left_out() -> None:
    first = run_with([0.5], {"p1": YES}).rounds[0]
    second = run_with([0.4], {"p1": NO}).rounds[0]
    later = replace(second, index=1, candidates=second.candidates[:0], verdicts={})
    lost = replace(
        run_with([0.5]),
        rounds=(first, later),
        config=RunConfig(context="last_round"),
        outcome="abstained",
        context=None,
    )
    for met in (None, expecting("p1")):
        found = diagnose(lost, met)
        assert found is not None and (found.failure, found.passages) == ("left_out", ("p1",))


def test_an_answer_to_what_has_none_rests_on_passages_that_should_not_have_passed() -> None:
    answered = replace(run_with([0.5], {"p1": YES}, outcome="answered", reason="passed"), answer="10 dollars. [1]")
    assert failure(answered, answerable=False) == "grader_too_lenient"
    assert failure(replace(answered, answer_note="cannot_tell"), answerable=False) is None


def test_a_rewriter_that_failed_or_repeated_itself_is_not_called_a_spent_budget() -> None:
    forced = demo_record("demo-forced-zh")
    failed, repeated = (
        replace(forced, decisions=(*forced.decisions[:-1], replace(forced.decisions[-1], reason=reason)))
        for reason in ("rewriter_failed", "repeated_rewrite")
    )
    assert failure(failed) is None
    found = diagnose(repeated)
    assert found is not None and found.figures["repeated"] == 1


def test_a_forced_exit_with_verified_passages_spent_its_rewrites() -> None:
    """SC-05: the passage was there, the gate was never met."""
    found = diagnose(demo_record("demo-forced-zh"))
    assert found is not None and found.failure == "budget_spent"
    assert found.figures["rewrites"] == 3 and found.figures["passed"] >= 1


def test_rewrites_that_only_lowered_everything_drifted() -> None:
    first = run_with([0.7, 0.5], {"p1": YES, "p2": NO}, outcome="answered_forced")
    last = run_with([0.5, 0.4], {"p1": NO, "p2": NO})
    rounds = (*first.rounds, replace(last.rounds[0], index=1))
    cited = replace(first, rounds=rounds, decisions=(*first.decisions, *last.decisions), answer="So it is [1].")
    found = diagnose(replace(cited, citations=(Citation(1, PassageId("p1"), "s.md", ""),)))
    assert found is not None and found.failure == "rewrite_drifted"
    assert found.figures["rate_last"] < found.figures["rate_first"]


def test_labels_say_that_the_grader_refused_the_right_passage() -> None:
    found = diagnose(run_with([0.5, 0.4], {"p1": NO, "p2": NO}), met=expecting("p2"))
    assert found is not None and (found.failure, found.passages, found.labelled) == ("grader_too_strict", ("p2",), True)


def test_a_refusal_by_the_screener_is_held_against_its_cut_and_not_against_the_graders_bar() -> None:
    """BE-03: a P of 0.60 does not pass where the screener's no begins below 0.70."""
    record = run_with([0.5], {"p1": Verdict(False, 0.4, "", by_cut=True)})
    cascade = replace(record, config=replace(record.config, cascade=True, cascade_low=0.7))
    found = diagnose(cascade, met=expecting("p1"))
    assert found is not None and found.failure == "grader_too_strict"
    assert found.figures == {"screener": 1.0, "p": 0.6, "bar": 0.7, "others": 0}
    assert why_text(found, EN).startswith("Its P(relevant) by the screener is 0.60, and below 0.70 the grader")
    assert "Screener's no below" in next_text(found, EN)
    moved = diagnose(replace(cascade, config=replace(cascade.config, cascade_low=0.5)), met=expecting("p1"))
    assert moved is not None and "The screener said no" in why_text(moved, EN), "the cut of another run decided"


def test_labels_say_that_something_else_was_let_through() -> None:
    found = diagnose(ANSWERED, met=expecting("p2"))
    assert found is not None and (found.failure, found.passages) == ("grader_too_lenient", ("p1",))


Met = Mapping[PassageId, tuple[int, ...]]


def _sees(record: RunRecord, names: set[PassageId]) -> dict[str, set[PassageId]]:
    """Of these passages those that any round found, kept, passed while kept, judged; and those that were given."""
    rounds, bar = record.rounds, record.config.min_confidence
    kept = {(item.index, one.passage.id) for item in rounds for one in item.candidates if one.gate == "kept"}
    passes = {(item.index, name) for item in rounds for name, verdict in item.verdicts.items() if verdict.passes(bar)}
    return {
        "found": names & record.passages.keys(),
        "kept": names & {name for _, name in kept},
        "passed": names & {name for _, name in kept & passes},
        "pass": names & {name for _, name in passes},
        "judged": names & {name for item in rounds for name in item.verdicts},
        "given": names & {item.id for item in record.context.passages} if record.context else set(),
    }


def _strict(record: RunRecord, found: Diagnosis, met: Met | None) -> bool:
    right = _sees(record, {name for name, places in (met or {}).items() if places})
    about = set(found.passages)
    return found.labelled and about <= right["kept"] & right["judged"] and not right["passed"]


def _dropped(record: RunRecord, found: Diagnosis, met: Met | None) -> bool:
    every = _sees(record, set(record.passages))
    if found.labelled:
        right = _sees(record, {name for name, places in (met or {}).items() if places})
        return set(found.passages) <= right["found"] and not right["kept"]
    return set(found.passages) <= every["pass"] - every["passed"] and not every["given"]


def _lenient(record: RunRecord, found: Diagnosis, met: Met | None) -> bool:
    right = _sees(record, {name for name, places in (met or {}).items() if places})
    return found.labelled and bool(record.context) and bool(right["kept"]) and not right["given"]


def _left_out(record: RunRecord, found: Diagnosis, met: Met | None) -> bool:
    every = _sees(record, set(record.passages))
    return record.config.context == "last_round" and set(found.passages) <= every["passed"] - every["given"]


def _undetermined(record: RunRecord, found: Diagnosis, met: Met | None) -> bool:
    every = _sees(record, set(record.passages))
    return not found.labelled and met is None and not every["pass"] and record.outcome == "abstained"


def _nothing(record: RunRecord, found: Diagnosis, met: Met | None) -> bool:
    right = {name for name, places in (met or {}).items() if places} if found.labelled else set(record.passages)
    return not _sees(record, right)["found"]


def _spent(record: RunRecord, found: Diagnosis, met: Met | None) -> bool:
    return record.decisions[-1].reason in ("deadline", "max_rewrites", "repeated_rewrite")


def _drifted(record: RunRecord, found: Diagnosis, met: Met | None) -> bool:
    rates = [item.pass_rate for item in record.decisions]
    return max(rates[1:]) <= rates[0] and rates[-1] < rates[0]


def _unsupported(record: RunRecord, found: Diagnosis, met: Met | None) -> bool:
    verified = record.context is not None and record.context.verified
    return bool(not verified or not record.citations or record.unsupported_sentences)


def _refused_let_in(record: RunRecord, found: Diagnosis, met: Met | None) -> bool:
    said = {
        verdict.relevant for item in record.rounds for name, verdict in item.verdicts.items() if name in found.passages
    }
    given = {item.id for item in record.context.passages} if record.context else set()
    return False in said and set(found.passages) <= given


EVIDENCE: Mapping[Failure, Callable[[RunRecord, Diagnosis, Met | None], bool]] = {
    "nothing_retrieved": _nothing,
    "dropped_by_similarity": _dropped,
    "grader_too_strict": _strict,
    "grader_too_lenient": _lenient,
    "left_out": _left_out,
    "rewrite_drifted": _drifted,
    "budget_spent": _spent,
    "undetermined": _undetermined,
    "unsupported_answer": _unsupported,
    "refused_let_in": _refused_let_in,
}


@given(worlds(), recordings())
def test_no_diagnosis_names_a_cause_that_its_evidence_does_not_single_out(world: World, config: RunConfig) -> None:
    """Every label against the record itself, with each passage and none as the expected one."""
    record = run_in(world, config)
    labels: list[Met | None] = [None, {PassageId("nowhere"): (0,)}, *({name: (0,)} for name in record.passages)]
    for met in labels:
        found = diagnose(record, met)
        if found is not None:
            assert EVIDENCE[found.failure](record, found, met), (found, met)


def test_every_diagnosis_has_its_evidence_written_down() -> None:
    assert set(EVIDENCE) == set(get_args(Failure))
