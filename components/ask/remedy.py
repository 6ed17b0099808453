"""What a run suffered from, and the smallest change of one setting that its record confirms to mend it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from components.ask.admitted import admits_text
from components.ask.pinned import ALL_UNKNOWN
from components.ask.smallest_changes import boundary_text
from components.ask.what_if_text import rich
from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, draw, node
from components.common.phrases import probability_text
from engine.messages import N_, NC_
from engine.model.values import PassageId
from engine.model.wording import distinct_texts
from engine.replay.admitted import needs_care
from engine.replay.decision_boundaries import DecisionBoundary
from engine.replay.diagnosis import Diagnosis
from engine.replay.pinned import PinnedEffect

_FAILURE_LOOKS = {
    "dropped_by_similarity": N_("Perhaps a right passage was dropped before grading"),
    "grader_too_strict": N_("Perhaps the grader was too strict"),
    "no_such_knowledge": N_("It looks as if the collection does not hold the answer"),
}

_FAILURE = {
    "nothing_retrieved": N_("Nothing right was retrieved"),
    "dropped_by_similarity": N_("The right passage was dropped before grading"),
    "grader_too_strict": N_("The grader refused the right passage"),
    "grader_too_lenient": N_("The grader let other passages through"),
    "rewrite_drifted": N_("The rewrites drifted"),
    "budget_spent": N_("The budget was spent"),
    "no_such_knowledge": N_("No such knowledge in the collection"),
    "unsupported_answer": N_("The answer is not supported"),
    "refused_let_in": N_("The answer rests on refused passages"),
}

_WHY = {
    "dropped_by_similarity": N_(
        "The closest has similarity {similarity} at rank {rank}; kept is from {threshold} on, among the first {top_k}."
    ),
    "grader_too_strict": N_("Its P(relevant) is {p}; passing takes {bar}."),
    "grader_too_lenient": N_(
        "Passages given to the generator: {passed}, none of them expected; expected ones kept: {expected}."
    ),
    "rewrite_drifted": N_(
        "From the first round to the last the pass rate went {rate_first} → {rate_last} and the best similarity "
        "{best_first} → {best_last}."
    ),
    "budget_spent": N_(
        "Passages that passed: {passed}. The best pass rate was {rate} against a bar of {bar}, and rewriting "
        "({rewrites} ×) did not change that."
    ),
    "no_such_knowledge": N_(
        "The most similar passage reaches {best}, and none of {judged} judged ones answers the question."
    ),
    "refused_let_in": N_(
        "Passages given to the generator that the grader judged not relevant: {refused} of {given}. A minimum "
        "P(relevant) of {bar} let them in."
    ),
    "unsupported_answer": N_("Citations: {citations}; markers that pointed nowhere: {removed}."),
}

_WITHOUT_CHANGE = {
    "no_such_knowledge": N_("Add a source that answers it on the Knowledge page."),
    "refused_let_in": N_("Raise P(relevant) again, or mark these passages as right if they are."),
}
"""What to do where no change of a setting is proposed."""

_COUNTS = frozenset(
    {
        *("rounds", "rank", "top_k", "passed", "expected", "rewrites", "judged", "citations", "removed", "wanted"),
        *("refused", "given"),
    }
)
_BESIDE = (
    *(("p", "bar"), ("rate", "bar"), ("similarity", "threshold")),
    *(("rate_first", "rate_last"), ("best_first", "best_last")),
)
"""Figures that a sentence holds against each other: they look as different as they are."""


def remedy_box(
    found: Diagnosis,
    change: DecisionBoundary | None,
    effect: PinnedEffect | None,
    words: Words,
    *,
    key: str,
    right: Collection[PassageId] = (),
    may_add: bool = False,
) -> str | None:
    """Draw label, evidence and change, with what the change does to pinned runs.

    Amber where the change lets in what the run held back and nobody marked ``right``.

    Returns ``try`` when the change is to be tried, and ``add`` when files are to be put in where the collection lacks
    the answer, which is offered to who ``may_add`` some.
    """
    by = chip("grey", words("by labels" if found.labelled else "by what the run shows"))
    head = node("div", "head", node("strong", "heading", title(found, words)), by)
    said = (head, node("p", "small", why_text(found, words)), *_mending(found, change, effect, words))
    actions: tuple[Node, ...] = ()
    if change is not None:
        actions = (button(words(NC_("remedy", "Try it")), "try", "button primary"),)
    elif found.failure == "no_such_knowledge" and may_add:
        actions = (button(words("Add files"), "add"),)
    amber = change is not None and needs_care(change.admits, right)
    drawn = box(
        "warn remedy" if amber else "plain remedy", "!" if amber or change is None else "✓", *said, beside=actions
    )
    return draw((drawn,), words, key=key)


def title(found: Diagnosis, words: Words) -> str:
    """The failure; a guess is worded as one."""
    if not found.labelled and found.failure in _FAILURE_LOOKS:
        return words(_FAILURE_LOOKS[found.failure])
    return words(_FAILURE[found.failure])


def why_text(found: Diagnosis, words: Words) -> str:
    """The figures that led to the failure's name, in a sentence."""
    figures = {name: _figure(name, value) for name, value in found.figures.items()}
    for one, other in _BESIDE:
        if one in figures and other in figures:
            figures[one], figures[other] = distinct_texts(found.figures[one], found.figures[other])
    if found.failure == "nothing_retrieved":
        return words.count(
            "The one search found no passage that could answer.",
            "None of {rounds} searches found a passage that could answer.",
            int(found.figures["rounds"]),
            **figures,
        )
    return words(_why(found), **figures)


