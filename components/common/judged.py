"""Judgements on an answer by people and models, as nodes: for the Tune page and the report of a run."""

from __future__ import annotations

from collections.abc import Sequence

from components.common.i18n import Words
from components.common.markup import Node, chip, node
from components.common.report_context import titled_table
from engine.evaluation.answers import Basis
from engine.evaluation.measures import MEASURES
from engine.evaluation.values import AnswerJudgement, RunAnswer
from engine.messages import N_, NC_
from engine.model.values import Claim

BASIS_NAMES: dict[Basis | None, str] = {
    "gold": N_("gold answer"),
    "judgement": N_("judgement of a person"),
    "passage": N_("passages given"),
    "refusal": N_("refusal"),
    None: N_("nothing"),
}
_RIGHT = {
    "yes": NC_("answer", "right"),
    "in_part": NC_("answer", "right in part"),
    "no": NC_("answer", "wrong"),
    "unreadable": NC_("answer", "not readable"),
}
_LOOKS = {"yes": "pass", "in_part": "warn", "no": "warn", "unreadable": "plain"}


def judged_nodes(item: AnswerJudgement, words: Words) -> list[Node]:
    """List who judged an answer and how; for a model, each claim with its reason."""
    who = item.judge or item.author or words("a person")
    mark = chip(_LOOKS[item.right], words(_RIGHT[item.right]))
    said = node("p", "", node("strong", "", f"{who}: "), mark, f" {item.explanation}")
    return [said, *_claims(item.claims, words)]


def _claims(claims: Sequence[Claim], words: Words) -> list[Node]:
    made: list[Node] = []
    heads = {
        "gold": words("What the gold answer says, and whether the answer says it:"),
        "answer": words("What the answer says, and whether the passages bear it out:"),
    }
    for of, head in heads.items():
        found = [claim for claim in claims if claim.of == of]
        if found:
            made += [node("p", "muted", head), node("ul", "report", *map(_claim, found))]
    return made


def _claim(claim: Claim) -> Node:
    sign = node("span", f"sign {'pass' if claim.holds else 'warn'}", "✓" if claim.holds else "✗")
    return node("li", "", sign, f" {claim.text}", node("span", "muted", f" {claim.reason}"))


def known_nodes(known: RunAnswer, words: Words) -> list[Node]:
    """Return whether the answer is right and by what, its figures, and who judged it; empty where nothing is known."""
    if known.told_by is None and not known.judgements:
        return []
    nodes = right_nodes(known, words)
    if known.gold_answers:
        gold = words(NC_("gold answers", " / ")).join(known.gold_answers)
        nodes.append(node("p", "", words("Gold answer: {answers}", answers=gold)))
    if rows := figures_of_answer(known, words):
        nodes.append(titled_table((words("Measure"), words(NC_("answer", "Value"))), rows))
    return nodes + [part for item in known.judgements for part in judged_nodes(item, words)]


def right_nodes(known: RunAnswer, words: Words) -> list[Node]:
    """Return whether the answer is right and by what; empty where nothing tells."""
    if known.told_by is None:
        return []
    right = words(NC_("answer", "right")) if known.right else words(NC_("answer", "wrong"))
    by = words("judged by: {basis}", basis=words(BASIS_NAMES[known.told_by]))
    return [node("p", "", chip("pass" if known.right else "warn", right), f" {by}")]


def figures_of_answer(known: RunAnswer, words: Words) -> list[tuple[str, str]]:
    """Names and values of the measures that the answer has."""
    return [(words(MEASURES[name].name), f"{value:.2f}") for name, value in known.figures.items() if value is not None]
