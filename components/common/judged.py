"""What people and models said of an answer, as nodes: on the Tune page and in the report of a run."""

from __future__ import annotations

from collections.abc import Sequence

from components.common.i18n import Words
from components.common.markup import Node, chip, node
from engine.evaluation.answers import Basis
from engine.evaluation.values import AnswerJudgement
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
    """Who said what of an answer, and of a model each claim with its reason."""
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
