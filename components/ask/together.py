"""What the passages that passed say together, round by round: beside the verdicts on each of them."""

from __future__ import annotations

from collections.abc import Mapping

from components.common.i18n import Words
from components.common.markup import Node, chip, draw, node
from components.common.phrases import WANTED
from engine.builtin.together import by_words
from engine.messages import N_, NC_
from engine.model.config import BUILTIN, declared
from engine.model.decide import passed_together
from engine.model.values import RunRecord, SetVerdict

_ANSWERED: Mapping[str, tuple[str, str]] = {
    "yes": ("pass", NC_("passages together", "yes")),
    "part": ("warn", NC_("passages together", "in part")),
    "no": ("warn", NC_("passages together", "no")),
}
_HELP = N_(
    "Whether what passed until then suffices to answer the question, which is another matter than whether each passage "
    "helps. By words: what of the question at least one of them covers; words are not meaning."
)


def together_lines(record: RunRecord, words: Words, *, key: str) -> None:
    """A line for every round after which something had passed; nothing where no round judges passages."""
    lines = [_line(index, verdict, words) for index, verdict in set_verdicts(record).items()]
    if lines:
        draw(tuple(lines), words, key=key)


def set_verdicts(record: RunRecord) -> dict[int, SetVerdict]:
    """By round: the recorded verdict, or that by words where no one asked for one in the run."""
    if not declared(record.workflow).grades:
        return {}
    found: dict[int, SetVerdict] = {}
    for place, current in enumerate(record.rounds):
        if current.whole is not None:
            found[current.index] = current.whole
        elif passages := passed_together(record.rounds[: place + 1], record.config):
            found[current.index] = by_words(record.question, passages)
    return found


def _line(index: int, verdict: SetVerdict, words: Words) -> Node:
    count = len(verdict.passages)
    asked = words.count(
        "Round {round}: does the 1 passage that passed answer it?",
        "Round {round}: do the {n} passages that passed answer it together?",
        count,
        round=index,
    )
    look, said = _ANSWERED.get(verdict.answered or "", ("fault", N_("unreadable")))
    return node("p", "small", f"{asked} ", chip(look, words(said), words(_HELP)), f" {_why(verdict, words)}")


def _why(verdict: SetVerdict, words: Words) -> str:
    """By words from what they cover; a chat model's in its own words."""
    if verdict.grader != BUILTIN:
        return f"{verdict.grader}: {verdict.reason}"
    parts = [words("by words")]
    if verdict.missing:
        parts.append(words("missing: {terms}", terms=words(", ").join(verdict.missing)))
    if verdict.wanted_found is False:
        parts.append(words("does not name {kind}", kind=words(WANTED[verdict.wanted])))
    return words("; ").join(parts)
