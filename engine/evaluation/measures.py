"""The measures of an evaluation: each is one row here, and is computed in ``aggregate.py``.

Each is over the questions that it is about. A question is unknown where its path is, where its run failed or fails
under the setting, and where an answer would have to be read that no run has under the setting. One that says that the
sources do not answer the question counts as refused in the first five. Where a label names a whole file, it is not
known which of its passages are right: such questions are in none of :data:`OF_PASSAGES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from engine.messages import N_, NC_

Measure: TypeAlias = str
"""The name of a row of :data:`MEASURES`."""


@dataclass(frozen=True, slots=True)
class Declared:
    """All that is to be known of a measure, except how it is computed."""

    name: str
    """The message that pages call it by."""
    help: str
    lower_is_better: bool = False
    kind: Literal["share", "mean", "cost"] = "share"
    """``share``: a mean over questions of values from 0 to 1. ``mean``: in [0, 1] too, but weighed otherwise, as by
    sentences. ``cost``: nothing limits it from above."""
    digits: int = 2
    """Behind the point; times are written as durations."""
    of_passages: bool = False
    """Known only where labels name passages: of a file that is labelled, it is not known which passage is right."""
    card: str = ""
    """Its name as the title of a card; empty where no card shows it."""
    command: str | None = ""
    """Its name on the command line where that is another; None where the command line reads it off the runs, or not."""
    judged: bool = False
    """Whether the judge of answers has to be asked for it."""
    ranked: bool = False
    """Whether it counts the first K places of a ranking."""


MEASURES: Mapping[Measure, Declared] = {
    # By what the question has. Gold answers: the answer contains one (:func:`answers.match_of`). Else what people
    # said of exactly this answer (:func:`judgements.judged_answers`). Else expectations: as ``quality``.
    # Unanswerable: refused. An answer that is not supported (:mod:`engine.builtin.answer_support`) is not right, no
    # matter what it contains, unless people said that this very answer is. Without any of these the question does not
    # tell. What models say never counts.
    "answered_right": Declared(
        N_("answered right"),
        N_(
            "By the answer, where the run has it: it contains a gold answer; without gold answers, what people "
            "judged of exactly this answer; else an expected passage was in the context. Unanswerable: refused. An "
            "answer that says that it cannot tell counts as refused. What a model judged never counts."
        ),
        card=N_("Questions answered right"),
    ),
    "wrong_given": Declared(
        N_("wrong among answers given"),
        N_("Of the answers given, the share that are not right by the same rule."),
        lower_is_better=True,
        card=N_("Wrong among answers given"),
    ),
    # By the checks of the run's verifier (:mod:`engine.builtin.answer_note`); an answer or a sentence that was not
    # checked may be either.
    "unsupported_given": Declared(
        N_("answers with an unsupported sentence"),
        N_("Of the answers given, the share in which the verifier found a sentence that what it cites does not say."),
        lower_is_better=True,
    ),
    "supported_sentences": Declared(
        N_("sentences supported"),
        N_("Of the sentences of all answers given that were checked, the share that what they cite says."),
        kind="mean",
    ),
    # Against the gold answers, as the next two; a refused question counts 0.
    "exact_match": Declared(
        N_("exact match with a gold answer"),
        N_("The answer is a gold answer, word for word; case and punctuation aside. Refused: 0."),
    ),
    "f1": Declared(
        N_("F1 with a gold answer"),
        N_("Words that the answer and the nearest gold answer share, Chinese by characters. Refused: 0."),
    ),
    "containment": Declared(
        N_("gold answer contained"), N_("The words of a gold answer stand side by side in the answer. Refused: 0.")
    ),
    # Of all pairs of a sentence and a passage that it cites, the share whose passage bears the sentence out, by words
    # and figures. Pairs in two languages are left out (:func:`answers.cited_of`).
    "citation_precision": Declared(
        N_("citation precision"),
        N_(
            "Of all sentences and passages that they cite, how many passages have the words and figures of the "
            "sentence; other languages are left out."
        ),
        kind="mean",
    ),
    "citation_recall": Declared(
        N_("citation recall"),
        N_("Of all sentences that say something, how many are borne out by a passage that they cite."),
        kind="mean",
    ),
    # Both of the answers that the judge of answers, a chat model, has judged readably.
    "claim_recall": Declared(
        N_("claim recall (judge)"),
        N_(
            "Of the claims of the gold answer, the share that the answer makes, as the judge of answers says. "
            "Answers that it has judged."
        ),
        judged=True,
    ),
    "faithfulness": Declared(
        N_("faithfulness (judge)"),
        N_(
            "Of the claims of the answer, the share that the passages given bear out, as the judge of answers says. "
            "Those that it has judged."
        ),
        judged=True,
    ),
    # Answerable: answered and an expected passage in the generator's context (any one of them; without expectations:
    # answered); unanswerable: refused; not known which: answered. It does not read the answer.
    "quality": Declared(
        N_("found and answered"),
        N_(
            "Answerable: answered, with an expected passage in the context. Unanswerable: refused. The answer is not"
            " read."
        ),
        card=N_("Found and answered"),
    ),
    # Any, or every, expectation met by what the generator is given (its token budget aside).
    "context_hit": Declared(
        N_("right passage in context"),
        N_("Share of questions whose generator is given at least one expected passage."),
        card=N_("Right passage in context"),
    ),
    "context_hit_all": Declared(
        N_("all right passages in context"), N_("Share of questions whose generator is given every expected passage.")
    ),
    # Of the passages that the last round kept, at the evaluation's cut-off, as the next two.
    "recall": Declared(
        N_("recall of the kept passages"),
        N_("Expected passages among those that the last round kept, up to top-k."),
        ranked=True,
    ),
    "rr": Declared(
        N_("reciprocal rank (MRR)"), N_("1 / rank of the first expected passage kept."), command="mrr", ranked=True
    ),
    "ndcg": Declared(
        N_("nDCG of the kept passages"), N_("How high the expected passages stand among the kept ones."), ranked=True
    ),
    # 0 where nothing was kept.
    "pass_rate": Declared(
        N_("pass rate of the last round"), N_("Passed over kept in the last round."), card=N_("Pass rate, last round")
    ),
    "rewrites": Declared(
        N_("rewrites"),
        N_("Mean rewrites a question."),
        lower_is_better=True,
        kind="cost",
        card=N_("Rewrites a question"),
    ),
    # As if uncached.
    "calls": Declared(
        N_("calls of chat models"),
        N_("Mean calls of chat models a question, as if nothing were cached."),
        lower_is_better=True,
        kind="cost",
        digits=1,
        card=N_("Model calls a question"),
        command=None,
    ),
    # Over all rounds of the path: a verdict that is reused was screened once.
    "left_to_grader": Declared(
        N_("left to the grader"),
        N_("Of the kept passages that the screener of a cascade judged, the share that its cuts left to the grader."),
        lower_is_better=True,
        kind="mean",
        command=None,
    ),
    "built_in_calls": Declared(
        N_("built-in model steps"),
        N_("Mean steps of built-in models a question."),
        lower_is_better=True,
        kind="cost",
        digits=1,
        command=None,
    ),
    "steps": Declared(
        N_("model steps"),
        N_("Gradings, rewrites and generations a question, of chat and built-in models, without checks of the answer."),
        lower_is_better=True,
        kind="cost",
        digits=1,
        card=N_("Model steps a question"),
        command=None,
    ),
    # By the run's own measured times, where it measured every step of the path.
    "seconds": Declared(
        NC_("tuning", "time"),
        N_("By the times that each run measured itself: the card has the median, all else the mean."),
        lower_is_better=True,
        kind="cost",
        card=N_("Time, median"),
        command=None,
    ),
    "false_rewrites": Declared(
        N_("rewrites wasted"),
        N_(
            "Share of rewrites made although the round had kept an expected passage. Questions whose labels name "
            "passages."
        ),
        lower_is_better=True,
        kind="mean",
        of_passages=True,
        card=N_("Rewrites wasted"),
    ),
    # Share of the questions answered because the gate was met, in a round that kept no expected one.
    "missed_rewrites": Declared(
        N_("rewrites missed"),
        N_(
            "Share of questions that passed the gate in a round that had kept no expected passage. Questions whose "
            "labels name passages."
        ),
        lower_is_better=True,
        of_passages=True,
    ),
    # Of the kept, judged passages over all rounds of the path, against the expectations: what passed and is expected,
    # over what passed, and over what is expected. Passages that no one labelled count as not expected. Of questions
    # with expectations, and of unanswerable ones, where nothing is expected; only with the grader whose verdicts are
    # recorded. A file that is labelled counts in ``grader_recall`` once, with its best passage.
    "grader_precision": Declared(
        N_("grader precision"),
        N_(
            "Of the kept passages that passed under these settings, in every round of their paths, how many are "
            "expected; unlabelled passages count as not expected. The tab of the grader counts all that were judged."
        ),
        kind="mean",
        of_passages=True,
    ),
    "grader_recall": Declared(
        N_("grader recall"),
        N_("Of the expected passages that were judged, how many passed; of a file the best one counts."),
        kind="mean",
    ),
    "refused_unanswerable": Declared(
        N_("unanswerable refused"),
        N_("Share of unanswerable questions that were refused."),
        card=N_("Unanswerable refused"),
        command="abstained_on_unanswerable",
    ),
    "answered_answerable": Declared(
        N_("answerable answered"), N_("Share of answerable questions that were answered, rightly or not.")
    ),
    "refused_answerable": Declared(
        N_("answerable refused"), N_("Share of answerable questions that were refused."), lower_is_better=True
    ),
}
LOWER_IS_BETTER = frozenset(name for name, row in MEASURES.items() if row.lower_is_better)
OF_PASSAGES = frozenset(name for name, row in MEASURES.items() if row.of_passages)
