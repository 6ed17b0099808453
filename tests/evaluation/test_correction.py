"""Whether correction pays: equal to really running both settings, and unknown where nothing was generated."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.evaluation.aggregate import evaluate
from engine.evaluation.cases import Case, sample_set
from engine.evaluation.correction import Correction, correction, corrections
from engine.evaluation.evidence import gather
from engine.evaluation.figures import Figure
from engine.evaluation.values import shipped_batch
from engine.model.config import RunConfig, config_from_dict
from engine.model.values import RunRecord
from engine.samples.demos import demo_record
from engine.samples.shipped import shipped_record
from engine.settings import Settings
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.dual_loop.options import DualLoopOptions
from tests.evaluation.gathered import evidence_of

DRAWN = 10
GATES = (
    RunConfig(),
    RunConfig(min_relevant=2),
    RunConfig(gate="pass_rate", grade_pass_threshold=0.4),
    RunConfig(gate="pass_rate", similarity_threshold=0.4, top_k=3),
    config_from_dict({"workflow": "answer_evaluation"}),
    RunConfig(workflow="dual_loop", options=DualLoopOptions(memory=False)),
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    data: Path = tmp_path_factory.mktemp("correction")
    with Engine.open(Settings(data_dir=data, ollama_url="http://127.0.0.1:1")) as opened:
        opened.wait_until_ready()
        yield opened


def shipped() -> Correction:
    records = {case: shipped_record(run) for case, run in shipped_batch().runs.items()}
    return correction(gather(sample_set().cases, records), shipped_batch().config)


def ends_right(case: Case, record: RunRecord) -> bool:
    """Say of a real run what Tune says of it under its own settings."""
    (right,) = evaluate(gather([case], {case.id: record}), [record.config]).measures["answered_right"].of(0)
    return bool(right)


def ends(figure: Figure) -> tuple[float, float]:
    assert figure.lower is not None and figure.upper is not None
    return figure.lower, figure.upper


@pytest.mark.parametrize(
    "config", GATES, ids=["one relevant", "two relevant", "pass rate", "narrow", "revised", "dual"]
)
def test_helped_harmed_and_same_are_what_running_both_settings_gives(engine: Engine, config: RunConfig) -> None:
    """EV-07: with the built-in roles, other questions each time; the unknown ones are in neither count."""
    cases = random.sample(sample_set().cases, DRAWN)
    gathered = {case.id: engine.run(case.question, config) for case in cases}
    found = correction(gather(cases, gathered), config)
    assert {row.case_id for row in found.rows} == set(gathered)
    for row in found.rows:
        case = next(item for item in cases if item.id == row.case_id)
        without = engine.run(case.question, found.without)
        sides = ends_right(case, gathered[case.id]), ends_right(case, without)
        really = "same" if sides[0] == sides[1] else "helped" if sides[0] else "harmed"
        assert row.effect in (really, "unknown"), case.id
        assert all(said in (None, real) for said, real in zip(row.right, sides, strict=True)), case.id
        assert (row.effect == "unknown") == (case.id in found.missing), case.id
        if row.steps[1] is not None:
            assert row.steps[1] == without.calls + without.built_in_calls, case.id
    # An answer that is generated then makes the question known.
    more = {case.id: engine.run(case.question, found.without) for case in cases if case.id in found.missing}
    assert correction(gather(cases, gathered, [more]), config).count("unknown") == 0


def test_a_draft_that_the_run_replaced_is_not_judged_by_the_answer_that_replaced_it() -> None:
    record = demo_record("demo-revision-en")
    once = replace(record.config, options=AnswerEvaluationOptions(gener_epoch=1))
    evaluation = evaluate(gather([Case("a", record.question, answerable=True)], {"a": record}), [record.config, once])
    assert evaluation.right_by.recorded.tolist() == [[True, False]]


def test_the_samples_have_questions_that_a_rewrite_helps_and_the_cost_of_both_ways() -> None:
    found = shipped()
    assert found.count("helped") >= 1 and found.count("unknown") == 0 == len(found.missing)
    assert all(row.best for row in found.rows if row.effect == "helped")
    with_, without = found.steps
    assert with_.value is not None and without.value is not None and with_.value > without.value


def test_the_counts_of_unknown_questions_are_bounds() -> None:
    """BE-01: an unknown question may be helped or harmed, unless one side already rules that out."""
    found = correction(evidence_of(24, RunConfig(gate="pass_rate")), RunConfig(gate="pass_rate", top_k=3))
    unknown = found.count("unknown")
    assert 0 < unknown < len(found.rows)
    helped, harmed = ends(found.figure("helped")), ends(found.figure("harmed"))
    assert (helped[0], harmed[0]) == (found.count("helped"), found.count("harmed"))
    assert max(helped[1] - helped[0], harmed[1] - harmed[0]) <= unknown
    assert ends(found.hindsight)[0] >= max(ends(side)[0] for side in found.right)
    assert ends(found.hindsight)[1] <= 1.0


def test_a_question_that_failed_or_has_no_label_is_unknown_and_says_why() -> None:
    record = shipped_record(shipped_batch().runs["dm-en-08"])
    case = next(item for item in sample_set().cases if item.id == "dm-en-08")
    bare = Case("bare", case.question)
    evidence = gather([case, bare, Case("lost", "?", answerable=False)], {case.id: record, "bare": record})
    found = correction(evidence, record.config)
    assert {row.case_id: (row.effect, row.why) for row in found.rows} == {
        "dm-en-08": ("helped", ""),
        "bare": ("unknown", "unlabelled"),
        "lost": ("unknown", "failed"),
    }
    assert found.to_dict()["unknown"] == 2 and found.to_dict()["questions"][0]["best_after"] == 1


def test_an_answer_that_was_not_checked_is_unknown_for_that_reason() -> None:
    """No label is missing where only the support of a right answer is not known."""
    record = replace(shipped_record(shipped_batch().runs["dm-en-08"]), answer_note="unchecked")
    case = next(item for item in sample_set().cases if item.id == "dm-en-08")
    (row,) = correction(gather([case], {case.id: record}), record.config).rows
    assert (row.effect, row.why, row.right) == ("unknown", "unchecked", (None, False))


def test_what_generating_the_missing_answers_takes_is_priced_and_nothing_else() -> None:
    evidence = evidence_of(24, RunConfig(gate="pass_rate"))
    found = correction(evidence, RunConfig(gate="pass_rate", top_k=3))
    assert found.missing and found.price.calls + found.price.built_in_calls >= len(found.missing)
    assert found.without == replace(found.config, max_rewrites=0)


def test_settings_that_never_correct_have_nothing_to_compare() -> None:
    assert not corrections(RunConfig(max_rewrites=0))
    with pytest.raises(ValueError, match="never correct"):
        correction(evidence_of(1), RunConfig(max_rewrites=0))
