"""Quality of a grader's verdicts against labels: errors, ranking, calibration, agreement and noise.

Formulas are scikit-learn's where it has them; importing it would take longer than all else that the page does.
Unreadable verdicts are left out of every figure. A figure that cannot be had is None, with the reason in
``missing``: one class alone has no curve, and nothing has no share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from engine.evaluation.cases import Case
from engine.evaluation.grader_intervals import bin_of, intervals_of, kappa_interval, share_interval, shares_of
from engine.evaluation.judgements import settled
from engine.evaluation.matching import met_by
from engine.evaluation.statistics import Interval, sign_test, wilson
from engine.evaluation.values import Label
from engine.model.language import same_wording
from engine.model.values import PassageId, RunRecord
from engine.model.values.names import VerdictKind
from engine.replay.masks import BoolArray, FloatArray

LabelSource = Literal["thumb", "dataset", "assumed", "file"]
"""``thumb``: said so on a verdict card. ``dataset``: an expectation of the case is met, or the case is known to
be unanswerable. ``assumed``: the case has expectations and the passage meets none; data sets seldom name every right
passage, so this can be wrong. ``file``: its file is expected, which says that one of the passages is right, not which:
the pair has no label of its own."""
Missing = Literal["no_pairs", "one_class", "nothing_passes", "nothing_relevant", "files"]
FigureName = Literal[
    "accuracy", "precision", "recall", "f1", "kappa", "auc", "average_precision", "brier", "ece", "curve"
]
BINS = 10


@dataclass(frozen=True, slots=True)
class Pair:
    """One passage judged for one question."""

    case_id: str
    question: str
    passage_id: PassageId
    p_relevant: float | None
    """None where the grader's reply could not be read."""
    label: bool | None
    """Whether the passage helps to answer the question; None where no one knows."""
    label_source: LabelSource | None = None
    reach: float = -1.0
    """The greatest cut at which it passes, as :attr:`Verdict.reach`; below 0 where it could not be read."""
    files: tuple[int, ...] = ()
    """The expectations of the case that its file meets."""
    kind: VerdictKind = "builtin"
    """What its P(relevant) is."""
    by_cut: bool = False
    """Whether the screener of a cascade decided it: then P(relevant) is that of the screener."""

    def passes(self, cut: float) -> bool:
        """Return whether it passes, as :meth:`Verdict.passes` decides: inclusive, and never where unreadable."""
        return self.reach >= cut


def pairs(
    cases: Iterable[Case],
    records: Mapping[str, RunRecord],
    labels: Iterable[Label] = (),
    *,
    only_labelled: bool = False,
) -> tuple[Pair, ...]:
    """One pair for every passage that a case's run judged, by case and first judgement.

    ``records`` go by case id. A passage judged more than once counts with its first readable verdict; verdicts that a
    reader set in a branch are not the grader's. Thumbs win over the data set, of several judges what most of them say
    (:func:`judgements.settled`). ``only_labelled`` leaves out the pairs
    whose label is assumed or not known. Where a case names whole files, only thumbs say of a passage whether it is
    right. Unlabelled pairs are kept otherwise: two graders can be compared on them.
    """
    thumbs = settled(labels)
    found: list[Pair] = []
    for case in cases:
        record = records.get(case.id)
        if record is None:
            continue
        own = _pairs_of(case, record, thumbs)
        found.extend(item for item in own if not only_labelled or item.label_source in ("thumb", "dataset", "file"))
    return tuple(found)


def _pairs_of(case: Case, record: RunRecord, thumbs: Mapping[tuple[str, PassageId], bool]) -> Iterable[Pair]:
    passages = record.passages
    for passage_id, verdict in record.first_verdicts(by_hand=False).items():
        thumb = thumbs.get((case.question.strip(), passage_id))
        passage = passages.get(passage_id)
        met = met_by(case, passage) if passage is not None else ()
        files = tuple(place for place in met if case.expected[place].kind == "source")
        label, source = _label(case, thumb, exactly=len(files) < len(met), in_file=bool(files))
        yield Pair(
            case_id=case.id,
            question=case.question,
            passage_id=passage_id,
            p_relevant=None if verdict.relevant is None else verdict.p_relevant,
            label=label,
            label_source=source,
            reach=verdict.reach,
            files=files,
            kind=verdict.kind,
            by_cut=verdict.by_cut,
        )


