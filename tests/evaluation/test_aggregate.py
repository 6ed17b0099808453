"""Figures over a query set against a plain implementation that replays question by question."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from engine.builtin.answer_note import Checked, noted
from engine.evaluation.aggregate import evaluate
from engine.evaluation.answers import Match, cited_of, match_of
from engine.evaluation.cases import Case, Expectation
from engine.evaluation.evidence import gather
from engine.evaluation.figures import OUTCOMES
from engine.evaluation.judgements import Judged, pair_id
from engine.evaluation.matching import met_map
from engine.evaluation.measures import LOWER_IS_BETTER, MEASURES, OF_PASSAGES, Measure
from engine.evaluation.scores import ranking_of, scores_of
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.decide import judging, passed_ids, screening
from engine.model.grader_fit import GraderFit, refitted, sigmoid
from engine.model.values import ANSWERED, AnswerNote, Citation, PassageId, RunId, RunRecord, SentenceCheck, Verdict
from engine.replay import WhatIf, what_if
from engine.replay.table import run_table
from tests.engine.whatif.world import World, run_in, settings, variations, worlds
from tests.evaluation.gathered import PASSAGES, evidence_of, questions, world

CROSS = "cross_encoder:tiny/overlap"
Met = Mapping[PassageId, tuple[int, ...]]
Pair = tuple[float, float]
"""What a question adds to the sum and to the weight of a measure."""
NOTHING: Pair = (0.0, 0.0)
NO_ONE: Mapping[str, Judged] = {}
_NOTES: tuple[AnswerNote, ...] = ("", "", "cannot_tell", "unchecked")


def plainly(
    case: Case, record: RunRecord, config: RunConfig, cutoff: int, judged: Mapping[str, Judged] = NO_ONE
) -> dict[Measure, Pair]:
    """Every measure of one question under one setting, word by word as ``figures.Measure`` defines them."""
    found = what_if(record, config)
    if not found.path_known or found.outcome == "failed":
        return {}
    met = met_map(case, record)
    made = _costs(found, _repeatable(record, config) and _fetched(found, record, config))
    made.update(_context(case, found, met))
    made.update(_answer(case, record, found, met, judged.get(pair_id(case.question, record.answer))))
    if case.expected:
        made.update(_last_round(found, met, len(case.expected), cutoff))
        kept_expected = [any(met[passage.id] for passage in step.round.kept) for step in found.steps]
        made["false_rewrites"] = (float(sum(kept_expected[:-1])), float(len(found.steps) - 1))
        if found.outcome == "answered" and (kept_expected[-1] or not found.steps[-1].unseen):
            made["missed_rewrites"] = (float(not kept_expected[-1]), 1.0)
    judged_whole = found.gap != "verdicts" and not found.steps[-1].unseen and _repeatable(record, config)
    if judged_whole:
        screened, settled = screening([step.round for step in found.steps])
        made["left_to_grader"] = (screened - settled, screened)
    # Passages are counted by the recorded verdicts, which other cuts of a cascade would not give.
    same = judging(config) == judging(record.config)
    if judged_whole and same and (case.expected or case.answerable is False):
        made.update(_grading(found, met, config))
    return made


def _repeatable(record: RunRecord, config: RunConfig) -> bool:
    """Neither time nor a grader was missing, so that another run would judge as much of every round."""
    if config == record.config:
        return True
    if any(item.reason in ("deadline", "grader_unavailable") for item in record.decisions):
        return False
    if any(item.ended_s >= record.config.budget_s for item in run_table(record).rounds):
        return False
    reused = {item.round + 1 for item in record.rewrites if item.repeated or item.failed}
    for current in record.rounds:
        judged = [item.passage for item in current.candidates] if record.config.grade_probe else current.kept
        if not current.searched and current.index not in reused:
            return False
        if current.searched and any(passage.id not in current.verdicts for passage in judged):
            return False
    return True


def _fetched(found: WhatIf, record: RunRecord, config: RunConfig) -> bool:
    """Every passage that would be judged was found."""
    if found.steps[-1].unseen:
        return False
    depths = [len(item.candidates) for item in record.rounds]
    return not config.grade_probe or all(config.fetch_k <= n or n < record.config.fetch_k for n in depths)


def _costs(found: WhatIf, sure: bool) -> dict[Measure, Pair]:
    cost, decision = found.cost, found.decisions[-1]
    made: dict[Measure, Pair] = {"rewrites": (found.rewrites, 1.0)}
    if sure and found.outcome is not None:
        made["calls"] = (cost.calls, 1.0)
        made["built_in_calls"] = (cost.built_in_calls, 1.0)
        made["steps"] = (cost.calls + cost.built_in_calls, 1.0)
        if cost.seconds is not None:
            made["seconds"] = (cost.seconds, 1.0)
    if found.gap != "verdicts":
        made["pass_rate"] = (decision.pass_rate, 1.0)
    return made


def _context(case: Case, found: WhatIf, met: Met) -> dict[Measure, Pair]:
    made: dict[Measure, Pair] = {}
    context_known = found.gap != "verdicts"
    given = {index for passage in found.passages for index in met[passage.id]}
    if case.expected and context_known:
        made["context_hit"] = (float(bool(given)), 1.0)
        made["context_hit_all"] = (float(len(given) == len(case.expected)), 1.0)
    if found.outcome is None:
        return made
    refused = found.outcome == "abstained"
    if case.answerable is False:
        made["quality"] = made["refused_unanswerable"] = (float(refused), 1.0)
        return made
    if case.answerable:
        made["answered_answerable"] = (float(not refused), 1.0)
        made["refused_answerable"] = (float(refused), 1.0)
    if refused or context_known or not case.expected:
        made["quality"] = (float(not refused and (bool(given) or not case.expected)), 1.0)
    return made


def _answer(case: Case, record: RunRecord, found: WhatIf, met: Met, judged: Judged | None) -> dict[Measure, Pair]:
    if found.outcome is None or found.state != "known":
        return {}
    made: dict[Measure, Pair] = {}
    given = found.outcome != "abstained"
    if given:
        cited = cited_of(record)
        made = {
            "citation_precision": (cited.held, cited.pairs),
            "citation_recall": (cited.borne_out, cited.claims),
        }
        given = record.answer_note != "cannot_tell"
    if given:
        checked = Checked.of(record).sentences(found.config)
        known = record.answer_note != "unchecked"
        made["unsupported_given"] = (float(record.answer_note == "unsupported"), float(known))
        made["supported_sentences"] = (checked[0], 0 if checked[2] else checked[0] + checked[1])
    match = match_of(record.answer, case.gold_answers) if given and case.gold_answers else Match(0.0, 0.0, 0.0)
    if case.gold_answers:
        made |= {
            "exact_match": (match.exact, 1.0),
            "f1": (match.f1, 1.0),
            "containment": (match.contained, 1.0),
        }
    if case.gold_answers:
        right = bool(match.contained)
    elif given and judged is not None:
        right = judged.right
    elif case.answerable is False:
        right = not given
    elif case.expected:
        right = given and any(met[passage.id] for passage in found.passages)
    else:
        return made
    by_hand = not case.gold_answers and judged is not None
    if given and right and record.answer_note == "unchecked" and not by_hand:
        return made
    made["answered_right"] = (float(right), 1.0)
    if given:
        made["wrong_given"] = (float(not right), 1.0)
    return made


def _last_round(found: WhatIf, met: Met, expected: int, cutoff: int) -> dict[Measure, Pair]:
    step = found.steps[-1]
    if step.unseen:
        return {}
    scores = scores_of([ranking_of([met[passage.id] for passage in step.round.kept], expected)])
    return {
        "recall": (float(scores.recall[0, cutoff]), 1.0),
        "rr": (float(scores.rr[0, cutoff]), 1.0),
        "ndcg": (float(scores.ndcg[0, cutoff]), 1.0),
    }


def _grading(found: WhatIf, met: Met, config: RunConfig) -> dict[Measure, Pair]:
    right = passed = expected = 0
    for step in found.steps:
        ids = set(passed_ids(step.round, config))
        passed += len(ids)
        right += sum(bool(met[name]) for name in ids)
        judged = [item.id for item in step.round.kept if _readable(step.round.verdicts.get(item.id))]
        expected += sum(bool(met[name]) for name in judged)
    return {"grader_precision": (right, passed), "grader_recall": (right, expected)}


def _readable(verdict: object) -> bool:
    return verdict is not None and getattr(verdict, "relevant", None) is not None


_JUDGED = st.builds(Judged, right=st.booleans(), at_random=st.booleans())


@st.composite
def cases(draw: st.DrawFn, case_id: str) -> Case:
    names = draw(st.lists(st.integers(0, 13), unique=True, max_size=3))
    expected = tuple(Expectation("passage", f"p{name:02}") for name in names)
    answerable = draw(st.sampled_from([True, False, None]))
    # Answers of these worlds are the texts of their passages.
    gold = () if answerable is False else tuple(draw(st.lists(st.sampled_from(["The text of 2", "else"]), max_size=2)))
    return Case(case_id, "?", expected, answerable=answerable, gold_answers=gold)


@hypothesis_settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_figures_are_those_of_replaying_every_question_one_by_one(data: st.DataObject) -> None:
    """SC-02, SC-03, SC-04, SC-07, SC-10, EV-01"""
    config = data.draw(settings())
    cutoff = data.draw(st.integers(1, 20))
    made = [data.draw(cases(f"case-{number}")) for number in range(3)]
    notes = st.sampled_from(_NOTES)
    records = {case.id: replace(run_in(data.draw(worlds()), config), answer_note=data.draw(notes)) for case in made}
    said = {pair_id("?", record.answer) for record in records.values() if record.answer}
    judged = data.draw(st.dictionaries(st.sampled_from(sorted(said)), _JUDGED)) if said else {}
    evidence = gather(made, records, judged=judged)
    configs = [config, data.draw(variations(config)), data.draw(settings(config)), data.draw(settings(config))]
    evaluation = evaluate(evidence, configs, cutoff=cutoff)
    assert {*evaluation.case_ids, *evaluation.failed} == set(records)
    for setting, tried in enumerate(configs):
        for row, item in enumerate(evidence.gathered):
            expected = plainly(item.case, records[item.case.id], tried, cutoff, judged)
            for measure in MEASURES:
                measured = evaluation.measures[measure]
                pair = (measured.total[row, setting], measured.weight[row, setting])
                wanted = expected.get(measure, NOTHING)
                assert pair == pytest.approx(wanted if wanted[1] else NOTHING, abs=1e-6), (measure, tried)


def test_a_figure_is_a_value_only_where_its_whole_population_is_known() -> None:
    """BE-01: else it is what the known questions say with every unknown one counted worst, and best."""
    cases_, records = questions(24, RunConfig())
    evidence = gather(cases_, records)
    configs = [RunConfig(), RunConfig(grade_pass_threshold=0.2), RunConfig(similarity_threshold=0.6)]
    evaluation = evaluate(evidence, configs)
    bounded = 0
    for setting, config in enumerate(configs):
        rows = [plainly(case, records[case.id], config, 5) for case in cases_]
        for measure in MEASURES:
            pairs = [row[measure] for row in rows if row.get(measure, NOTHING)[1]]
            figure = evaluation.figure(measure, setting)
            assert figure.known_n == len(pairs) == evaluation.figures(measure).known_n[setting]
            wanted = sum(pair[0] for pair in pairs) / sum(pair[1] for pair in pairs) if pairs else None
            if figure.known_n == figure.n:
                assert figure.value == (None if wanted is None else pytest.approx(wanted)), measure
                assert figure.lower == figure.upper == figure.value
                continue
            bounded += 1
            assert figure.value is None
            assert figure.lower is not None
            if wanted is not None:
                assert figure.lower <= wanted + 1e-9
                assert figure.upper is None or wanted <= figure.upper + 1e-9
    assert bounded


@hypothesis_settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_what_running_the_questions_would_show_is_within_the_bounds(data: st.DataObject) -> None:
    """BE-01: gathered with one setting and tried with another, against runs of the same worlds under that one."""
    config = data.draw(settings())
    tried = data.draw(settings(config))
    made = [data.draw(cases(f"case-{number}")) for number in range(3)]
    found = {case.id: data.draw(worlds()) for case in made}
    before = gather(made, {name: run_in(world, config) for name, world in found.items()})
    after = gather(made, {name: run_in(world, tried) for name, world in found.items()})
    guessed, true = evaluate(before, [tried]), evaluate(after, [tried])
    for measure in MEASURES:
        bounds, truth = guessed.figure(measure), true.figure(measure).value
        # Times are those that a run measured itself, and another run measures others.
        if truth is None or measure == "seconds" or bounds.n == 0:
            continue
        assert bounds.lower is not None
        assert bounds.lower <= truth + 1e-6, measure
        assert bounds.upper is None or truth <= bounds.upper + 1e-6, measure


_YES = (Verdict(relevant=True, confidence=0.9, reason="because"),) * 6
_ONE_SEARCH = (((0, 0.9), (1, 0.9), (2, 0.4), (3, 0.4), (4, 0.4), (5, 0.4)), (), (), ())
_PROBED = RunConfig(top_k=3, similarity_threshold=0.3, gate="min_relevant", min_relevant=1, probe_k=3)


@pytest.mark.parametrize(
    ("world", "config", "tried", "measures"),
    [
        (
            World(_ONE_SEARCH, _YES, ("new",) * 4),
            replace(_PROBED, grade_probe=True),
            replace(_PROBED, grade_probe=True, top_k=6, similarity_threshold=0.5),
            ("steps", "built_in_calls"),
        ),
        (
            World(_ONE_SEARCH, _YES, ("new",) * 4),
            _PROBED,
            replace(_PROBED, top_k=6),
            ("steps", "built_in_calls", "grader_precision"),
        ),
        (
            World(_ONE_SEARCH, _YES, ("new",) * 4, time_up=(0, "grade")),
            replace(_PROBED, probe_k=6, gate="pass_rate", similarity_threshold=0.95, grade_pass_threshold=0.0),
            replace(_PROBED, probe_k=6, gate="pass_rate", grade_pass_threshold=0.5),
            ("steps", "built_in_calls"),
        ),
    ],
    ids=["a deeper search is judged whole", "a deeper search keeps more", "time was up before all was judged"],
)
def test_what_another_run_would_also_judge_leaves_its_steps_open(
    world: World, config: RunConfig, tried: RunConfig, measures: tuple[Measure, ...]
) -> None:
    """BE-01: a figure that only a run of its own could show is bounded, and the bounds hold."""
    case = Case("case", "?", (Expectation("passage", "p04"),), answerable=True)
    guessed, true = (evaluate(gather([case], {"case": run_in(world, used)}), [tried]) for used in (config, tried))
    for measure in measures:
        bounds, truth = guessed.figure(measure), true.figure(measure).value
        assert bounds.value is None and truth is not None, measure
        assert bounds.lower is not None and bounds.upper is not None
        assert bounds.lower <= truth <= bounds.upper, measure


def test_the_recorded_settings_give_the_recorded_outcomes_and_everything_is_known() -> None:
    cases_, records = questions(20, RunConfig())
    evaluation = evaluate(gather(cases_, records), [RunConfig()])
    assert evaluation.unknown_n.tolist() == [0]
    assert [OUTCOMES[code] for code in evaluation.outcomes[:, 0]] == [records[case.id].outcome for case in cases_]
    assert sum(evaluation.outcome_counts().values()) == 20


def test_figures_of_some_settings_are_those_of_these_alone() -> None:
    """A slider that moves reads off what was computed for its neighbours along with it; every part goes along."""
    configs = [RunConfig(top_k=top_k, similarity_threshold=cut) for top_k, cut in ((5, 0.3), (1, 0.9), (8, 0.2))]
    evidence = evidence_of(12)
    some, alone = evaluate(evidence, configs).only((2, 1)), evaluate(evidence, [configs[2], configs[1]])
    assert some.configs == alone.configs
    for name in MEASURES:
        for part in ("lower", "upper", "known_n", "n"):
            np.testing.assert_allclose(getattr(some.figures(name), part), getattr(alone.figures(name), part))
        np.testing.assert_array_equal(some.measures[name].total, alone.measures[name].total)
        np.testing.assert_array_equal(some.measures[name].weight, alone.measures[name].weight)
    for part in ("outcomes", "path_known"):
        np.testing.assert_array_equal(getattr(some, part), getattr(alone, part))
    for item in fields(alone.right_by):
        np.testing.assert_array_equal(getattr(some.right_by, item.name), getattr(alone.right_by, item.name))


def test_unknown_paths_widen_every_figure_that_they_belong_to() -> None:
    evidence = evidence_of(30)
    evaluation = evaluate(evidence, [RunConfig(similarity_threshold=0.1, top_k=9)])
    unknown = int(evaluation.unknown_n[0])
    assert unknown > 0
    assert evaluation.outcome_counts()[None, ""] >= unknown
    steps = evaluation.figure("steps")
    assert (steps.known_n, steps.n, steps.value) == (30 - unknown, 30, None)
    assert steps.lower is not None and steps.upper is not None and steps.lower < steps.upper
    assert len(evaluation.pass_rates()) <= 30 - unknown


def test_a_failed_run_is_unknown_in_every_figure_and_improves_none() -> None:
    """Whether it has no usable run at all, or fails under the setting."""
    cases_, records = questions(6, RunConfig())
    whole = evaluate(gather(cases_, records), [RunConfig()])
    broken = replace(records["case-0"], outcome="failed")
    missing = {name: record for name, record in records.items() if name not in ("case-0", "case-1")}
    evidence = gather(cases_, {**missing, "case-0": broken})
    evaluation = evaluate(evidence, [RunConfig()])
    assert evaluation.failed == ("case-0", "case-1")
    rewrites = evaluation.figure("rewrites")
    assert (rewrites.known_n, rewrites.n, rewrites.value) == (4, 6, None)
    for measure in ("quality", "context_hit", "steps", "wrong_given", "recall"):
        less, more = (whole, evaluation) if measure in LOWER_IS_BETTER else (evaluation, whole)
        assert less.figures(measure).worse[0] <= more.figures(measure).worse[0], measure
    assert evaluation.figure("seconds").upper is None, "nothing limits the time of a run that there is not"


def test_an_answer_that_nobody_judged_is_unknown_and_not_left_out() -> None:
    """Of two questions only people can tell; one answer was judged right, the other by nobody under this setting."""
    cases_, records = questions(12, RunConfig())
    bare = [replace(case, expected=(), answerable=None) for case in cases_ if records[case.id].answer][:2]
    judged = {pair_id(bare[0].question, records[bare[0].id].answer): Judged(right=True, at_random=False)}
    evidence = gather(bare, records, judged=judged)
    known, lost = evaluate(evidence, [RunConfig(), RunConfig(collection="elsewhere")]), 1
    assert known.figure("answered_right").value == 1.0
    other = known.figure("answered_right", lost)
    assert (other.value, other.lower, other.upper, other.known_n, other.n) == (None, 0.0, 1.0, 0, 1)


def test_an_answer_that_is_not_supported_is_wrong_unless_people_said_that_it_is_right() -> None:
    """SC-07: whatever else it contains; without that, the very same answers are right."""
    cases_, records = questions(12, RunConfig())
    case = next(item for item in cases_ if records[item.id].answer and records[item.id].outcome == "answered")
    record = records[case.id]
    golden = replace(case, gold_answers=(record.answer,), answerable=True)
    doubted = replace(record, answer_note="unsupported")
    judged = {pair_id(case.question, record.answer): Judged(right=True, at_random=False)}
    bare = replace(golden, gold_answers=(), expected=())

    def figures(case: Case, record: RunRecord, judged: Mapping[str, Judged]) -> list[float | None]:
        found = evaluate(gather([case], {case.id: record}, judged=judged), [RunConfig()])
        return [found.figure("answered_right").value, found.figure("wrong_given").value]

    assert figures(golden, record, {}) == [1.0, 0.0]
    assert figures(golden, doubted, {}) == [0.0, 1.0]
    assert figures(bare, doubted, judged) == [1.0, 0.0]


def test_an_answer_that_is_not_supported_is_counted_apart_only_where_it_stands() -> None:
    """SC-04: under other settings nothing is known of the answer that would be written."""
    cases_, records = questions(12, RunConfig())
    case = next(item for item in cases_ if records[item.id].answer and records[item.id].outcome == "answered")
    doubted = replace(records[case.id], answer_note="unsupported")
    elsewhere = RunConfig(collection="elsewhere")
    evaluation = evaluate(gather([case], {case.id: doubted}), [RunConfig(), elsewhere])
    assert evaluation.outcome_counts(0) == {("answered", "unsupported"): 1}
    assert evaluation.outcome_counts(1) == {(None, ""): 1}
    assert evaluation.only([1, 0]).outcome_counts(1) == {("answered", "unsupported"): 1}


def test_settings_that_differ_in_their_models_are_not_known_and_stop_nothing() -> None:
    other = RunConfig(collection="elsewhere")
    evaluation = evaluate(evidence_of(8), [RunConfig(), other, RunConfig(top_k=4)])
    assert evaluation.known_n[0] == 8
    assert evaluation.known_n[1] == 0
    assert evaluation.figure("quality", 1).value is None
    assert evaluation.configs[1] is other


def test_no_questions_give_no_figures() -> None:
    evaluation = evaluate(gather([], {}), [RunConfig()])
    assert evaluation.figure("quality").value is None
    assert evaluation.interval("quality") is None
    assert evaluation.quantile("seconds", 0.5).value is None
    assert evaluation.outcome_counts() == {}


def test_the_median_time_has_bounds_where_a_time_is_not_known() -> None:
    evaluation = evaluate(evidence_of(25), [RunConfig(), RunConfig(similarity_threshold=0.1, top_k=9)])
    bounded = 0
    for setting in (0, 1):
        values = evaluation.measures["seconds"].of(setting)
        known = values[~np.isnan(values)]
        for share in (0.5, 0.9):
            found = evaluation.quantile("seconds", share, setting)
            if len(known) == 25:
                assert found.value == pytest.approx(np.quantile(known, share))
                continue
            bounded += 1
            assert (found.value, found.known_n, found.n) == (None, len(known), 25)
            assert found.lower is not None and found.upper is not None
            assert found.lower <= np.quantile(known, share) <= found.upper
    assert bounded


@pytest.mark.parametrize("cutoff", [0, 21])
def test_a_cutoff_beyond_what_can_be_kept_is_refused(cutoff: int) -> None:
    with pytest.raises(ValueError, match="cutoff"):
        evaluate(evidence_of(1), [RunConfig()], cutoff=cutoff)


def test_recorded_verdicts_say_nothing_of_another_grader() -> None:
    other = RunConfig(models=RoleModels(grader=RoleModel(seed=8)), grade_pass_threshold=0.0)
    evaluation = evaluate(evidence_of(8), [RunConfig(), other])
    assert evaluation.known_n.tolist() == [8, 8]
    assert evaluation.figures("grader_precision").known_n.tolist()[0] > 0
    for measure in ("grader_precision", "grader_recall"):
        assert evaluation.figures(measure).known_n[1] == 0
        assert (evaluation.figure(measure, 1).lower, evaluation.figure(measure, 1).upper) == (0.0, 1.0)


def test_labels_of_files_are_in_no_figure_that_asks_which_passage_is_right() -> None:
    """Every passage is of the one file, so that all of them would count as right."""
    config = RunConfig(gate="pass_rate", grade_pass_threshold=0.9)
    cases_, records = questions(12, config)
    by_file = [replace(case, expected=(Expectation("source", "s.md"),)) if case.expected else case for case in cases_]
    exactly, loosely = (evaluate(gather(asked, records), [config]) for asked in (cases_, by_file))
    assert (exactly.by_file, loosely.by_file) == (0, 9)
    for measure in sorted(OF_PASSAGES):
        assert exactly.figure(measure).n > 0 or measure == "missed_rewrites"
        assert (loosely.figure(measure).n, loosely.figure(measure).lower) == (0, None)
    recall = loosely.measures["grader_recall"]
    assert set(recall.weight[:, 0].tolist()) <= {0.0, 1.0}, "once a question, however many passages the file has"
    mixed = evaluate(gather([*by_file[:6], *cases_[6:]], records), [config])
    for measure in sorted(OF_PASSAGES):
        part = exactly.measures[measure].weight[6:, 0]
        assert mixed.measures[measure].weight[6:, 0].tolist() == part.tolist()
        labelled = [bool(case.expected) for case in cases_[:6]]
        assert not mixed.measures[measure].weight[:6, 0][labelled].any()


def test_answers_that_cannot_tell_or_name_no_source_are_counted_apart() -> None:
    cases_, records = questions(4, RunConfig())
    usable = [case.id for case in gather(cases_, records).cases]
    marks: dict[str, AnswerNote] = {usable[0]: "cannot_tell", usable[1]: "uncited"}
    noted = {name: replace(record, answer_note=marks.get(name, "")) for name, record in records.items()}
    assert gather(cases_, noted).notes == {"cannot_tell": 1, "uncited": 1}
    assert gather(cases_, records).notes == {}


def test_sentences_are_counted_by_the_cut_with_bounds_where_they_are_unchecked() -> None:
    """SC-07, EV-01: nothing is measured again."""
    verified = RoleModels(verifier=RoleModel("ollama:small"))
    config = RunConfig(models=verified)
    cases_, records = questions(4, config)
    answers = [name for name, record in records.items() if record.outcome in ANSWERED and record.answer][:2]
    chances = dict(zip(answers, ((0.9, 0.4), (0.7, None)), strict=True))

    def checked(name: str, record: RunRecord) -> RunRecord:
        said = chances.get(name)
        made = said and tuple(SentenceCheck("s.", (), p, "ollama:small", "token") for p in said)
        cited = replace(record, citations=(Citation(1, PassageId("p"), "s.md"),))
        return noted(replace(cited, checks=made, unsupported_sentences=None if made else ()))

    evidence = gather([case for case in cases_ if case.id in answers], {n: checked(n, r) for n, r in records.items()})
    cuts = [replace(config, min_support=cut) for cut in (0.3, 0.5, 0.8)]
    evaluation = evaluate(evidence, [*cuts, replace(config, models=RoleModels())])
    sentences = [evaluation.figure("supported_sentences", place) for place in range(4)]
    assert [(item.lower, item.upper) for item in sentences] == [(0.75, 1.0), (0.5, 0.75), (0.25, 0.5), (0.0, 1.0)]
    wrong = [evaluation.figure("unsupported_given", place) for place in range(4)]
    assert [(item.lower, item.upper) for item in wrong] == [(0.0, 0.5), (0.5, 1.0), (1.0, 1.0), (0.0, 1.0)]
    assert [(item.n, item.known_n) for item in sentences] == [(2, 1)] * 3 + [(2, 0)]


# -- another calibration of the grader -------------------------------------------------------------------------------


def judged_with(fit: GraderFit | None, raws: Sequence[float]) -> tuple[Verdict, ...]:
    plain = (Verdict(raw >= 0, sigmoid(abs(raw)), "", grader=CROSS, raw=raw) for raw in raws)
    return tuple(refitted(verdict, fit) or verdict for verdict in plain)


def test_figures_with_a_calibration_are_those_of_runs_with_it_next_to_those_without() -> None:
    """Settings with and without it are evaluated together, as a baseline is with what is tried."""
    table = {"scores": [-1.0, 0.5], "chances": [0.05, 0.3, 0.55, 0.7, 0.95]}
    fit = GraderFit("calibration", CROSS, "samples", table, questions=("0" * 12,))
    plain, fitted = (RunConfig(models=RoleModels(grader=RoleModel(name))) for name in (CROSS, fit.name))
    chance, cases = random.Random(5), []
    runs: dict[RunConfig, dict[str, RunRecord]] = {plain: {}, fitted: {}}
    for number in range(30):
        made, raws = world(chance), [round(chance.gauss(0, 1.5), 1) for _ in range(PASSAGES)]
        expected = (Expectation("passage", f"p{chance.randrange(PASSAGES):02}"),)
        cases.append(Case(f"case-{number}", f"Question {number}?", expected, answerable=True, language="en"))
        for config, by in ((plain, None), (fitted, fit)):
            run = run_in(replace(made, verdicts=judged_with(by, raws)), config)
            runs[config][f"case-{number}"] = replace(run, id=RunId(f"run-{number}"))
    asked = [fitted, plain, replace(fitted, min_confidence=0.75), replace(plain, min_confidence=0.75)]
    evaluated = evaluate(gather(cases, runs[plain], fits={fit.id: fit}), asked)
    assert evaluated.configs == tuple(asked) and evaluated.right_by.learnt.sum() == 0
    known = 0
    for place, config in enumerate(asked):
        real = evaluate(gather(cases, runs[fitted if config.models == fitted.models else plain]), [config])
        for measure in ("quality", "pass_rate", "rewrites", "grader_precision", "context_hit"):
            is_, was = evaluated.figure(measure, place), real.figure(measure)
            known += is_.unknown_n == 0
            assert is_.n == was.n
            assert is_.lower is not None and is_.upper is not None and was.lower is not None and was.upper is not None
            assert is_.lower <= was.lower + 1e-9 and was.upper <= is_.upper + 1e-9, (config, measure)
            assert evaluated.path_known[:, place].sum() > 10
    assert known > 8, "what is known must be said to be"
    without = evaluate(gather(cases, runs[plain]), [fitted])
    assert not without.path_known.any() and without.right_by.learnt.all(), "nothing is known of a fit that is not there"
