"""What the passages that passed say together, round by round: beside the verdicts on each of them."""

from __future__ import annotations

from collections.abc import Mapping

from components.common.i18n import Words
from components.common.markup import Node, chip, draw, node
from components.common.phrases import WANTED
from engine.messages import N_, NC_
from engine.model.config import BUILTIN
from engine.model.values import RunRecord, SetVerdict

_ANSWERED: Mapping[str, tuple[str, str]] = {
    "yes": ("pass", NC_("passages together", "yes")),
    "part": ("warn", NC_("passages together", "in part")),
    "no": ("warn", NC_("passages together", "no")),
}
_BY_WORDS: Mapping[str, tuple[str, str]] = {
    "yes": ("pass", N_("cover the words of the question")),
    "part": ("warn", N_("cover some words of the question")),
    "no": ("warn", N_("cover no word of the question")),
}
"""What the built-in judge can tell: words are not meaning."""
_HELP = N_(
    "Whether what passed until then suffices to answer the question, which is another matter than whether each passage "
    "helps."
)
_HELP_BY_WORDS = N_("The built-in grader compares words: it cannot tell whether passages that cover them answer.")


def together_lines(record: RunRecord, words: Words, *, key: str) -> None:
    """A line for every round after which something had passed; nothing where no round judges passages."""
    lines = [_line(index, verdict, words) for index, verdict in set_verdicts(record).items()]
    if lines:
        draw(tuple(lines), words, key=key)


def set_verdicts(record: RunRecord) -> dict[int, SetVerdict]:
    """By round the verdict that the run asked for; nothing where the setting is off."""
    return {current.index: current.whole for current in record.rounds if current.whole is not None}


def _line(index: int, verdict: SetVerdict, words: Words) -> Node:
    if verdict.grader == BUILTIN:
        return _line_by_words(index, verdict, words)
    count = len(verdict.passages)
    asked = words.count(
        "Round {round}: does the 1 passage that passed answer it?",
        "Round {round}: do the {n} passages that passed answer it together?",
        count,
        round=index,
    )
    look, said = _ANSWERED.get(verdict.answered or "", ("fault", N_("unreadable")))
    return node(
        "p", "small", f"{asked} ", chip(look, words(said), words(_HELP)), f" {verdict.grader}: {verdict.reason}"
    )


def _line_by_words(index: int, verdict: SetVerdict, words: Words) -> Node:
    count = words.count("1 passage that passed", "{n} passages that passed", len(verdict.passages))
    look, said = _BY_WORDS.get(verdict.answered or "", ("fault", N_("unreadable")))
    place = words("Round {round}: {what}", round=index, what=count)
    return node("p", "small", f"{place} ", chip(look, words(said), words(_HELP_BY_WORDS)), f" {_lacks(verdict, words)}")


def _lacks(verdict: SetVerdict, words: Words) -> str:
    parts = []
    if verdict.missing:
        parts.append(words("missing: {terms}", terms=words(", ").join(verdict.missing)))
    if verdict.wanted_found is False:
        parts.append(words("does not name {kind}", kind=words(WANTED[verdict.wanted])))
    return words("; ").join(parts)
