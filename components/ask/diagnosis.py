"""Diagnosis of a run in words: its name, the figures that single it out, and what else to try."""

from __future__ import annotations

from collections.abc import Mapping

from components.common.i18n import Words
from components.common.markup import draw, node
from components.common.phrases import begun, model_label, probability_text
from engine.messages import N_
from engine.model.config import BUILTIN
from engine.model.values import BY_HAND, IMPORTED, RunRecord
from engine.model.wording import distinct_texts
from engine.replay.diagnosis import Diagnosis, Failure

BLIND = N_(
    "The built-in grader compares words: a passage that says the same in other words looks irrelevant to it, however "
    "similar it is in meaning."
)
"""What the grader that needs no model cannot see."""

_SHOWN: Mapping[str, str] = {
    "nothing_retrieved": N_("Nothing was retrieved"),
    "dropped_by_similarity": N_("A passage that passed was dropped"),
}
"""Where no label says what is right."""

_FAILURE: Mapping[Failure, str] = {
    "nothing_retrieved": N_("Nothing right was retrieved"),
    "dropped_by_similarity": N_("The right passage was dropped"),
    "grader_too_lenient": N_("The grader let other passages through"),
    "left_out": N_("A passage that passed was left out"),
    "rewrite_drifted": N_("The rewrites drifted"),
    "budget_spent": N_("The budget was spent"),
    "undetermined": N_("Nothing passed, for one of several reasons"),
    "unsupported_answer": N_("The answer is not supported"),
    "refused_let_in": N_("The answer rests on refused passages"),
}

_WHY: Mapping[Failure, str] = {
    "dropped_by_similarity": N_(
        "The closest has similarity {similarity} at rank {rank}; kept is from {threshold} on, among the first {top_k}."
    ),
    "grader_too_strict": N_("Its P(relevant) is {p}; passing takes {bar}."),
    "grader_too_lenient": N_(
        "Passages given to the generator: {passed}, none of them expected; expected ones kept: {expected}."
    ),
    "left_out": N_("It passed in an earlier round, and the answer is made from the last one alone."),
    "rewrite_drifted": N_(
        "From the first round to the last the pass rate went {rate_first} → {rate_last} and the best similarity "
        "{best_first} → {best_last}."
    ),
    "budget_spent": N_(
        "Passages that passed: {passed}. The best pass rate was {rate} against a bar of {bar}, and rewriting "
        "({rewrites} ×) did not change that."
    ),
    "refused_let_in": N_(
        "Passages given to the generator that the grader judged not relevant: {refused} of {given}. A minimum "
        "P(relevant) of {bar} let them in."
    ),
    "unsupported_answer": N_("Sentences with details that their sources do not contain: {sentences}."),
}

_JUDGED = N_("Mark the right passage: then the cause can be named. If there is none, the refusal was right.")
_READERS = N_("A grader that reads, a chat model or a cross-encoder, may judge otherwise.")
_NEXT: Mapping[Failure, str] = {
    "nothing_retrieved": N_("Raise “Candidates retrieved”, search by meaning and by words, or try another query."),
    "dropped_by_similarity": N_("Judge all candidates to learn whether it would pass."),
    "grader_too_strict": _READERS,
    "grader_too_lenient": _READERS,
    "left_out": N_("Set “Passages for the answer” to “All rounds”."),
    "rewrite_drifted": N_("Try another rewriter, or a query of your own."),
    "budget_spent": N_("No single setting is known to help. Try another query."),
    "undetermined": _JUDGED,
    "unsupported_answer": N_("Try another generator."),
    "refused_let_in": N_("Raise P(relevant) again, or mark these passages as right if they are."),
}
"""Where no change of one setting is known to help."""

_MORE_TIME = N_("Raise “Time budget, seconds”, or try a faster model.")

_COUNTS = frozenset(
    {
        "rounds",
        "rank",
        "top_k",
        "passed",
        "expected",
        "rewrites",
        "covered_parts",
        "parts",
        "citations",
        "sentences",
        "wanted",
        "round",
        "others",
        "refused",
        "given",
    }
)
_COMPARED = (
    *(("p", "bar"), ("rate", "bar"), ("similarity", "threshold")),
    *(("rate_first", "rate_last"), ("best_first", "best_last")),
)
"""Figures that a sentence holds against each other: they look as different as they are."""