def _label(case: Case, thumb: bool | None, *, exactly: bool, in_file: bool) -> tuple[bool | None, LabelSource | None]:
    if thumb is not None:
        return thumb, "thumb"
    if exactly:
        return True, "dataset"
    if case.answerable is False:
        return False, "dataset"
    if case.by_file:
        return None, "file" if in_file else None
    return (False, "assumed") if case.expected else (None, None)


@dataclass(frozen=True, slots=True)
class Confusion:
    """Verdicts at a cut against labels."""

    true_pass: int = 0
    false_pass: int = 0
    """Passed although labelled irrelevant."""
    false_drop: int = 0
    """Dropped although labelled relevant."""
    true_drop: int = 0

    @property
    def n(self) -> int:
        return self.true_pass + self.false_pass + self.false_drop + self.true_drop


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Precision and recall where everything that reaches ``cut`` passes."""

    cut: float
    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class Bin:
    """One bar of the reliability diagram; bins are closed above, the first one on both sides, as scikit-learn's are."""

    low: float
    high: float
    n: int
    mean_p: float | None
    """Mean P(relevant) in the bin; None where it is empty."""
    relevant_share: float | None
    """Share labelled relevant; where the grader is calibrated, it equals ``mean_p``."""
    interval: Interval | None = None
    """Of ``relevant_share``; Wilson's."""


@dataclass(frozen=True, slots=True)
class GraderFigures:
    """One grader against labels."""

    n: int
    """Labelled pairs with a readable verdict."""
    relevant_n: int
    assumed_n: int
    """Of ``n``, pairs whose label is assumed."""
    cut: float
    confusion: Confusion
    files_n: int = 0
    """Labels of whole files of which nobody has named a right passage: each is in the recall once, by its best one."""
    files_passed: int = 0
    accuracy: float | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    kappa: float | None = None
    """Cohen's, of verdict and label."""
    auc: float | None = None
    """Chance that a relevant passage has a higher P(relevant) than an irrelevant one."""
    average_precision: float | None = None
    brier: float | None = None
    ece: float | None = None
    """Expected calibration error: mean distance of the bins from the diagonal, weighted by their counts."""
    curve: tuple[CurvePoint, ...] = ()
    """By rising cut; the cuts are the values of P(relevant) that occur."""
    bins: tuple[Bin, ...] = ()
    missing: Mapping[FigureName, Missing] = field(default_factory=dict)
    questions: int = 0
    """Of the pairs that count."""
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """Sampling error of the figures, by name, over questions; of few questions none is said."""
    unreadable_n: int = 0
    """Labelled pairs whose verdict could not be read: they are in no figure."""
    unlabelled_n: int = 0
    """Pairs with a readable verdict and no label of their own: they are in no figure."""

    def counted_over(self, name: str) -> int | None:
        """The judgements that a share is counted over; None for the figures that all of them are in."""
        counts = self.confusion
        return {
            "precision": counts.true_pass + counts.false_pass,
            "recall": self.relevant_n + self.files_n,
            "f1": counts.n - counts.true_drop,
        }.get(name)

    @property
    def in_use(self) -> CurvePoint | None:
        """The point of the curve with what passes at ``cut``; None where nothing does, or there is no curve."""
        return next((point for point in self.curve if point.cut >= self.cut), None)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready values, without the curve."""
        plain = asdict(replace(self, curve=()))
        del plain["curve"]
        return plain


@dataclass(frozen=True, slots=True)
class Cut:
    """A cut of P(relevant), of two decimals, that reaches a wanted precision on these pairs."""

    cut: float
    precision: float
    recall: float
    passing_n: int
    """Labelled pairs that pass: the precision is based on them."""
    intervals: Mapping[str, Interval]
    """Of precision and recall, as :attr:`GraderFigures.intervals`."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One pair judged by two graders that do not agree."""

    first: Pair
    second: Pair

    @property
    def distance(self) -> float:
        """Between the two values of P(relevant)."""
        return abs((self.first.p_relevant or 0.0) - (self.second.p_relevant or 0.0))