def _why(found: Diagnosis) -> str:
    """The sentence with the figures that this run has."""
    if found.failure == "budget_spent" and "seconds" in found.figures:
        return N_("The run took {seconds} s of the {budget} s that it was given.")
    if found.failure == "budget_spent" and "sufficiency" in found.figures:
        return N_(
            "Passages that passed: {passed}. They must suffice together and did not, and rewriting ({rewrites} ×) did "
            "not change that."
        )
    if found.failure == "budget_spent" and "wanted" in found.figures:
        return N_(
            "Passages that passed: {passed}. The gate asks for {wanted} in the rounds that count, and rewriting "
            "({rewrites} ×) did not change that."
        )
    if found.failure == "unsupported_answer" and not found.figures.get("verified"):
        return N_("It is based on passages that did not pass.")
    if found.failure == "grader_too_strict" and "no" in found.figures:
        return N_("Its P(relevant) is {p}, but the grader said no, and from a minimum of {bar} a no never passes.")
    if found.failure == "dropped_by_similarity" and "similarity" not in found.figures:
        return N_("The closest stands at rank {rank}, beyond the top-k of {top_k}.")
    if found.failure == "grader_too_strict" and "p" not in found.figures:
        return N_("The grader said no.")
    if found.failure == "no_such_knowledge" and "best" not in found.figures:
        judged = N_("None of {judged} judged passages answers the question.")
        return judged if found.figures["judged"] else N_("There is no verdict to go by.")
    if found.failure == "no_such_knowledge" and not found.figures["judged"]:
        return N_("The most similar passage reaches {best}, and there is no verdict to go by.")
    return _WHY[found.failure]


def effect_text(effect: PinnedEffect | None, words: Words) -> str:
    """``It breaks none of 20 runs on the watch list.``: of those that can be told without calls."""
    if effect is None or effect.total == 0:
        return words("Put runs on the watch list, and this says what the change would do to them.")
    told = effect.total - len(effect.unknown)
    if told == 0:
        return words.count(*ALL_UNKNOWN, effect.total)
    better, worse = effect.count("better"), effect.count("worse")
    if worse or better:
        said = words(
            "Of {n} runs on the watch list it mends {better} and breaks {worse}.", n=told, better=better, worse=worse
        )
    else:
        said = words.count(
            "It does not break the run on the watch list.", "It breaks none of {n} runs on the watch list.", told
        )
    if not effect.unknown:
        return said
    unknown = words.count("1 cannot be told without calls.", "{n} cannot be told without calls.", len(effect.unknown))
    return words.joined((said, unknown))


def _mending(
    found: Diagnosis, change: DecisionBoundary | None, effect: PinnedEffect | None, words: Words
) -> list[Node]:
    if change is None:
        said = words(_WITHOUT_CHANGE.get(found.failure, N_("No single change of a setting is known to mend it.")))
        return [node("p", "muted small", said)]
    said = words(
        "The smallest change that the record confirms to help: **{change}**.",
        change=boundary_text(replace(change, admits=()), words),
    )
    admits = [node("p", "note", text)] if (text := admits_text(change.admits, words)) else []
    return [node("p", "change", *rich(said)), *admits, node("p", "muted small", effect_text(effect, words))]


def _figure(name: str, value: float) -> str:
    if name in _COUNTS:
        return f"{value:.0f}"
    if name in ("seconds", "budget"):
        return f"{value:.1f}" if value < 10 else f"{value:.0f}"
    return probability_text(value)
