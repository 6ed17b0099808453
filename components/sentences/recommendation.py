"""Sentences on the recommended setting of a sweep: what it is, how sure that is, and its worth on new questions."""

from __future__ import annotations

from collections.abc import Sequence

from components.common.i18n import Words
from components.labels import VERDICTS
from components.sentences.measured import figure_text, p_text, sampling_text, value_text
from engine.evaluation.figures import Figure
from engine.evaluation.measures import MEASURES, Measure
from engine.evaluation.recommend import QUALITY_FLOOR, Recommendation
from engine.messages import N_

COSTS = {
    "better": N_("less"),
    "worse": N_("more"),
    "not_distinguishable": N_("not distinguishable"),
}

CHOICES = {
    "best": N_("It alone does best of {tried} settings."),
    "cheaper": N_("{tied} of {tried} settings perform equally well; this one takes the fewest steps."),
    "closer_to_defaults": N_(
        "{tied} of {tried} settings perform and cost the same; this one is closest to the defaults."
    ),
    "baseline_stays": N_("None of {tried} settings gains anything on these questions."),
}


def recommendation_text(found: Recommendation, changed: Sequence[str], words: Words) -> list[str]:
    """The sentences of the card, for those who do not see it."""
    if found.choice == "too_poor":
        return [poor(found, words)]
    verdict = f"{words(VERDICTS[found.verdict])} · {words('cost: {verdict}', verdict=words(COSTS[found.cost_verdict]))}"
    chosen = words(CHOICES[found.choice], tied=found.tied, tried=found.tried)
    said = [
        heading(found, words),
        what(found, changed, words),
        verdict,
        chosen,
        figures(found, words),
        doubt(found, words),
    ]
    return [*said, *cautions(found, words)]


def heading(found: Recommendation, words: Words) -> str:
    """Whether a setting is measurably better than the baseline; only then is it called recommended."""
    return words("Recommended") if found.better else words("No setting is measurably better")


def stays(found: Recommendation, changed: Sequence[str]) -> bool:
    """True if the baseline is kept."""
    return found.choice == "baseline_stays" or not changed


def what(found: Recommendation, changed: Sequence[str], words: Words) -> str:
    """The setting by what differs from the baseline; ``changed`` names that."""
    if stays(found, changed):
        return words("Keep the baseline.")
    settings = " · ".join(changed)
    if found.better:
        return settings
    if found.cost_verdict == "better":
        return words("Cheapest equal: {settings}", settings=settings)
    return words("Most right, too close to tell: {settings}", settings=settings)


def poor(found: Recommendation, words: Words) -> str:
    """Why nothing is recommended."""
    return words(
        "None of {tried} settings reaches {floor} ({aim}): the best of them would be luck. First look "
        "whether the collection holds what the questions expect, and how the grader judges it.",
        tried=found.tried,
        aim=words(MEASURES[found.aim].name),
        floor=value_text("quality", QUALITY_FLOOR),
    )


def cautions(found: Recommendation, words: Words) -> list[str]:
    """List what to consider before taking the recommendation."""
    said = [_lets_in(found, words)] if found.rejected else []
    if found.never_corrects:
        said.append(
            words(
                "It switches self-correction off. “Does correction pay?” counts the questions that correction helped."
            )
        )
    return said


def _lets_in(found: Recommendation, words: Words) -> str:
    return words.count(
        "Over {questions} questions it gives the generator 1 passage that the grader called not relevant "
        "(baseline: {before}).",
        "Over {questions} questions it gives the generator {n} passages that the grader called not relevant "
        "(baseline: {before}).",
        found.rejected,
        questions=found.n,
        before=found.rejected_before,
    )


def figures(found: Recommendation, words: Words) -> str:
    """Its aim, steps and time."""
    rows: tuple[tuple[Measure, Figure], ...] = (
        (found.aim, found.quality),
        ("steps", found.steps),
        ("seconds", found.seconds),
    )
    return " · ".join(
        f"{words(MEASURES[measure].name)} {figure_text(measure, figure, words)}"
        for measure, figure in rows
        if figure.lower is not None
    )


def doubt(found: Recommendation, words: Words) -> str:
    """How sure it is, and what it would be worth on new questions."""
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
