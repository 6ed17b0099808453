"""The judging desk of an engine: what is judged next, what judges said, how far they agree, and files of it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import InvalidConfig, UnknownBatch
from engine.evaluation.annotation.agreement import Agreement, agreements
from engine.evaluation.annotation.formats import SHOWN, Format, read, written
from engine.evaluation.annotation.pairs import (
    Coverage,
    Item,
    Judgement,
    Kind,
    Said,
    coverage,
    items_of,
    of_answers,
    of_labels,
    share_of_yes,
)
from engine.evaluation.annotation.pairs import passage_item_id as _passage_item_id
from engine.evaluation.annotation.queue import Next, next_item
from engine.evaluation.annotation.store import Scores
from engine.evaluation.cases import Case
from engine.evaluation.judgements import pair_id
from engine.evaluation.statistics import Interval
from engine.evaluation.values import AnswerJudgement, Batch, Drawing, Label
from engine.messages import N_
from engine.model.values import RunRecord
from engine.people import current_user
from engine.people.authorization import authorized, needs

if TYPE_CHECKING:
    from engine.evaluation.grader_bench import GraderFigures
    from engine.evaluation.measures import Measure
    from engine.model.values.names import VerdictKind
    from engine.running.evaluations import Evaluations

LONGEST_GUIDELINES = 4000
LONGEST_NAME = 80
LONGEST_EXPLANATION = 2000
_HISTORY = 30
"""Finished gatherings of a set whose scores are noted when its history is looked at, newest first."""
_NEARLY_ALL = 0.9
"""Share of a gathering's questions whose runs must not have failed for its figures to be scores of the set."""
_FIGURES: tuple[Measure, ...] = (
    *("answered_right", "wrong_given", "quality"),
    *("refused_answerable", "context_hit", "calls"),
)
_KEPT = 4
_AFTER = 10
"""Judgements after which it is worked out again how much hangs on each pair."""
_LARGE = 1_000_000