@dataclass(frozen=True, slots=True)
class GraderComparison:
    """Two graders on the pairs that both have judged readably."""

    n: int
    agreement: float | None
    agreement_interval: Interval | None
    kappa: float | None
    """Cohen's, between the two; None without pairs or where both say the same of all of them."""
    kappa_interval: Interval | None
    labelled_n: int
    first_right: int
    second_right: int
    """Of the labelled pairs."""
    p: float | None
    """Exact sign test over questions, whose verdicts are no chance apart: whether one is right of more passages of a
    question more often than the other; None without labels."""
    disagreements: tuple[Disagreement, ...]
    """Furthest apart first."""


def by_kind(graded: Iterable[Pair]) -> dict[VerdictKind, tuple[Pair, ...]]:
    """The grader's pairs by the kind of their verdicts, the commonest first: P of one kind says nothing of another's.

    What could not be read has no P, and goes with the commonest. What a screener decided is in none of them.
    """
    found: dict[VerdictKind, list[Pair]] = {}
    unread: list[Pair] = []
    for pair in (item for item in graded if not item.by_cut):
        (unread if pair.p_relevant is None else found.setdefault(pair.kind, [])).append(pair)
    commonest = sorted(found, key=lambda kind: -len(found[kind]))
    if unread:
        found.setdefault(commonest[0] if commonest else unread[0].kind, []).extend(unread)
    return {kind: tuple(found[kind]) for kind in commonest or found}


def figures(graded: Sequence[Pair], cut: float = 0.5, bins: int = BINS) -> GraderFigures:
    """The figures of ``graded`` where a verdict passes from P(relevant) = ``cut`` on; they are of one kind.

    Where only whole files are labelled relevant, the recall is all that can be said.
    """
    usable = _usable(graded)
    p, truth = _arrays(usable)
    passed = np.array([pair.passes(cut) for pair in usable], dtype=bool)
    confusion = Confusion(
        int(np.sum(passed & truth)),
        int(np.sum(passed & ~truth)),
        int(np.sum(~passed & truth)),
        int(np.sum(~passed & ~truth)),
    )
    calibration = _bins(p, truth, bins)
    found: dict[FigureName, float | Missing] = dict.fromkeys(get_args(FigureName), "no_pairs")
    best = _best_of_files(graded)
    files = [(question, reach >= cut) for question, reach in best]
    files_passed = sum(passes for _, passes in files)
    if usable:
        found = {**_errors(confusion, passed, truth), **_ranking(p, truth), "ece": _distance_from_diagonal(calibration)}
    if best and not truth.any():
        found, calibration = dict.fromkeys(get_args(FigureName), "files"), ()
    if best:
        found["recall"] = (confusion.true_pass + files_passed) / (int(truth.sum()) + len(best))
    values = {str(name): value for name, value in found.items() if not isinstance(value, str)}
    asked = [same_wording(pair.question) for pair in usable]
    sampled = {**shares_of(asked, passed, truth, files), **intervals_of(asked, p, truth, passed, bins)}
    return GraderFigures(
        n=len(usable),
        relevant_n=int(truth.sum()),
        assumed_n=sum(pair.label_source == "assumed" for pair in usable),
        cut=cut,
        confusion=confusion,
        files_n=len(best),
        files_passed=files_passed,
        curve=_curve(_reaches(usable), truth) if truth.any() and not truth.all() else (),
        bins=calibration,
        missing={name: value for name, value in found.items() if isinstance(value, str)},
        questions=len(set(asked)),
        intervals={name: error for name, error in sampled.items() if name in values},
        unreadable_n=sum(pair.label is not None and pair.p_relevant is None for pair in graded),
        unlabelled_n=sum(pair.label is None and pair.p_relevant is not None for pair in graded),
        **values,
    )


