"""Long-term memory: a card each, four figures above, a table to take away (DL-06), and recent recalls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode

from components.common.amounts import beginning, holds, moment
from components.common.controls import table_csv
from components.common.i18n import Words
from components.common.markup import Drawer, Node, chip, figure, fold, node
from components.common.phrases import probability_text
from components.labels import STRATEGY_NAMES
from engine.messages import N_, NC_
from engine.model.values import Memory, Recall, RouteChoice, RunRecord

_CSV = {
    "id": N_("id"),
    "passed": N_("passed"),
    "question": N_("question"),
    "answer": N_("answer"),
    "collection": N_("collection"),
    "kept_at": N_("kept at"),
    "run": N_("run"),
    "sources": N_("sources"),
}

_STATES = {
    "passed": N_("✓ passed"),
    "failed": NC_("memory", "✗ failed"),
}

_STATE_TIPS = {
    "passed": N_("May be recalled."),
    "failed": N_("Kept apart as a failure, and never recalled as a fact."),
}

_BEGINNING = 220
_DELETE = "delete:"
Kind = Literal["all", "passed", "failed"]
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
_QUESTION_BEGINNING = 60
_STALE = (
    N_("outdated, not used"),
    N_("The collection has changed since this answer was kept, so it was shown and not answered from."),
)
_REFUSED = (
    N_("no answer to this, not used"),
    N_("The grader did not find the answer to this question in it, so it was shown and not answered from."),
)

draw_memory = Drawer("memory", "loops.css", "memory.css")


@dataclass(frozen=True, slots=True)
class MemoryFigures:
    """Figures above the ledger."""

    passed: int
    failed: int
    runs: int
    """Newest runs of the dual loop that were looked at."""
    recalled: int
    """Those that recalled something."""
    changed: int
    """Those that went another way for it."""

    @classmethod
    def of(cls, memories: Sequence[Memory], records: Sequence[RunRecord]) -> MemoryFigures:
        passed = sum(item.passed for item in memories)
        effects = [effect_of(record) for record in records]
        recalled = sum(effect in ("changed", "same", "unknown") for effect in effects)
        return cls(passed, len(memories) - passed, len(records), recalled, effects.count("changed"))


def memory_figures(found: MemoryFigures, words: Words, *, key: str) -> None:
    """Draw the four figures."""
    newest = words.count("of the newest run", "of the newest {n} runs", found.runs)
    newest = newest if found.runs else words("no run of the dual loop yet")
    look = "accent" if found.changed else ""
    parts = (
        figure(words("Remembered"), str(found.passed), words("answers that passed")),
        figure(words("Kept apart"), str(found.failed), words("never recalled")),
        figure(words("Recalled"), str(found.recalled), newest),
        figure(words("Changed the route"), str(found.changed), words("runs that went another way for it"), look=look),
    )
    draw_memory([node("div", "figures four", *parts)], words, key=key)


def matching(memories: Sequence[Memory], text: str, kind: Kind) -> list[Memory]:
    """Memories of a kind that hold a text anywhere, regardless of its case."""
    return [
        item
        for item in memories
        if (kind == "all" or item.passed == (kind == "passed"))
        and holds(text, item.question, item.answer, item.collection, *item.sources)
    ]


def memory_ledger(
    memories: Sequence[Memory], recalled: Mapping[str, int], words: Words, *, key: str, base: str = ""
) -> str | None:
    """Draw a card for each memory and return the id of the one to be deleted, if any.

    ``recalled`` says how many recent runs recalled each; ``base`` is what the address of the pages begins with. All
    text is untrusted and drawn as text: neither Markdown nor HTML in it means anything.
    """
    cards = [_card(item, recalled.get(item.id, 0), words, base) for item in memories]
    action = draw_memory(cards, words, key=key)
    shown = {item.id for item in memories}
    wanted = action.removeprefix(_DELETE) if action and action.startswith(_DELETE) else ""
    return wanted if wanted in shown else None


def ledger_csv(memories: Sequence[Memory], words: Words) -> bytes:
    """One row a memory, UTF-8 with a byte order mark; cells cannot start a formula."""
    rows = (
        (
            item.id,
            words(NC_("memory", "yes") if item.passed else "no"),
            item.question,
            item.answer,
            item.collection,
            item.kept_at,
            item.run_id,
            ", ".join(item.sources),
        )
        for item in memories
    )
    return table_csv([words(text) for text in _CSV.values()], rows)


def _card(item: Memory, recalled: int, words: Words, base: str) -> Node:
    state = "passed" if item.passed else "failed"
    mark = chip("pass" if item.passed else "warn", words(_STATES[state]), words(_STATE_TIPS[state]))
    question = node("strong", "question", item.question.strip() or words("(question cannot be read)"))
    delete = node(
        "button",
        "button quiet",
        words("Delete"),
        data_action=f"{_DELETE}{item.id}",
        aria_label=f"{words('Delete this memory')}: {beginning(item.question, 80)}",
    )
    head = node("div", "top", node("div", "grow", mark, " ", question), delete)
    answer = item.claim or beginning(item.answer, _BEGINNING) or words("(no text)")
    parts = [head, node("p", "beginning", answer), *_whole(item, answer, words), _facts(item, recalled, words, base)]
    return node("section", f"card memory {state}", *parts)


def _whole(item: Memory, shown: str, words: Words) -> list[Node]:
    """The answer as it was written, folded away; nothing where all of it is seen already."""
    answer = item.answer.strip()
    if not answer or answer == shown:
        return []
    return [fold(item.id, words("Whole answer"), node("p", "whole", answer))]


def _facts(item: Memory, recalled: int, words: Words, base: str) -> Node:
    run = node(
        "a",
        "",
        words("run {run}", run=item.run_id[:8]),
        href=run_address(item.run_id, words, base),
        title=words("Open this run in a new tab"),
    )
    facts: list[Node] = [
        node("span", "", f"{words('collection')} {item.collection}"),
        node("span", "num", words("kept {when} UTC", when=moment(item.kept_at))),
    ]
    if item.run_id:
        facts.append(node("span", "", run))
    if item.sources:
        facts.append(node("span", "", words("cites {names}", names=words(", ").join(item.sources))))
    if item.from_web:
        facts.append(chip("warn", words("! from the web")))
    if item.claim_by:
        facts.append(node("span", "", words("put into these words by {model}", model=item.claim_by)))
    if recalled:
        facts.append(chip("accent", words.count("recalled by 1 recent run", "recalled by {n} recent runs", recalled)))
    return node("div", "facts small muted", *facts)


def effect_of(record: RunRecord) -> Effect:
    """Return the effect of memory on a run that consulted it."""
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
    """Count the runs that recalled each memory, by its id."""
    return Counter(name for record in records if record.recall for name in {item.id for item in record.recall.memories})


def recall_list(records: Sequence[RunRecord], words: Words, *, key: str, base: str = "") -> None:
    """Draw one line a run, newest first; ``base`` is what the address of the pages begins with."""
    draw_memory([node("ul", "recalls", *(_line(record, words, base) for record in records))], words, key=key)


def run_address(run_id: str, words: Words, base: str) -> str:
    """Return the address of a run in the workbench."""
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
        question=beginning(item.question, _QUESTION_BEGINNING),
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