def blind_note(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw it above the verdicts of a run where the built-in grader let a passage not pass."""
    bar = record.config.min_confidence
    verdicts = [verdict for current in record.rounds for verdict in current.verdicts.values()]
    if any(verdict.grader == BUILTIN and not verdict.passes(bar) for verdict in verdicts):
        draw((node("p", "muted small", words(BLIND)),), words, key=key)


def title(found: Diagnosis, words: Words) -> str:
    """The failure by its name; with labels it says what was right, and which grader refused it."""
    if found.failure == "grader_too_strict" and "unreadable" in found.figures:
        return words("The verdict on the right passage could not be read")
    if found.failure == "grader_too_strict":
        return words("{grader} refused the right passage", grader=begun(_named(found, words)))
    if found.failure == "budget_spent" and "repeated" in found.figures:
        return words("The rewriter repeated a query")
    if not found.labelled and found.failure in _SHOWN:
        return words(_SHOWN[found.failure])
    return words(_FAILURE[found.failure])


def why_text(found: Diagnosis, words: Words) -> str:
    """The figures that single the failure out, in sentences; what the built-in grader cannot see where it refused."""
    if found.failure == "undetermined":
        said = _possible(found, words)
    elif found.failure == "nothing_retrieved":
        said = _not_found(found, words)
    else:
        said = words(_why(found), **_figures(found))
    parts = [said]
    if found.failure == "dropped_by_similarity" and "refused" in found.figures:
        parts.append(words("It was judged all the same, and refused by {grader}.", grader=_named(found, words)))
    if found.figures.get("others"):
        parts.append(words("Other expected passages that were not judged: {others}.", **_figures(found)))
    if found.by_words:
        parts.append(words(BLIND))
    return words.joined(parts)


def next_text(found: Diagnosis, words: Words) -> str:
    """Suggest what to try when no single change of settings is known to help."""
    if "screener" in found.figures:
        return words("Lower “Screener's no below”, so that the grader is asked.")
    if found.by_words and found.failure != "undetermined":
        return words(_READERS)
    if found.failure == "dropped_by_similarity" and "refused" in found.figures:
        return words(_NEXT["grader_too_strict"])
    return words(_MORE_TIME if "seconds" in found.figures else _NEXT[found.failure])


def _possible(found: Diagnosis, words: Words) -> str:
    """Every cause that the evidence leaves open, with the passages that it may lie with."""
    figures = {name: int(value) for name, value in found.figures.items() if name != "best"}
    causes = []
    if figures["refused"]:
        refused = words.count(
            "the right passage is the one that {grader} refused",
            "the right passage is one of the {n} that {grader} refused",
            figures["refused"],
            grader=_named(found, words),
        )
        causes.append(refused)
    if figures["unreadable"]:
        unread = words.count(
            "the right passage is the one whose verdict could not be read",
            "the right passage is one of the {n} whose verdict could not be read",
            figures["unreadable"],
        )
        causes.append(unread)
    if figures["unjudged"]:
        unjudged = words.count(
            "the right passage is the one that was not judged",
            "the right passage is one of the {n} that were not judged",
            figures["unjudged"],
        )
        causes.append(unjudged)
    causes += [words("the search did not find it"), words("the collection does not hold it")]
    return words("Possible: {causes}.", causes=words("; ").join(causes))


def _not_found(found: Diagnosis, words: Words) -> str:
    rounds = int(found.figures["rounds"])
    return words.count("The one search found none.", "None of {n} searches found one.", rounds)


def _why(found: Diagnosis) -> str:
    """The sentence with the figures that this run has."""
    match found.failure, found.figures:
        case "budget_spent", {"seconds": _}:
            return N_("The run took {seconds} s of the {budget} s that it was given.")
        case "budget_spent", {"sufficiency": _}:
            return N_(
                "Passages that passed: {passed}. They must suffice together and did not, and rewriting ({rewrites} ×) "
                "did not change that."
            )
        case "budget_spent", {"covered_parts": _}:
            return N_(
                "Passages that passed: {passed}. They cover {covered_parts} of {parts} parts of the question, and "
                "rewriting ({rewrites} ×) did not change that."
            )
        case "budget_spent", {"wanted": _}:
            return N_(
                "Passages that passed: {passed}. The gate asks for {wanted} in the rounds that count, and rewriting "
                "({rewrites} ×) did not change that."
            )
        case "unsupported_answer", figures if not figures.get("verified"):
            return N_("It is based on passages that did not pass.")
        case "unsupported_answer", figures if not figures.get("sentences"):
            return N_("It cites no passage.")
        case "grader_too_strict", {"unreadable": _}:
            return N_("A reply that cannot be read counts as not passed.")
        case "grader_too_strict", {"no": _}:
            return N_("Its P(relevant) is {p}, but the grader said no, and from a minimum of {bar} a no never passes.")
        case "grader_too_strict", {"screener": _} as figures:
            by_cut = N_("Its P(relevant) by the screener is {p}, and below {bar} the grader is not asked.")
            return by_cut if "p" in figures else N_("The screener said no, so that the grader was not asked.")
        case "grader_too_strict", figures if "p" not in figures:
            return N_("The grader said no.")
        case "grader_too_lenient", figures if "expected" not in figures:
            return N_("By its labels nothing here answers the question. Passages that passed: {passed}.")
        case "dropped_by_similarity", figures if "similarity" not in figures:
            return N_("The closest stands at rank {rank}, beyond the top-k of {top_k}.")
    return _WHY[found.failure]


def _named(found: Diagnosis, words: Words) -> str:
    """The grader as part of a sentence; another program's and a person's are not named."""
    name = found.grader
    if name == BUILTIN:
        return words("the built-in grader")
    if not name or name == BY_HAND or name.startswith(f"{IMPORTED}:"):
        return words("the grader")
    return model_label(name, words)


def _figures(found: Diagnosis) -> dict[str, str]:
    figures = {name: _figure(name, value) for name, value in found.figures.items()}
    for one, other in _COMPARED:
        if one in figures and other in figures:
            figures[one], figures[other] = distinct_texts(found.figures[one], found.figures[other])
    return figures


def _figure(name: str, value: float) -> str:
    if name in _COUNTS:
        return f"{value:.0f}"
    if name in ("seconds", "budget"):
        return f"{value:.1f}" if value < 10 else f"{value:.0f}"
    return probability_text(value)
