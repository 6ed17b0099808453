"""What the newest runs of the dual loop recalled, and whether it changed the way they went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal
from urllib.parse import urlencode

from components.common.amounts import beginning, moment
from components.common.i18n import Words
from components.common.markup import Drawer, Node, chip, node
from components.common.phrases import probability_text
from components.labels.workflows import STRATEGY_NAMES
from engine.messages import N_
from engine.model.values import Memory, Recall, RouteChoice, RunRecord

EFFECT_NAMES = {
    "changed": N_("⇄ changed the route"),
    "same": N_("= same route without it"),
    "unknown": N_("? effect not known"),
    "nothing": N_("– nothing recalled"),
    "off": N_("■ memory was off"),
    "failed": N_("✗ memory could not be read"),
}

Effect = Literal["changed", "same", "unknown", "nothing", "off", "failed"]

_LOOKS: Mapping[Effect, str] = {
    "changed": "accent",
    "same": "plain",
    "unknown": "grey",
    "nothing": "grey",
    "off": "grey",
    "failed": "fault",
}
_BEGINNING = 60
_STALE = (
    N_("outdated, not used"),
    N_("The collection has changed since this answer was kept, so it was shown and not answered from."),
)
_REFUSED = (
    N_("no answer to this, not used"),
    N_("The grader did not find the answer to this question in it, so it was shown and not answered from."),
)

draw_memory = Drawer("memory", "loops.css", "memory.css")


def effect_of(record: RunRecord) -> Effect:
    """What memory did to a run that asked it."""
    recall, route = record.recall, record.route
    if recall is None or recall.failed:
        return "failed"
    if recall.off:
        return "off"
    if not recall.memories:
        return "nothing"
    if route is None or route.without_memory is None:
        return "unknown"
    return "same" if route.route == route.without_memory else "changed"


def recalled_by(records: Sequence[RunRecord]) -> Mapping[str, int]:
    """How many of the runs recalled each memory, by its id."""
    return Counter(name for record in records if record.recall for name in {item.id for item in record.recall.memories})


def recall_list(records: Sequence[RunRecord], words: Words, *, key: str, base: str = "") -> None:
    """Draw one line a run, newest first; ``base`` is what the address of the pages begins with."""
    draw_memory([node("ul", "recalls", *(_line(record, words, base) for record in records))], words, key=key)


def run_address(run_id: str, words: Words, base: str) -> str:
    """Where the workbench shows a run."""
    return f"{base}/?{urlencode({'run': run_id, 'lang': words.language})}"


def _line(record: RunRecord, words: Words, base: str) -> Node:
    effect = effect_of(record)
    asked = node(
        "a",
        "asked",
        beginning(record.question, 160) or words("(question cannot be read)"),
        href=run_address(record.id, words, base),
        title=words("Open this run in a new tab"),
    )
    said = [chip(_LOOKS[effect], words(EFFECT_NAMES[effect]))]
    if effect == "changed" and record.route is not None:
        said.append(node("span", "small muted", _how(record.route, words)))
    recall = record.recall
    recalled = [_recalled(item, _unused(item.id, recall), words) for item in recall.memories] if recall else []
    when = node("span", "small muted num", words("{when} UTC", when=moment(record.started_at)))
    head = node("div", "head", asked, node("span", "grow far", when))
    return node("li", "card recall", head, node("div", "said", *said), *recalled)


def _unused(memory_id: str, recall: Recall) -> tuple[str, str] | None:
    if memory_id in recall.stale:
        return _STALE
    return _REFUSED if memory_id in recall.refused else None


def _recalled(item: Memory, unused: tuple[str, str] | None, words: Words) -> Node:
    text = words(
        "“{question}” · similarity {similarity}",
        question=beginning(item.question, _BEGINNING),
        similarity=probability_text(item.similarity),
    )
    mark = [chip("warn", words(unused[0]), words(unused[1]))] if unused else []
    return node("div", "recalled small", node("span", "", text), *mark)


def _how(route: RouteChoice, words: Words) -> str:
    taken, without = (
        words("answered directly" if name == "direct" else STRATEGY_NAMES[str(name)])
        for name in (route.route, route.without_memory)
    )
    return words("{taken}; without memory: {without}", taken=taken, without=without)
