"""A grader's figures against hand-made ones and scikit-learn, and what is said where they cannot be had."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluation.cases import Case, Expectation
from engine.evaluation.grader_bench import FigureName, Pair, by_kind, compare, cut_for_precision, figures, pairs
from engine.evaluation.noise import coin_flip, judged_passages, noise
from engine.evaluation.values import Label
from engine.model.config import RunConfig
from engine.model.values import BY_HAND, PassageId, Verdict
from tests.engine.whatif.world import CHAT, World, run_in


def pair(number: int, p: float | None, label: bool | None) -> Pair:
    source = None if label is None else "thumb"
    reach = -1.0 if p is None else p
    return Pair("case", "?", PassageId(f"p{number}"), p, label, source, reach=reach)  # type: ignore[arg-type]


def some(*rows: tuple[float | None, bool | None]) -> list[Pair]:
    return [pair(number, p, label) for number, (p, label) in enumerate(rows)]


HAND_MADE = some((0.9, True), (0.8, False), (0.7, True), (0.4, True), (0.2, False), (None, True), (0.6, None))


def test_figures_are_those_worked_out_by_hand() -> None:
    made = figures(HAND_MADE, cut=0.5)
    confusion = made.confusion
    assert (confusion.true_pass, confusion.false_pass, confusion.false_drop, confusion.true_drop) == (2, 1, 1, 1)
    assert (made.n, made.relevant_n) == (5, 3)
    assert made.accuracy == pytest.approx(3 / 5)
    assert made.precision == made.recall == made.f1 == pytest.approx(2 / 3)
    # Agreement 0.6 against 3/5 * 3/5 + 2/5 * 2/5 = 0.52 by chance.
    assert made.kappa == pytest.approx((0.6 - 0.52) / 0.48)
    assert made.auc == pytest.approx(4 / 6)
    assert made.average_precision == pytest.approx((1 / 1 + 2 / 3 + 3 / 4) / 3)
    assert made.brier == pytest.approx((0.01 + 0.64 + 0.09 + 0.36 + 0.04) / 5)
    assert made.ece == pytest.approx((0.1 + 0.8 + 0.3 + 0.6 + 0.2) / 5)
    assert not made.missing


def test_the_bar_is_inclusive_and_complements_are_exact() -> None:
    made = figures(some((1 - 0.7, True), (0.29, False)), cut=0.3)
    assert made.confusion.true_pass == 1
    assert made.confusion.true_drop == 1


p_values = st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.5, 0.55, 0.7, 0.99, 1.0])
graded = st.lists(st.tuples(p_values, st.booleans()), min_size=1)


@given(graded, st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_figures_are_those_of_scikit_learn(rows: list[tuple[float, bool]], cut: float) -> None:
    from sklearn import metrics
    from sklearn.calibration import calibration_curve

    made = figures(some(*rows), cut)
    p, truth = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    passed = p >= cut
    assert made.accuracy == pytest.approx(metrics.accuracy_score(truth, passed))
    assert made.brier == pytest.approx(metrics.brier_score_loss(truth, p, labels=[False, True]))
    if passed.any():
        assert made.precision == pytest.approx(metrics.precision_score(truth, passed))
    if truth.any():
        assert made.recall == pytest.approx(metrics.recall_score(truth, passed))
        assert made.f1 == pytest.approx(metrics.f1_score(truth, passed))
    if truth.any() and not truth.all():
        assert made.auc == pytest.approx(metrics.roc_auc_score(truth, p))
        assert made.average_precision == pytest.approx(metrics.average_precision_score(truth, p))
        precision, recall, cuts = metrics.precision_recall_curve(truth, p)
        assert [point.cut for point in made.curve] == pytest.approx(cuts.tolist())
        # scikit-learn's last point is a convention: nothing passes, and its precision is 1.
        assert [point.precision for point in made.curve] == pytest.approx(precision[:-1].tolist())
        assert [point.recall for point in made.curve] == pytest.approx(recall[:-1].tolist())
    if made.kappa is not None:
        assert made.kappa == pytest.approx(metrics.cohen_kappa_score(truth, passed))
    shares, means = calibration_curve(truth, p, n_bins=10)
    full = [item for item in made.bins if item.n]
    assert [item.relevant_share for item in full] == pytest.approx(shares.tolist())
    assert [item.mean_p for item in full] == pytest.approx(means.tolist())
    assert sum(item.n for item in made.bins) == made.n == made.confusion.n


def test_every_point_of_the_curve_is_the_precision_and_recall_at_its_cut() -> None:
    for point in figures(HAND_MADE).curve:
        there = figures(HAND_MADE, cut=point.cut)
        assert (there.precision, there.recall) == pytest.approx((point.precision, point.recall))


def test_what_cannot_be_had_is_none_with_a_reason() -> None:
    nothing = figures([])
    assert nothing.n == 0
    assert set(nothing.missing.values()) == {"no_pairs"}
    assert (nothing.auc, nothing.ece, nothing.kappa) == (None, None, None)
    relevant = figures(some((0.9, True), (0.8, True)))
    assert relevant.missing == {
        "kappa": "one_class",
        "auc": "one_class",
        "average_precision": "one_class",
        "curve": "one_class",
    }
    dropped = figures(some((0.1, True), (0.2, False)))
    assert (dropped.precision, dropped.missing["precision"]) == (None, "nothing_passes")
    irrelevant = figures(some((0.9, False), (0.2, False)))
    assert irrelevant.missing["recall"] == "nothing_relevant"
    assert irrelevant.precision == 0.0
    assert figures(some((None, True), (0.5, None))).n == 0


@given(graded, st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_the_cut_for_a_precision_has_the_highest_recall_of_all_that_reach_it(
    rows: list[tuple[float, bool]], wanted: float
) -> None:
    found = cut_for_precision(some(*rows), wanted)
    reached = []
    for cut in {row[0] for row in rows}:
        passing = [label for p, label in rows if p >= cut]
        if any(label for _, label in rows) and sum(passing) / len(passing) >= wanted - 1e-12:
            reached.append((sum(passing), -cut, len(passing)))
    if not reached:
        assert found is None
        return
    right, cut, passing_n = max(reached)
    assert found is not None
    assert found.passing_n == passing_n
    assert found.precision == pytest.approx(right / passing_n)
    assert found.precision >= wanted - 1e-9
    assert found.cut == -cut


def test_the_cut_for_a_precision_is_one_that_the_slider_has_and_holds_there() -> None:
    """Token probabilities have many decimals: a cut that is shown rounded would let other passages pass."""
    rows = some((0.628, True), (0.6249, True), (0.6212, False), (0.3, False))
    found = cut_for_precision(rows, 0.6)
    assert found is not None and found.cut == 0.62
    there = figures(rows, found.cut)
    assert (there.precision, there.recall) == (found.precision, found.recall)
    assert (found.precision, found.recall) == pytest.approx((2 / 3, 1.0))
    assert not found.intervals, "one question says nothing of others"
    many = [replace(item, question=f"{place} {item.question}") for place in range(10) for item in rows]
    certain = cut_for_precision(many, 0.6)
    assert certain is not None and certain.intervals["recall"].low < 1.0 == certain.recall
    assert certain.intervals["precision"] == figures(many, certain.cut).intervals["precision"]
    # 0.9953 would be shown as 1.00, where nothing passes; at 0.99 both do.
    assert cut_for_precision(some((0.9953, True), (0.9949, False)), 1.0) is None


def test_the_point_in_use_is_that_of_what_passes_at_the_cut() -> None:
    rows = some((0.9, True), (0.6, False), (0.4, True), (0.1, False))
    for cut in (0.0, 0.4, 0.45, 0.5, 0.65, 0.9):
        made = figures(rows, cut)
        assert made.in_use is not None, cut
        assert (made.in_use.precision, made.in_use.recall) == (made.precision, made.recall), cut
    assert figures(rows, 0.95).in_use is None, "nothing passes"


def test_graders_are_told_apart_by_questions_and_not_by_their_passages() -> None:
    """One question with ten passages is one trial: its verdicts are right or wrong together."""
    right = [pair(number, 0.9, True) for number in range(10)]
    wrong = [pair(number, 0.1, True) for number in range(10)]
    assert compare(right, wrong).p == 1.0
    apart = [replace(item, question=f"{item.passage_id}?") for item in wrong]
    several = [replace(item, question=f"{item.passage_id}?") for item in right]
    assert compare(several, apart).p == pytest.approx(2 / 2**10)


def test_two_graders_are_compared_on_the_pairs_that_both_have_judged() -> None:
    first = some((0.9, True), (0.8, False), (0.7, True), (0.6, None), (0.9, True))
    second = some((0.8, True), (0.1, False), (0.2, True), (0.9, None), (None, True))
    made = compare(first, second)
    assert (made.n, made.labelled_n) == (4, 3)
    assert made.agreement == 0.5
    assert made.kappa == pytest.approx(0.0)
    assert (made.first_right, made.second_right, made.p) == (2, 2, 1.0)
    assert [item.first.passage_id for item in made.disagreements] == ["p1", "p2"]
    assert made.disagreements[0].distance == pytest.approx(0.7)
    assert made.agreement_interval is None and made.kappa_interval is None, "one question says nothing of others"
    random = np.random.default_rng(7)
    ours, theirs = drawn(random, 60, 0.4), drawn(random, 60, 0.4)
    found = compare(ours, theirs)
    for value, sampled in ((found.agreement, found.agreement_interval), (found.kappa, found.kappa_interval)):
        assert sampled is not None and value is not None and sampled.low < value < sampled.high
        assert sampled.value == pytest.approx(value) and sampled.n == 60


def test_two_graders_without_common_pairs_or_labels_give_no_figures() -> None:
    apart = compare(some((0.9, True)), [])
    assert (apart.n, apart.agreement, apart.kappa, apart.p) == (0, None, None, None)
    unlabelled = compare(some((0.9, None)), some((0.8, None)))
    assert (unlabelled.agreement, unlabelled.kappa, unlabelled.p) == (1.0, None, None)


def test_noise_is_the_scatter_of_repeated_gradings() -> None:
    steady = [Verdict(True, 0.9, "")] * 3
    shaky = [Verdict(True, 0.6, ""), Verdict(False, 0.6, ""), Verdict(True, 0.5, ""), Verdict(None, 0.0, "")]
    made = noise({PassageId("a"): steady, PassageId("b"): shaky, PassageId("c"): []})
    first, second, third = made.passages
    assert (first.flip_rate, first.sd, first.n) == (0.0, 0.0, 3)
    assert second.n == 3
    assert second.flip_rate == pytest.approx(1 / 3)
    assert second.sd == pytest.approx(0.1)
    assert (third.n, third.mean_p, third.flip_rate) == (0, None, None)
    assert made.sd == pytest.approx((0.02 / 4) ** 0.5)
    assert made.band == pytest.approx(2 * (0.02 / 4) ** 0.5)
    assert made.flipping_n == 1


def test_a_single_grading_tells_no_noise_and_no_coin_flip() -> None:
    made = noise({PassageId("a"): [Verdict(True, 0.9, "")]})
    assert (made.sd, made.band) == (None, None)
    assert not coin_flip(0.5, 0.5, made.band)


@pytest.mark.parametrize(
    ("p", "band", "flips"), [(0.5, 0.1, True), (0.6, 0.1, True), (0.61, 0.1, False), (0.5, 0.0, False)]
)
def test_a_verdict_is_a_coin_flip_inside_the_noise_band(p: float, band: float, flips: bool) -> None:
    assert coin_flip(p, 0.5, band) is flips


def test_what_a_screener_decided_is_no_verdict_of_the_grader() -> None:
    """BE-03: its P is that of another model, and most verdicts of a cascade are its own."""
    yes, no = Verdict(True, 0.9, "", kind="said"), Verdict(False, 0.8, "", kind="said")
    search = ((0, 0.9), (1, 0.8), (2, 0.7))
    around = World((search,) * 4, (yes, no, yes), ("new",) * 4, chances=(0.95, 0.5, 0.02))
    alone = RunConfig(models=CHAT)
    screened = replace(alone, cascade=True, cascade_low=0.1, cascade_high=0.9)
    case = Case("a", "What are the early signs?", (Expectation("passage", "p01"),), answerable=True)
    made, before = (pairs([case], {"a": run_in(around, config)}) for config in (screened, alone))
    assert {item.passage_id for item in made if item.by_cut} == {"p00", "p02"}
    assert {item.kind for item in made if item.by_cut} == {"score"}
    assert {kind: [item.passage_id for item in own] for kind, own in by_kind(made).items()} == {"said": ["p01"]}
    # What the cascade lets pass is compared as a whole.
    whole = compare(made, before)
    assert (whole.n, [item.first.passage_id for item in whole.disagreements]) == (3, ["p02"])
    assert [item.id for item in judged_passages(run_in(around, screened))] == ["p01"]


def test_pairs_take_their_labels_from_thumbs_first_and_the_data_set_next() -> None:
    yes, no = Verdict(True, 0.9, ""), Verdict(False, 0.8, "")
    search = ((0, 0.9), (1, 0.8), (2, 0.7))
    record = run_in(World((search,) * 4, (yes, no, yes), ("new",) * 4), RunConfig())
    case = Case("a", record.question, (Expectation("passage", "p01"),), answerable=True)
    thumb = Label(f" {record.question} ", PassageId("p02"), True, "2025-03-01T00:00:00+00:00")
    made = pairs([case, Case("not run", "?")], {"a": record}, [thumb])
    assert [(item.passage_id, item.label, item.label_source) for item in made] == [
        ("p00", False, "assumed"),
        ("p01", True, "dataset"),
        ("p02", True, "thumb"),
    ]
    assert [item.p_relevant for item in made] == pytest.approx([0.9, 0.2, 0.9])
    assert figures(made).assumed_n == 1
    only = pairs([case], {"a": record}, [thumb], only_labelled=True)
    assert [item.passage_id for item in only] == ["p01", "p02"]
    against = Label(record.question, PassageId("p01"), False, "2025-03-01T00:00:00+00:00")
    assert pairs([case], {"a": record}, [against])[1].label is False
    # Of several judges most decide; as many on either side decide nothing.
    for_it = replace(against, relevant=True, judge="Ada")
    assert pairs([case], {"a": record}, [against, replace(against, judge="Bo"), for_it])[1].label is False
    assert pairs([case], {"a": record}, [against, for_it])[1].label_source == "dataset"


def test_a_label_of_a_file_counts_once_for_its_best_passage_and_says_nothing_of_the_others() -> None:
    """EV-02: eleven passages of the right file are not eleven right passages."""
    yes, no = Verdict(True, 0.9, ""), Verdict(False, 0.8, "")
    search = tuple((place, 0.9 - place / 20) for place in range(11))
    record = run_in(World((search,) * 4, (yes, *(no,) * 10), ("new",) * 4), RunConfig(grade_probe=True))
    case = Case("a", record.question, (Expectation("source", "s.md"), Expectation("source", "other.md")))
    wrong = Case("b", "Who won?", answerable=False)
    made = pairs([case, wrong], {"a": record, "b": record})
    assert {(item.label, item.label_source) for item in made if item.case_id == "a"} == {(None, "file")}
    found = figures(made)
    assert (found.recall, found.files_n, found.files_passed) == (1.0, 1, 1), "other.md was never found"
    named: tuple[FigureName, ...] = ("accuracy", "precision", "f1", "kappa", "auc", "brier", "ece", "average_precision")
    assert all(getattr(found, name) is None and found.missing[name] == "files" for name in named)
    assert found.curve == () and found.bins == ()
    assert figures(made, cut=0.95).recall == 0.0

    def thumb(name: str, relevant: bool) -> Label:
        return Label(record.question, PassageId(name), relevant, "2025-03-01T00:00:00+00:00")

    judged = figures(pairs([case], {"a": record}, [thumb("p00", True), thumb("p01", False)]))
    assert (judged.n, judged.relevant_n, judged.files_n, judged.precision, judged.kappa) == (2, 1, 0, 1.0, 1.0)
    assert (judged.assumed_n, judged.auc) == (0, 1.0), "what nobody judged is not assumed to be wrong"


def test_a_question_without_labels_has_pairs_without_labels_and_an_unanswerable_one_has_only_wrong_ones() -> None:
    search = ((0, 0.9),)
    record = run_in(World((search,) * 4, (Verdict(None, 0.0, ""),), ("new",) * 4), RunConfig(models=CHAT))
    (unknown,) = pairs([Case("a", "?")], {"a": record})
    assert (unknown.label, unknown.label_source, unknown.p_relevant) == (None, None, None)
    (wrong,) = pairs([Case("a", "?", answerable=False)], {"a": record})
    assert (wrong.label, wrong.label_source) == (False, "dataset")


def test_a_verdict_set_by_hand_is_none_of_the_graders() -> None:
    search = ((0, 0.9), (1, 0.8))
    by_hand = Verdict(True, 1.0, "", grader=BY_HAND)
    record = run_in(World((search,) * 4, (Verdict(True, 0.9, ""), by_hand), ("new",) * 4), RunConfig())
    assert [item.passage_id for item in pairs([Case("a", "?")], {"a": record})] == ["p00"]


# -- what is said of sampling error, and of kinds of P ---------------------------------------------------------------


def drawn(random: np.random.Generator, questions: int, off: float) -> list[Pair]:
    """Four passages a question, whose P is too high by ``off`` and shares a mood of its question."""
    made = []
    for question in range(questions):
        mood = random.normal(0, 0.5)
        for place in range(4):
            true = 1 / (1 + np.exp(-(mood + random.normal(0, 1.5))))
            item = pair(place, float(min(1.0, true + off * (1 - true))), bool(random.random() < true))
            made.append(replace(item, case_id=f"c{question}", question=f"Question {question}?"))
    return made


def test_intervals_hold_what_many_more_questions_would_show() -> None:
    """Resampled by question: of forty sets, nearly all hold the figure of a large one."""
    random = np.random.default_rng(7)
    truth = figures(drawn(random, 4000, 0.4))
    held = dict.fromkeys(("accuracy", "precision", "recall", "f1", "kappa", "auc", "brier", "ece"), 0)
    for _ in range(40):
        found = figures(drawn(random, 60, 0.4))
        for name in held:
            interval = found.intervals[name]
            held[name] += interval.low <= getattr(truth, name) <= interval.high
            assert interval.value == pytest.approx(getattr(found, name))
            assert interval.n == 60 or (name in ("precision", "recall", "f1") and 40 < interval.n < 60)
    assert min(held.values()) >= 34, held


def test_nothing_is_said_of_sampling_error_where_it_cannot_be() -> None:
    random = np.random.default_rng(7)
    few = figures(drawn(random, 9, 0.0))
    assert few.n == 36 and few.questions == 9 and not few.intervals
    right = [
        replace(item, p_relevant=float(bool(item.label)), reach=float(bool(item.label)))
        for item in drawn(random, 40, 0.0)
    ]
    found = figures(right)
    assert found.auc == found.kappa == 1.0 and found.brier == 0.0
    assert set(found.intervals) == {"accuracy", "precision", "recall", "f1"}
    assert all(item.method == "wilson" and item.low < 0.95 for item in found.intervals.values()), "nor is it certain"


def test_a_share_says_how_many_labels_it_is_counted_over_and_recall_counts_files_among_them() -> None:
    random = np.random.default_rng(7)
    made = drawn(random, 40, 0.4)
    found = figures(made)
    matrix = found.confusion
    assert found.counted_over("precision") == matrix.true_pass + matrix.false_pass
    assert found.counted_over("recall") == found.relevant_n == matrix.true_pass + matrix.false_drop
    assert found.counted_over("f1") == found.n - matrix.true_drop and found.counted_over("kappa") is None
    of_files = [
        replace(item, case_id=f"f{place}", question=f"File {place}?", label=None, label_source="file", files=(0,))
        for place, item in enumerate(made[:30])
    ]
    alone, together = figures(of_files), figures([*made, *of_files])
    assert set(alone.intervals) == {"recall"} and alone.counted_over("recall") == alone.intervals["recall"].n == 30
    assert together.counted_over("recall") == found.relevant_n + 30
    assert together.intervals["recall"].value == pytest.approx(together.recall)
    assert together.intervals["precision"] == found.intervals["precision"]


def test_every_bin_says_how_far_chance_goes() -> None:
    found = figures([replace(item, question=str(place)) for place, item in enumerate(HAND_MADE)])
    for item in found.bins:
        assert (item.interval is None) == (item.n == 0)
        if item.interval is not None:
            assert item.interval.low <= (item.relevant_share or 0.0) <= item.interval.high
            assert item.interval.high - item.interval.low > 0.5, "one passage says little"
    assert (found.unreadable_n, found.unlabelled_n, found.questions) == (1, 1, 5)


def test_kinds_of_p_are_kept_apart_and_the_commonest_comes_first() -> None:
    kinds = ("said", "token", "token", "score", "said", "token", "said")
    mixed = [replace(item, kind=kind) for item, kind in zip(HAND_MADE, kinds, strict=True)]  # type: ignore[arg-type]
    found = by_kind(mixed)
    assert {kind: len(own) for kind, own in found.items()} == {"said": 4, "token": 2, "score": 1}
    assert next(iter(found)) == "said"
    for kind, own in found.items():
        assert {item.kind for item in own if item.p_relevant is not None} == {kind}
    assert by_kind([]) == {} and list(by_kind(some((None, True)))) == ["builtin"]
