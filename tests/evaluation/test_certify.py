"""Certificates: exact p-values, one sequence from strict to lax, and the promised share of broken bounds."""

from __future__ import annotations

from dataclasses import fields, replace
from math import comb
from typing import Any

import numpy as np
import pytest

from engine.evaluation.aggregate import evaluate
from engine.evaluation.cases import Case, Expectation
from engine.evaluation.certify import Certificates, certify, further, p_value, similarity_cut, strictest_first
from engine.evaluation.evidence import Places, gather
from engine.evaluation.figures import Evaluation, Measured, RightBy
from engine.evaluation.fit_scores import table_of
from engine.evaluation.judgements import Judged, pair_id
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.grader_fit import GraderFit, calibrated, taught_by
from engine.model.values import ANSWERED
from engine.replay.masks import BoolArray, FloatArray, IntArray
from tests.evaluation.gathered import evidence_of, questions

LATTICE = [RunConfig(similarity_threshold=round(0.1 * step, 1)) for step in range(8)]


def test_p_values_are_those_of_the_binomial_distribution() -> None:
    from scipy.stats import binom

    for trials in (1, 7, 29, 46, 400, 5000):
        for failures in {0, 1, trials // 10, trials // 3, trials}:
            for bound in (0.01, 0.1, 0.2, 0.5):
                assert p_value(failures, trials, bound) == pytest.approx(binom.cdf(failures, trials, bound), abs=1e-9)
    assert p_value(0, 0, 0.1) == 1.0


@pytest.mark.parametrize(
    ("failures", "trials", "bound", "wanted"), [(0, 0, 0.1, 29), (1, 0, 0.1, 46), (0, 20, 0.1, 9), (0, 0, 0.2, 14)]
)
def test_how_many_more_answers_would_do(failures: int, trials: int, bound: float, wanted: int) -> None:
    assert further(failures, trials, bound, 0.95) == wanted
    p_before = sum(
        comb(trials + wanted - 1, k) * bound**k * (1 - bound) ** (trials + wanted - 1 - k) for k in range(failures + 1)
    )
    assert p_before > 0.05
    assert further(0, 50, 0.1, 0.95) == 0
    assert further(5, 5, 1e-9, 0.95) is None


def test_settings_are_tried_from_the_strictest_to_the_laxest() -> None:
    configs = [
        RunConfig(similarity_threshold=0.2, max_rewrites=3),
        RunConfig(similarity_threshold=0.8, max_rewrites=0),
        RunConfig(similarity_threshold=0.2, max_rewrites=0),
        RunConfig(similarity_threshold=0.8, max_rewrites=3),
    ]
    assert strictest_first(configs) == [1, 2, 3, 0]


def certified(
    wrong: BoolArray, given: BoolArray, evaluation: Evaluation, learnt: BoolArray | None = None, bound: float = 0.1
) -> list[int]:
    """Certify a lattice whose answers [N, S] are given and wrong as said, none of them unrecorded."""
    learnt = np.zeros(wrong.shape, dtype=np.bool_) if learnt is None else learnt
    everything = np.ones(wrong.shape)
    measures = {
        **evaluation.measures,
        "wrong_given": Measured((wrong & given).astype(float), given.astype(float)),
        "answered_right": Measured(np.zeros(wrong.shape), everything),
    }
    every = np.ones(wrong.shape, dtype=np.bool_)
    by = RightBy(np.zeros(wrong.shape, dtype=np.int64), every, given, every, ~every, every, learnt)
    made = certify(replace(evaluation, measures=measures, right_by=by), bound=bound)
    return [int(place) for place in np.flatnonzero(made.certified)]


def test_at_most_one_in_twenty_draws_certifies_a_setting_that_breaks_the_bound() -> None:
    """EV-04; the riskiest worlds: every setting is just above the bound, or the laxer ones do."""
    evidence = evidence_of(150)
    evaluation = evaluate(evidence, LATTICE)
    random = np.random.default_rng(5)
    for risks in ([0.101] * 8, [0.101] * 4 + [0.02] * 4):
        broken = 0
        for _ in range(1000):
            # One question has the same luck under all settings: p-values depend on each other, as in life.
            luck = random.random((150, 1))
            given = random.random((150, 1)) < np.linspace(0.95, 0.3, 8)
            found = certified(luck < np.array(risks), given, evaluation)
            broken += any(risks[place] > 0.1 for place in found)
        # Three standard errors above 5 %.
        assert broken / 1000 <= 0.05 + 3 * (0.05 * 0.95 / 1000) ** 0.5


def chances(table: dict[str, Any], raw: FloatArray) -> FloatArray:
    known, place = np.unique(raw, return_inverse=True)
    return np.array([calibrated(table, value) for value in known])[place]


def test_a_calibration_promises_no_more_than_questions_it_has_not_seen_allow() -> None:
    """EV-04: of a grader of no worth, 30 % wrong at any cut, every certificate of 29.5 % is broken.

    Fitted to the same questions that is too often; fitted to one half, with the other as trials, as seldom as promised.
    """
    evidence = evidence_of(200)
    configs = [RunConfig(min_confidence=round(0.98 - 0.02 * step, 2)) for step in range(14)]
    evaluation = evaluate(evidence, configs)
    cuts = np.array([config.min_confidence for config in configs])
    random = np.random.default_rng(3)
    half = np.arange(200)[:, None] < 100
    broken = {"all": 0, "half": 0}
    for _ in range(120):
        label, raw = random.random(200) < 0.7, np.round(random.normal(0, 1, 200), 1)
        for way in broken:
            seen = half[:, 0] if way == "half" else np.ones(200, np.bool_)
            table = table_of(raw[seen].tolist(), label[seen].tolist())
            given = chances(table, raw)[:, None] >= cuts
            wrong = np.broadcast_to(~label[:, None], given.shape)
            learnt = np.broadcast_to(half if way == "half" else np.zeros_like(half), given.shape)
            broken[way] += bool(certified(wrong, given, evaluation, learnt, 0.295))
    assert broken["half"] / 120 <= 0.05 < broken["all"] / 120, broken


def test_questions_that_taught_the_grader_are_in_no_trial() -> None:
    cases, records = questions(40, RunConfig())
    names = {case.id: case.question for case in cases}
    taught = tuple(taught_by(name) for name in list(names.values())[:25])
    fit = GraderFit("calibration", "builtin", "samples", {"scores": [], "chances": [0.5]}, questions=taught)
    by_fit = replace(RunConfig(), models=RoleModels(grader=RoleModel(fit.name)))
    fitted = {name: replace(record, config=by_fit) for name, record in records.items()}
    plain = certify(evaluate(gather(cases, records), [RunConfig()]), bound=0.5)

    def made(*kept: GraderFit) -> Certificates:
        evidence = gather(cases, fitted, fits={item.id: item for item in kept})
        return certify(evaluate(evidence, [by_fit]), bound=0.5)

    found = made(fit)
    assert found.learnt == 25 and 0 < found.trials[0] < plain.trials[0] and plain.learnt == 0
    for unsaid in (made(replace(fit, questions=())), made()):
        assert unsaid.learnt == 40 and unsaid.trials[0] == 0 and not unsaid.certified[0]


def test_a_setting_without_errors_is_certified_and_one_too_many_ends_the_sequence() -> None:
    evidence = evidence_of(60)
    evaluation = evaluate(evidence, LATTICE)
    given = np.ones((60, 8), dtype=bool)
    wrong = np.zeros((60, 8), dtype=bool)
    assert certified(wrong, given, evaluation) == list(range(8))
    # LATTICE[4] fails: what is laxer, LATTICE[3] and below, is never tried.
    wrong[:12, 4] = True
    assert certified(wrong, given, evaluation) == [5, 6, 7]
    # Too few answers say nothing of the risk, so that the sequence passes them over.
    given[20:, 7] = False
    assert certified(wrong, given, evaluation) == [5, 6]


def test_a_setting_whose_answers_are_not_recorded_is_not_certified_until_another_gathering_has_them() -> None:
    cases, records = questions(40, RunConfig())
    # Without a rewrite some questions end elsewhere, so that their answers would have to be generated.
    other = RunConfig(min_confidence=0.9)
    _, there = questions(40, other)
    alone = gather(cases, records)
    before = certify(evaluate(alone, [RunConfig(), other]), bound=0.9)
    assert before.unrecorded[0] == 0 < before.unrecorded[1] and not before.certified[1]
    both = gather(cases, records, [there])
    evaluation = evaluate(both, [RunConfig(), other])
    after = certify(evaluation, bound=0.9)
    assert after.unrecorded.tolist() == [0, 0]
    own = evaluate(gather(cases, there), [other])
    for measure in ("answered_right", "wrong_given", "citation_recall"):
        assert evaluation.figure(measure, 1) == own.figure(measure)


def test_questions_without_a_label_take_no_part() -> None:
    cases, records = questions(12, RunConfig())
    bare = [Case(case.id, case.question) for case in cases]
    evidence = gather(bare, records)
    made = certify(evaluate(evidence, [RunConfig()]))
    assert (made.trials[0], made.unrecorded[0], made.p[0], made.more(0)) == (0, 0, 1.0, 29)


def test_answers_that_were_chosen_to_be_judged_stand_for_no_others() -> None:
    """Without another label, those drawn at random count, and all of them do once every answer is judged."""
    cases, records = questions(12, RunConfig())
    bare = [Case(case.id, case.question) for case in cases]
    answered = [name for name, record in records.items() if record.answer and record.outcome != "abstained"]
    pairs = {name: pair_id(bare[int(name[5:])].question, records[name].answer) for name in answered}
    assert len(answered) == len(set(pairs.values())) > 6

    def trials(judged: dict[str, Judged]) -> tuple[int, int]:
        evaluation = evaluate(gather(bare, records, judged=judged), [RunConfig()])
        made = certify(evaluation)
        return int(made.trials[0]), int(made.failures[0])

    chosen = {pairs[name]: Judged(right=False, at_random=False) for name in answered[:4]}
    drawn = {pairs[name]: Judged(right=True, at_random=True) for name in answered[4:6]}
    assert trials(chosen) == (0, 0)
    assert trials({**chosen, **drawn}) == (2, 0)
    rest = {pairs[name]: Judged(right=True, at_random=False) for name in answered[6:]}
    assert trials({**chosen, **drawn, **rest}) == (len(answered), 4)


def test_the_same_question_again_is_no_further_trial() -> None:
    """Else one question that stands in a set thirty times would certify its setting."""
    cases, records = questions(40, RunConfig())
    again = [Case(f"{case.id}-b", f" {case.question.upper()}", case.expected, answerable=True) for case in cases]
    whole = {**records, **{f"{name}-b": record for name, record in records.items()}}
    for risk in ("wrong_given", "refused_answerable"):
        once = certify(evaluate(gather(cases, records), [RunConfig()]), risk=risk)
        twice = certify(evaluate(gather([*cases, *again], whole), [RunConfig()]), risk=risk)
        assert once.trials[0] > 5
        assert (once.trials[0], once.failures[0], once.p[0]) == (twice.trials[0], twice.failures[0], twice.p[0])
    cut = similarity_cut(gather(cases, records), 0.8)
    assert cut is not None and cut == similarity_cut(gather([*cases, *again], whole), 0.8)


def test_of_certified_settings_the_one_with_the_most_answers_is_taken() -> None:
    """Where refusals are the risk, every setting has the same trials, and answers those that it does not refuse."""
    same: dict[str, Any] = {
        "p": np.zeros(3),
        "unrecorded": np.zeros(3, int),
        "certified": np.array([True, True, False]),
    }
    wrong = Certificates("wrong_given", 0.1, 0.95, trials=np.array([30, 50, 60]), failures=np.array([0, 2, 0]), **same)
    refused = replace(wrong, risk="refused_answerable", trials=np.array([60] * 3), failures=np.array([9, 4, 0]))
    assert (wrong.most_answers(None), refused.most_answers(None)) == (1, 1)
    tied = replace(refused, failures=np.array([4, 4, 0]))
    assert (tied.most_answers(None), tied.most_answers(1), tied.most_answers(2)) == (0, 1, 0)
    assert replace(wrong, certified=np.zeros(3, bool)).most_answers(0) is None


def test_where_judgements_count_alone_unrecorded_answers_are_missed() -> None:
    cases, records = questions(40, RunConfig())
    bare = [Case(case.id, case.question) for case in cases]
    other = RunConfig(min_confidence=0.9)
    judged = {
        pair_id(case.question, records[case.id].answer): Judged(right=True, at_random=True)
        for case in bare
        if records[case.id].answer
    }
    made = certify(evaluate(gather(bare, records, judged=judged), [RunConfig(), other]), bound=0.5)
    assert made.unrecorded[0] == 0 < made.unrecorded[1]
    assert made.certified.tolist() == [True, False]


def test_an_answer_that_was_not_checked_is_missed_and_no_trial_less() -> None:
    """EV-04: were it not supported, it would be wrong; a guarantee that leaves it out promises too much."""
    cases, records = questions(40, RunConfig())
    for place in range(30):
        context = records[cases[place].id].context
        right = (Expectation("passage", context.passages[0].id),) if context else ()
        cases[place] = replace(cases[place], expected=right, answerable=True)
    whole = certify(evaluate(gather(cases, records), [RunConfig()]), bound=0.5)
    assert whole.certified[0] and 0 < whole.failures[0] < whole.trials[0]
    unsure = {
        name: replace(record, answer_note="unchecked") if record.outcome in ANSWERED else record
        for name, record in records.items()
    }
    made = certify(evaluate(gather(cases, unsure), [RunConfig()]), bound=0.5)
    assert made.trials[0] == made.failures[0] == whole.failures[0], "what is wrong anyhow is known"
    assert made.unrecorded[0] == whole.trials[0] - whole.failures[0]
    assert not made.certified[0]


@pytest.mark.parametrize("bound", [0.0, 1.0, -0.1])
def test_a_bound_is_a_share(bound: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        certify(evaluate(evidence_of(3), [RunConfig()]), bound=bound)


def test_the_cut_for_similarity_keeps_the_promised_share_of_new_questions() -> None:
    random = np.random.default_rng(3)
    whole = evidence_of(400)
    rows = np.flatnonzero(whole.places.met[:, 0])
    similarity, met = whole.places.similarity[:, 0], whole.places.met[:, 0]
    best = np.array([max(similarity[row, place] for place in range(20) if int(met[row]) >> place & 1) for row in rows])
    kept = []
    for _ in range(200):
        drawn = random.permutation(len(rows))
        fitted, new = drawn[:40], drawn[40:]
        gathered = tuple(whole.gathered[row] for row in rows[fitted])
        part = replace(whole, gathered=gathered, places=_rows(whole.places, rows[fitted]))
        cut = similarity_cut(part, 0.9)
        assert cut is not None and cut[1] == 40
        assert cut[0] == round(cut[0], 2) <= np.sort(best[fitted])[3], "no more than is shown of it"
        kept.append(np.mean(best[new] >= cut[0]))
    assert np.mean(kept) >= 0.9 - 0.01
    assert similarity_cut(evidence_of(5)) is None


def _rows(places: Places, rows: IntArray) -> Places:
    return replace(places, **{item.name: getattr(places, item.name)[rows] for item in fields(Places)})


def test_a_failed_run_counts_as_a_failure_and_an_unknown_refusal_is_no_missing_trial() -> None:
    cases, records = questions(24, RunConfig())
    whole = certify(evaluate(gather(cases, records), [RunConfig()]), bound=0.9)
    harder = []
    for lost in (case for case in cases if case.expected):
        without = {name: record for name, record in records.items() if name != lost.id}
        made = certify(evaluate(gather(cases, without), [RunConfig()]), bound=0.9)
        assert made.lost == 1
        assert made.p[0] >= whole.p[0], "a run that failed makes no certificate easier"
        harder.append(made.p[0] > whole.p[0])
    assert any(harder)
    # Answerable, and nothing says what is expected: only whether it is answered counts.
    bare = [replace(case, expected=()) for case in cases]
    unknown = RunConfig(similarity_threshold=0.1, top_k=9)
    evaluation = evaluate(gather(bare, records), [unknown])
    missing = evaluation.figure("refused_answerable")
    assert missing.unknown_n > 0
    assert certify(evaluation, risk="refused_answerable", bound=0.99).unrecorded[0] == missing.unknown_n
    assert not certify(evaluation, risk="refused_answerable", bound=0.99).certified[0]