def _best_of_files(graded: Sequence[Pair]) -> list[tuple[str, float]]:
    """The question of each label of a file, and how far its best passage reaches, where none is labelled as right."""
    best: dict[tuple[str, int], tuple[str, float]] = {}
    named = {(pair.case_id, place) for pair in graded if pair.label for place in pair.files}
    for pair in graded:
        for place in pair.files if pair.label_source == "file" and pair.p_relevant is not None else ():
            key = pair.case_id, place
            reach = max(best[key][1], pair.reach) if key in best else pair.reach
            best[key] = same_wording(pair.question), reach
    return [found for key, found in best.items() if key not in named]


def cut_for_precision(graded: Sequence[Pair], wanted: float) -> Cut | None:
    """The cut with the highest recall among those whose precision reaches ``wanted``; the lowest such cut.

    Cuts have two decimals, as the slider has: what is said of one holds for the setting. None where no cut does, or
    nothing is labelled relevant.
    """
    usable = _usable(graded)
    _, truth = _arrays(usable)
    if not truth.any():
        return None
    # Rounded down, each still passes at the cut that it stands for, and 0.29 stays 0.29.
    reach = np.floor(np.round(100 * _reaches(usable), 7)) / 100
    reached = [point for point in _curve(reach, truth) if point.precision >= wanted - 1e-12]
    if not reached:
        return None
    best = max(reached, key=lambda point: (point.recall, -point.cut))
    passes = reach >= best.cut
    sampled = shares_of([same_wording(pair.question) for pair in usable], passes, truth)
    return Cut(best.cut, best.precision, best.recall, int(passes.sum()), sampled)


def compare(first: Sequence[Pair], second: Sequence[Pair], cut: float = 0.5) -> GraderComparison:
    """Two graders on the same pairs of case and passage, each verdict passing from ``cut`` on."""
    ours = {(pair.case_id, pair.passage_id): pair for pair in first if pair.p_relevant is not None}
    theirs = {(pair.case_id, pair.passage_id): pair for pair in second if pair.p_relevant is not None}
    both = [(pair, theirs[key]) for key, pair in ours.items() if key in theirs]
    said = [(mine.passes(cut), other.passes(cut)) for mine, other in both]
    ours_pass, theirs_pass = np.array(said, dtype=bool).reshape(-1, 2).T
    asked = [same_wording(mine.question) for mine, _ in both]
    kappa = _kappa(ours_pass, theirs_pass) if len({verdict for row in said for verdict in row}) > 1 else None
    truths = [mine.label if mine.label is not None else other.label for mine, other in both]
    judged = [(row[0] == truth, row[1] == truth) for row, truth in zip(said, truths, strict=True) if truth is not None]
    ahead: Counter[str] = Counter()
    for question, row, truth in zip(asked, said, truths, strict=True):
        ahead[question] += 0 if truth is None else (row[0] == truth) - (row[1] == truth)
    only = (sum(net > 0 for net in ahead.values()), sum(net < 0 for net in ahead.values()))
    differing = [Disagreement(mine, other) for (mine, other), row in zip(both, said, strict=True) if row[0] != row[1]]
    return GraderComparison(
        n=len(both),
        agreement=sum(a == b for a, b in said) / len(said) if said else None,
        agreement_interval=share_interval(asked, ours_pass == theirs_pass, np.ones(len(both))),
        kappa=kappa,
        kappa_interval=kappa_interval(asked, ours_pass, theirs_pass),
        labelled_n=len(judged),
        first_right=sum(a for a, _ in judged),
        second_right=sum(b for _, b in judged),
        p=sign_test(*only) if judged else None,
        disagreements=tuple(sorted(differing, key=lambda item: (-item.distance, item.first.case_id))),
    )


def _usable(graded: Sequence[Pair]) -> list[Pair]:
    """Labelled pairs with a readable verdict."""
    return [pair for pair in graded if pair.label is not None and pair.p_relevant is not None]


