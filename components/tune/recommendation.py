"""The recommended setting of a sweep: what it is, how sure that is, and what it would be worth on new questions."""

from __future__ import annotations

from collections.abc import Sequence

from components.common.i18n import Words
from components.common.markup import button, chip, draw, node
from components.labels import VERDICTS
from components.tune.figures import figure_text, p_text, sampling_text, value_text
from engine.evaluation.figures import Figure
from engine.evaluation.measures import MEASURES, Measure
from engine.evaluation.recommend import QUALITY_FLOOR, Recommendation
from engine.messages import N_, NC_

_COST = {
    "better": N_("less"),
    "worse": N_("more"),
    "not_distinguishable": N_("not distinguishable"),
}

_CHOICE = {
    "best": N_("It alone does best of {tried} settings."),
    "cheaper": N_("{tied} of {tried} settings cannot be told apart; this one takes the fewest steps."),
    "closer_to_defaults": N_(
        "{tied} of {tried} settings cannot be told apart, nor by their cost; this one is closest to the defaults."
    ),
    "baseline_stays": N_("None of {tried} settings gains anything on these questions."),
}

_LOOKS = {"better": "pass", "worse": "warn", "not_distinguishable": "grey"}


def recommendation_card(
    found: Recommendation, changed: Sequence[str], words: Words, *, key: str, promised: str = ""
) -> bool:
    """Draw the card; true when the reader wants to try it.

    Only what is measurably better is called recommended; else it is at most the cheapest of equal settings. ``changed``
    names what differs from the baseline, ``promised`` says what the setting is certified to keep.
    """
    if found.choice == "too_poor":
        none = (node("strong", "heading", words("No recommendation")), node("p", "", _poor(found, words)))
        draw((node("section", "card", *none),), words, key=key)
        return False
    head = [node("strong", "heading", _heading(found, words))]
    if found.better:
        head.append(chip(_LOOKS[found.verdict], words(VERDICTS[found.verdict])))
    if found.cost_verdict != "not_distinguishable":
        cost = words("cost: {verdict}", verdict=words(_COST[found.cost_verdict]))
        head.append(chip(_LOOKS[found.cost_verdict], cost))
    stays = _stays(found, changed)
    parts = [
        node("div", "head", *head),
        node("p", "query", _what(found, changed, words)),
        node("p", "muted", words(_CHOICE[found.choice], tied=found.tied, tried=found.tried)),
        node("p", "small", _figures(found, words)),
        node("p", "muted small", _doubt(found, words)),
    ]
    if promised:
        parts.append(node("p", "small", chip("pass", words("certified")), f" {promised}"))
    parts += [node("p", "note small", "! ", said) for said in _cautions(found, words)]
    if not stays:
        look = "button primary" if found.better else "button"
        parts.append(node("div", "actions", button(words(NC_("tuning", "Try it")), "try", look)))
    return draw((node("section", "card", *parts),), words, key=key) == "try"


def recommendation_text(found: Recommendation, changed: Sequence[str], words: Words) -> list[str]:
    """The sentences of the card, for those who do not see it."""
    if found.choice == "too_poor":
        return [_poor(found, words)]
    verdict = f"{words(VERDICTS[found.verdict])} · {words('cost: {verdict}', verdict=words(_COST[found.cost_verdict]))}"
    chosen = words(_CHOICE[found.choice], tied=found.tied, tried=found.tried)
    said = [
        _heading(found, words),
        _what(found, changed, words),
        verdict,
        chosen,
        _figures(found, words),
        _doubt(found, words),
    ]
    return [*said, *_cautions(found, words)]


def _heading(found: Recommendation, words: Words) -> str:
    return words("Recommended") if found.better else words("No setting is measurably better")


def _stays(found: Recommendation, changed: Sequence[str]) -> bool:
    return found.choice == "baseline_stays" or not changed


def _what(found: Recommendation, changed: Sequence[str], words: Words) -> str:
    if _stays(found, changed):
        return words("Keep the settings compared.")
    settings = " · ".join(changed)
    if found.better:
        return settings
    if found.cost_verdict == "better":
        return words("The cheapest equal one: {settings}", settings=settings)
    return words("The one with the most right, too close to tell: {settings}", settings=settings)


def _poor(found: Recommendation, words: Words) -> str:
    return words(
        "None of {tried} settings reaches {floor} ({aim}): the best of them would be luck. First look "
        "whether the collection holds what the questions expect, and how the grader judges it.",
        tried=found.tried,
        aim=words(MEASURES[found.aim].name),
        floor=value_text("quality", QUALITY_FLOOR),
    )


def _cautions(found: Recommendation, words: Words) -> list[str]:
    """List what to consider before taking the recommendation."""
    said = [_lets_in(found, words)] if found.rejected else []
    if found.never_corrects:
        said.append(
            words(
                "It switches self-correction off: on these questions no rewrite was measurably of use; on others one "
                "may be."
            )
        )
    return said


def _lets_in(found: Recommendation, words: Words) -> str:
    return words.count(
        "Over {questions} questions it gives the generator 1 passage that the grader called not relevant "
        "(settings compared: {before}).",
        "Over {questions} questions it gives the generator {n} passages that the grader called not relevant "
        "(settings compared: {before}).",
        found.rejected,
        questions=found.n,
        before=found.rejected_before,
    )


def _figures(found: Recommendation, words: Words) -> str:
    rows: tuple[tuple[Measure, Figure], ...] = (
        (found.aim, found.quality),
        ("steps", found.steps),
        ("seconds", found.seconds),
    )
    return " · ".join(
        words("{name} {value}", name=words(MEASURES[measure].name), value=figure_text(measure, figure, words))
        for measure, figure in rows
        if figure.lower is not None
    )


def _doubt(found: Recommendation, words: Words) -> str:
    p, sampled = max(found.quality_test.p, found.p_corrected), found.quality_interval
    parts = [
        words("n = {n}, {p}, corrected for having tried {tried} settings.", n=found.n, p=p_text(p), tried=found.tried)
    ]
    if found.expected_on_new is not None:
        parts.append(words("Expected on new questions: {value}.", value=value_text("quality", found.expected_on_new)))
    if found.unknown_n:
        parts.append(words("{n} questions would need calls to tell.", n=found.unknown_n))
    said = words.joined(parts)
    return said if sampled is None else f"{sampling_text(found.aim, sampled.low, sampled.high)} · {said}"