@dataclass(frozen=True, slots=True)
class GraderReport:
    """A gathering's grader against labels: people's and the data set's, assumed ones included."""

    batch_id: str
    grader: str
    figures: Mapping[VerdictKind, GraderFigures]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready values."""
        figures = {kind: found.to_dict() for kind, found in self.figures.items()}
        return {"batch_id": self.batch_id, "grader": self.grader, "figures": figures}


@dataclass(frozen=True, slots=True)
class Taken:
    """Result of importing a file of judgements."""

    passages: int
    answers: int
    left_out: tuple[str, ...] = ()
    """The first lines that could not be used, with the reason."""
    left_out_n: int = 0


@dataclass(frozen=True, slots=True)
class Desk:
    """View of a judge on one collection of pairs at one moment."""

    next: Next | None
    coverage: Coverage
    agreements: tuple[Agreement, ...]
    yes: Interval | None = None
    """Share of the pairs drawn at random that are judged with yes; None without any."""


@dataclass(slots=True)
class _Influences:
    """Influence of each pair, cached for the newest collections: reading a thousand runs takes seconds."""

    guard: threading.Lock = field(default_factory=threading.Lock)
    kept: OrderedDict[tuple[str, int, Kind], Mapping[str, float]] = field(default_factory=OrderedDict)

    def of(self, key: tuple[str, int, Kind], make: Callable[[], Mapping[str, float]]) -> Mapping[str, float]:
        with self.guard:
            if key not in self.kept:
                self.kept[key] = make()
                while len(self.kept) > _KEPT:
                    self.kept.popitem(last=False)
            return self.kept[key]


_SaidT = TypeVar("_SaidT", Label, AnswerJudgement)


def _by(judge: str, item: _SaidT) -> _SaidT:
    """A judgement of a file as it is kept: by ``judge`` where it does not say by whom."""
    explanation = item.explanation[:LONGEST_EXPLANATION]
    return replace(item, judge=(item.judge or judge)[:LONGEST_NAME], explanation=explanation)


def _said_of(item: Label | AnswerJudgement) -> tuple[str, str]:
    """Pair and judge: each says one thing of each."""
    if isinstance(item, Label):
        return _passage_item_id(item.question, item.passage_id), item.judge
    return pair_id(item.question, item.answer), item.judge


def _of_the_whole(cases: frozenset[str], batches: Sequence[Batch]) -> list[Batch]:
    """Those of some batches, newest first, that have run nearly all questions which the set has now and had before.

    Shipped runs are no part of a history.
    """
    whole: list[Batch] = []
    before: set[str] = set()
    for batch in reversed([item for item in batches if not item.shipped]):
        nearly_all = batch.finished and len(batch.done) >= _NEARLY_ALL * batch.total
        if nearly_all and not (before & cases).difference(batch.case_ids):
            whole.append(batch)
        before.update(batch.case_ids)
    return whole[::-1]


@authorized
class Judging:
    """Safe to call from any thread; every method blocks until it is done."""

    def __init__(self, evaluations: Evaluations) -> None:
        self._evaluations = evaluations
        self._influences = _Influences()

    # -- judging --------------------------------------------------------------------------------------------------

    @needs("viewer")
    def desk(self, batch_id: str, kind: Kind, judge: str, put_off: Sequence[str] = ()) -> Desk:
        """The next pair of a gathering for a judge, how much is judged, and how far judges agree.

        Blind: nothing of what a grader, a rank or a score said goes with the pair. Raises ``UnknownBatch``.
        """
        results = self._evaluations.batches.results(batch_id)
        items = items_of(results, kind)
        said = self._said(results, kind)
        # As judgements come in, settings stand otherwise to each other; not after each one of them.
        state = (batch_id, len(results) * _LARGE + len(said) // _AFTER, kind)
        influence = self._influences.of(state, lambda: self._influence(batch_id, results, kind))
        found = next_item(items, said, judge, influence=influence, seed=f"{batch_id}/{kind}", put_off=put_off)
        graders = self._grader(batch_id, results, kind)
        return Desk(found, coverage(items, said, judge), agreements(said, graders), share_of_yes(items, said))

    @needs("editor")
    def say(
        self,
        item: Item,
        said: Said,
        judge: str,
        *,
        drawn: Drawing = "",
        explanation: str = "",
        also: Sequence[Item] = (),
    ) -> None:
        """Keep what a judge says of a pair, in the place of what they said of it before.

        ``also`` are pairs of the same judge that count as drawn at random from now on (``Next.also_random``). Raises
        ``InvalidConfig`` for a name or an explanation that cannot be kept.
        """
        name = self.named(judge)
        if len(explanation) > LONGEST_EXPLANATION:
            raise InvalidConfig.too_long(field="explanation", most=LONGEST_EXPLANATION)
        store = self._evaluations.store
        if item.passage_id is not None:
            relevant = said == "yes"
            store.set_label(item.question, item.passage_id, relevant, explanation=explanation, drawn=drawn, judge=name)
        else:
            store.judge_answer(AnswerJudgement(item.question, item.text, said, explanation, judge=name, drawn=drawn))
        for other in also:
            self._count_as_drawn(other, name)

    def _count_as_drawn(self, item: Item, judge: str) -> None:
        store = self._evaluations.store
        if item.passage_id is not None:
            for label in store.labels(item.question):
                if label.passage_id == item.passage_id and label.judge == judge:
                    store.set_label(
                        item.question,
                        item.passage_id,
                        label.relevant,
                        explanation=label.explanation,
                        drawn="random",
                        judge=judge,
                    )
            return
        for said in store.answer_judgements((item.question, item.text)):
            if said.by == "person" and said.judge == judge:
                store.judge_answer(replace(said, drawn="random"))

    @needs("editor")
    def take_back(self, item: Item, judge: str) -> None:
        """Remove what a judge said of a pair; who signed in takes back only what they said themselves."""
        judge = self.named(judge)
        store = self._evaluations.store
        if item.passage_id is not None:
            store.set_label(item.question, item.passage_id, None, judge=judge)
        else:
            store.remove_answer_judgement(AnswerJudgement(item.question, item.text, "no", judge=judge))

    def _said(self, results: Sequence[tuple[Case, RunRecord]], kind: Kind) -> tuple[Judgement, ...]:
        store = self._evaluations.store
        if kind == "passage":
            return of_labels(store.labels(*(case.question for case, _ in results)))
        return of_answers(store.answer_judgements(*((case.question, record.answer) for case, record in results)))

    def _influence(self, batch_id: str, results: Sequence[tuple[Case, RunRecord]], kind: Kind) -> Mapping[str, float]:
        # Imported here: it brings along all that computes figures.
        from engine.evaluation.annotation.influence import influences

        evidence = self._evaluations.batches.evidence(batch_id)
        records = {case.id: record for case, record in results}
        return influences(evidence, records, self._evaluations.store.batch(batch_id).config, kind)

    def _grader(
        self, batch_id: str, results: Sequence[tuple[Case, RunRecord]], kind: Kind
    ) -> dict[str, dict[str, str]]:
        """Return graders' verdicts on the same pairs: of the passages, or of models that judged answers."""
        if kind == "passage":
            config = self._evaluations.store.batch(batch_id).config
            verdicts = {
                _passage_item_id(case.question, passage_id): "yes" if verdict.passes(config.min_confidence) else "no"
                for case, record in results
                for passage_id, verdict in record.first_verdicts(by_hand=False).items()
                # What a screener decided is not the grader's.
                if verdict.relevant is not None and not verdict.by_cut
            }
            return {config.models.grader.model: verdicts}
        found: dict[str, dict[str, str]] = {}
        pairs = ((case.question, record.answer) for case, record in results)
        for said in self._evaluations.store.answer_judgements(*pairs):
            if said.by == "model" and said.right != "unreadable":
                found.setdefault(said.judge, {})[pair_id(said.question, said.answer)] = said.right
        return found

    # -- judges and guidelines ------------------------------------------------------------------------------------

    @needs("editor")
    def named(self, judge: str) -> str:
        """The name of a judge: the signed-in user, else the one they gave; it is recorded.

        Raises ``InvalidConfig`` for a name that cannot be kept.
        """
        signed_in = current_user().author
        name = signed_in or " ".join(judge.split())
        if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
            raise InvalidConfig.judge_name(longest=LONGEST_NAME)
        if name not in self._evaluations.desk.judges():
            self._evaluations.desk.add_judge(name)
        return name

    @needs("viewer")
    def judges(self) -> tuple[str, ...]:
        """Names of those who have judged, in alphabetical order."""
        return self._evaluations.desk.judges()

    @needs("viewer")
    def guidelines(self, set_name: str) -> str:
        """Return the guidelines for judges of a set; raises ``UnknownQuerySet``."""
        self._evaluations.store.query_set(set_name)
        return self._evaluations.desk.guidelines(set_name)

    @needs("editor", log=N_("Guidelines for judges changed"), on=("set_name",))
    def set_guidelines(self, set_name: str, text: str) -> None:
        """Keep what judges of a set should go by.

        Raises ``UnknownQuerySet``, and ``InvalidConfig`` where it is too long.
        """
        self._evaluations.store.query_set(set_name)
        if len(text) > LONGEST_GUIDELINES:
            raise InvalidConfig.too_long(field="guidelines", most=LONGEST_GUIDELINES)
        self._evaluations.desk.set_guidelines(set_name, text.strip())

    # -- files ----------------------------------------------------------------------------------------------------

    @needs("viewer")
    def exported(self, set_name: str, form: Format) -> str:
        """The judgements of a set's questions as a file: of passages, and in JSON lines of the answers too.

        Raises ``UnknownQuerySet``.
        """
        store = self._evaluations.store
        cases = store.query_set(set_name).cases
        labels = store.labels(*(case.question for case in cases))
        answers: tuple[AnswerJudgement, ...] = ()
        if form == "jsonl":
            results = [
                pair for batch in store.batches(set_name) for pair in self._evaluations.batches.results(batch.id)
            ]
            answers = store.answer_judgements(*{(case.question, record.answer) for case, record in results})
        return written(form, cases, labels, answers)

    @needs("editor", log=N_("Judgements imported"), on=("set_name",))
    def imported(
        self,
        set_name: str,
        text: str,
        name: str = "",
        form: Format | None = None,
        *,
        judge: str = "",
        relevant_from: int = 1,
    ) -> Taken:
        """Keep the judgements of a file for a set's questions, all at once; those without a judge are ``judge``'s.

        What another person, signed in, said under the same name stays. Raises ``UnknownQuerySet``, and
        ``EvaluationError`` where nothing of it can be used.
        """
        store = self._evaluations.store
        found = read(text, name or "file", form, store.query_set(set_name).cases, relevant_from=relevant_from)
        judge = " ".join("".join(filter(str.isprintable, judge)).split())
        labels = [_by(judge, label) for label in found.labels]
        answers = [_by(judge, answer) for answer in found.answers]
        others = self._of_others(labels, answers)
        kept_labels = [item for item in labels if _said_of(item) not in others]
        kept_answers = [item for item in answers if _said_of(item) not in others]
        store.take_judgements(set_name, kept_labels, kept_answers)
        kept: list[Label | AnswerJudgement] = [*kept_labels, *kept_answers]
        for new in {item.judge for item in kept} - {"", *self._evaluations.desk.judges()}:
            self._evaluations.desk.add_judge(new)
        offered: list[Label | AnswerJudgement] = [*labels, *answers]
        stays = [
            f"{item.judge} has judged this already: {item.question[:60]!r}"
            for item in offered
            if _said_of(item) in others
        ]
        left_out = (*found.left_out, *stays[:SHOWN])[:SHOWN]
        return Taken(len(kept_labels), len(kept_answers), left_out, found.left_out_n + len(stays))

    def _of_others(self, labels: Sequence[Label], answers: Sequence[AnswerJudgement]) -> frozenset[tuple[str, str]]:
        """Return judgements that another signed-in person gave under the same name."""
        if not current_user().author:
            return frozenset()
        store = self._evaluations.store
        said: list[Label | AnswerJudgement] = [*store.labels(*{item.question for item in labels})]
        judged = store.answer_judgements(*{(item.question, item.answer) for item in answers})
        said += [item for item in judged if item.by == "person"]
        return frozenset(_said_of(item) for item in said if item.author not in ("", current_user().author))

    # -- history --------------------------------------------------------------------------------------------------

    @needs("viewer")
    def history(self, set_name: str) -> tuple[Scores, ...]:
        """Return the scores of a set's finished collections, oldest first, as recorded when first viewed.

        Gatherings of a part of the questions are left out: of missing answers, or where more than one in ten failed and
        may be tried again. Raises ``UnknownQuerySet``.
        """
        store, desk = self._evaluations.store, self._evaluations.desk
        cases = frozenset(case.id for case in store.query_set(set_name).cases)
        noted = {item.batch_id for item in desk.scores(set_name)}
        # A set of this name may have been another one once, of a collection that who acts may not read.
        readable = _of_the_whole(cases, store.batches(set_name))
        for batch in readable[:_HISTORY]:
            if batch.id not in noted:
                desk.keep_scores(self._scored(batch))
        known = {batch.id for batch in readable}
        return tuple(item for item in desk.scores(set_name) if item.batch_id in known)

    @needs("viewer")
    def grader(self, set_name: str) -> GraderReport | None:
        """How good the grader of a set's newest gathering is against labels, each kind of P(relevant) by itself.

        None before the first run. Raises ``UnknownQuerySet``.
        """
        from engine.evaluation.grader_bench import by_kind, figures, pairs

        store = self._evaluations.store
        store.query_set(set_name)
        for batch in store.batches(set_name):
            results = self._evaluations.batches.results(batch.id)
            if not results:
                continue
            labels = store.labels(*(case.question for case, _ in results))
            graded = pairs([case for case, _ in results], {case.id: record for case, record in results}, labels)
            cut, name = batch.config.min_confidence, batch.config.models.grader.name
            return GraderReport(batch.id, name, {kind: figures(own, cut) for kind, own in by_kind(graded).items()})
        return None

    @needs("editor", log=N_("Note on the scores of a gathering"), on=("batch_id",))
    def note_history(self, batch_id: str, note: str) -> None:
        """Write a note on the scores of a gathering.

        Raises ``UnknownBatch``, and ``InvalidConfig`` where it is too long.
        """
        batch = self._evaluations.store.batch(batch_id)
        if len(note) > LONGEST_EXPLANATION:
            raise InvalidConfig.too_long(field="note", most=LONGEST_EXPLANATION)
        self.history(batch.set_name)
        if not self._evaluations.desk.note_scores(batch_id, note.strip()):
            raise UnknownBatch(batch=batch_id)

    def _scored(self, batch: Batch) -> Scores:
        from engine.evaluation.aggregate import evaluate

        evaluation = evaluate(self._evaluations.batches.evidence(batch.id), [batch.config])
        figures: dict[str, tuple[float, int]] = {}
        for measure in _FIGURES:
            found = evaluation.figures(measure)
            if found.n[0]:
                figures[str(measure)] = (round(float(found.worse[0]), 6), int(found.n[0]))
        return Scores(batch.id, batch.set_name, batch.created_at, figures)
