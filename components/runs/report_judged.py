"""What is known of a run's answer beyond the run itself, in its report."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.judged import BASIS_NAMES, judged_nodes
from components.common.markup import Node, chip, node
from components.common.report_context import titled_table
from components.labels.tuning import MEASURE_NAMES
from engine.evaluation.values import RunAnswer
from engine.messages import NC_


def known_nodes(known: RunAnswer, words: Words) -> list[Node]:
    """Whether the answer is right and by what, its figures, and who judged it; empty where nothing is known."""
    if known.told_by is None and not known.judgements:
        return []
    nodes = told_nodes(known, words)
    if known.gold_answers:
        gold = words(NC_("gold answers", " / ")).join(known.gold_answers)
        nodes.append(node("p", "", words("Gold answer: {answers}", answers=gold)))
    if rows := figures_of_answer(known, words):
        nodes.append(titled_table((words(NC_("tuning", "Measure")), words(NC_("answer", "Value"))), rows))
    return nodes + [part for item in known.judgements for part in judged_nodes(item, words)]


def told_nodes(known: RunAnswer, words: Words) -> list[Node]:
    """Whether the answer is right and by what; empty where nothing tells."""
    if known.told_by is None:
        return []
    right = words(NC_("answer", "right")) if known.right else words(NC_("answer", "wrong"))
    by = words("judged by: {basis}", basis=words(BASIS_NAMES[known.told_by]))
    return [node("p", "", chip("pass" if known.right else "warn", right), f" {by}")]


def figures_of_answer(known: RunAnswer, words: Words) -> list[tuple[str, str]]:
    """Names and values of the measures that the answer has."""
    return [(words(MEASURE_NAMES[name]), f"{value:.2f}") for name, value in known.figures.items() if value is not None]