def _arrays(usable: Sequence[Pair]) -> tuple[FloatArray, BoolArray]:
    # Rounded as verdicts are when they are compared with a cut: 1 - 0.7 must not count as more than 0.3.
    p = np.array([round(pair.p_relevant or 0.0, 9) for pair in usable], dtype=np.float64)
    return p, np.array([bool(pair.label) for pair in usable], dtype=bool)


def _reaches(usable: Sequence[Pair]) -> FloatArray:
    """The greatest cut at which each pair passes."""
    return np.array([pair.reach for pair in usable], dtype=np.float64)


def _errors(confusion: Confusion, passed: BoolArray, truth: BoolArray) -> dict[FigureName, float | Missing]:
    right = confusion.true_pass
    passing, relevant = right + confusion.false_pass, right + confusion.false_drop
    # Chance agreement is total where verdicts and labels are all equal, and kappa would be 0 / 0.
    one_class = len(set(passed.tolist()) | set(truth.tolist())) < 2
    return {
        "accuracy": (right + confusion.true_drop) / confusion.n,
        "precision": right / passing if passing else "nothing_passes",
        "recall": right / relevant if relevant else "nothing_relevant",
        "f1": 2 * right / (passing + relevant) if relevant else "nothing_relevant",
        "kappa": "one_class" if one_class else _kappa(truth, passed),
    }


def _ranking(p: FloatArray, truth: BoolArray) -> dict[FigureName, float | Missing]:
    brier = float(np.mean((p - truth) ** 2))
    if truth.all() or not truth.any():
        return {"brier": brier, "auc": "one_class", "average_precision": "one_class", "curve": "one_class"}
    _, right, wrong = _passing(p, truth)
    recall, before = right / right[-1], np.concatenate(([0], right[:-1]))
    return {
        "brier": brier,
        # Under the ROC curve: of two that are worth the same, one is half above the other.
        "auc": float(np.sum(np.diff(wrong, prepend=0) * (right + before) / 2) / (right[-1] * wrong[-1])),
        "average_precision": float(np.sum(np.diff(recall, prepend=0.0) * right / (right + wrong))),
    }


def _distance_from_diagonal(calibration: Sequence[Bin]) -> float:
    distances = [
        item.n * abs(item.mean_p - item.relevant_share)
        for item in calibration
        if item.mean_p is not None and item.relevant_share is not None
    ]
    return sum(distances) / sum(item.n for item in calibration)


def _passing(p: FloatArray, truth: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Every value as a cut, highest first, and how many relevant and how many irrelevant ones pass there."""
    cuts, place = np.unique(-p, return_inverse=True)
    right = np.cumsum(np.bincount(place[truth], minlength=len(cuts)), dtype=np.float64)
    wrong = np.cumsum(np.bincount(place[~truth], minlength=len(cuts)), dtype=np.float64)
    return -cuts, right, wrong


def _curve(p: FloatArray, truth: BoolArray) -> tuple[CurvePoint, ...]:
    """Compute the curve over all cuts, the lowest cut first."""
    cuts, right, wrong = _passing(p, truth)
    points = zip(cuts.tolist(), (right / (right + wrong)).tolist(), (right / right[-1]).tolist(), strict=True)
    return tuple(CurvePoint(*point) for point in points)[::-1]


def _kappa(first: BoolArray, second: BoolArray) -> float:
    """Cohen's: agreement beyond what chance would give; they must not agree on one verdict for all."""
    chance = first.mean() * second.mean() + (1 - first.mean()) * (1 - second.mean())
    return float(((first == second).mean() - chance) / (1 - chance))


def _bins(p: FloatArray, truth: BoolArray, count: int) -> tuple[Bin, ...]:
    edges, place = np.linspace(0.0, 1.0, count + 1), bin_of(p, count)
    made = []
    for index in range(count):
        inside = place == index
        n = int(inside.sum())
        mean_p = float(p[inside].mean()) if n else None
        share = float(truth[inside].mean()) if n else None
        error = wilson(int(truth[inside].sum()), n) if n else None
        made.append(Bin(float(edges[index]), float(edges[index + 1]), n, mean_p, share, error))
    return tuple(made)
