"""Cards, scorecards, node facts, decision path, quality table: each figure against the record."""

from __future__ import annotations

import re
from collections.abc import Iterator

from components.common.i18n import Words
from components.common.outcomes import round_text
from components.picture.facts import facts_of
from components.runs.figures import figures_of
from components.sentences.decisions import followed_text
from components.workflows.quality_chart import quality_nodes
from engine.model.values import RunRecord
from pages.parts.ask.rewrites import EFFECT_NAMES, history_nodes
from tests.truth.claims import Claim, rows_of

_COURSE = re.compile(r"(\d\.\d+) → (\d\.\d+)")
_MOVED = re.compile(r"(▲|▼|=)(?: (\d\.\d+))?")


def claims(record: RunRecord, words: Words) -> Iterator[Claim]:
    yield from _cards(record, words)
    yield from _scorecards(record, words)
    yield from _node_facts(record, words)
    yield from _decisions(record, words)
    yield from _quality(record, words)


# -- the record, read by hand --------------------------------------------------------------------------------------


def rates(record: RunRecord) -> dict[int, float]:
    graded = [item for item in record.decisions if item.node in ("grade", "grade_documents")]
    return {item.round: item.passed / item.kept if item.kept else 0.0 for item in graded}


def scores(record: RunRecord) -> dict[int, float]:
    checks = {item.index: item.quality for item in record.rounds if item.quality is not None}
    return {at: item.score if item.graded_on == "weighted" else item.top3 for at, item in checks.items()}


def similarities(record: RunRecord) -> dict[int, float]:
    found = {item.index: [c.passage.similarity for c in item.candidates] for item in record.rounds}
    return {at: max(values) for at, values in found.items() if values}


def moved_wrongly(said: str, before: float, after: float) -> Iterator[str]:
    """What is wrong with ``0.40 → 0.60 ▲ 0.20``: both ends, the size, and that a change looks like one."""
    ends, moved = _COURSE.search(said), _MOVED.search(said)
    if ends is None or moved is None:
        yield "there is no course"
        return
    for shown, true in ((ends.group(1), before), (ends.group(2), after)):
        if not _rounds_to(shown, true):
            yield f"{shown} is {true:.5f}"
    sign, size = moved.groups()
    yield from _size_wrong(sign, size, before, after)
    if (ends.group(1) == ends.group(2)) != (sign == "="):
        yield "the ends and the sign disagree"


def _size_wrong(sign: str, size: str | None, before: float, after: float) -> Iterator[str]:
    change = after - before
    if abs(change) >= 0.0005 and sign not in (("▲", "+") if change > 0 else ("▼", "−")):
        yield f"it moved by {change:+.5f}"
    if sign in ("=", "±"):
        if abs(change) >= 0.001:
            yield f"it moved by {change:+.5f}"
    elif size is None or float(size) == 0 or not _rounds_to(size, abs(change)):
        yield f"{size} is {abs(change):.5f}"


def _rounds_to(shown: str, true: float) -> bool:
    digits = len(shown.partition(".")[2])
    return bool(abs(float(shown) - true) <= 0.5 / 10**digits + 1e-9)


# -- what is said --------------------------------------------------------------------------------------------------


def _cards(record: RunRecord, words: Words) -> Iterator[Claim]:
    for figure in figures_of(record, words):
        said = f"{figure.label}: {figure.value} ({figure.note})"
        measure = {words("Pass rate"): rates, words("Quality score"): scores}.get(figure.label)
        if measure is not None and len(values := list(measure(record).values())) > 1:
            yield Claim(said, tuple(moved_wrongly(f"{figure.value} {figure.note}", values[0], values[-1])))
        if figure.label == words("Best similarity") and (found := similarities(record)):
            best = [] if _rounds_to(figure.value, max(found.values())) else [f"the best is {max(found.values()):.4f}"]
            course = re.findall(r"\d\.\d+", figure.note)[: len(found)] if len(found) > 1 else []
            best += [f"{shown} is {true:.4f}" for shown, true in zip(course, found.values(), strict=bool(course))
                     if not _rounds_to(shown, true)] if course else []  # fmt: skip
            yield Claim(said, tuple(best))


def _scorecards(record: RunRecord, words: Words) -> Iterator[Claim]:
    cards = history_nodes(record, words)
    for rewrite, card in zip(record.rewrites, cards, strict=True):
        said = card.text
        for label, values in ((words("Pass rate"), rates(record)), (words("Best similarity"), similarities(record)),
                              (words("Quality score"), scores(record))):  # fmt: skip
            after = next((item for item in record.rounds if item.index == rewrite.round + 1), None)
            change = re.search(rf"{label}\s+(\d\.\d+ → \d\.\d+\s+(?:[▲▼] \d\.\d+|=))", said)
            if change is None or after is None:
                continue
            wrong = list(moved_wrongly(change.group(1), values[rewrite.round], values[rewrite.round + 1]))
            judged = next((key for key in ("helped", "none", "harmed") if words(EFFECT_NAMES[key]) in said), "")
            by = words("Quality score") if record.workflow == "quality_loop" else words("Pass rate")
            if label == by and "▲" in change.group(1) and judged != "helped":
                wrong.append(f"it rose and is called {judged}")
            if label == by and record.workflow == "quality_loop" and "▼" in change.group(1) and judged != "harmed":
                wrong.append(f"it fell and is called {judged}")
            yield Claim(change.group(), tuple(wrong))


def _node_facts(record: RunRecord, words: Words) -> Iterator[Claim]:
    if not record.rewrites:
        return
    for name in ("rewrite", "refine_query"):
        if not any(item.node == name for item in record.nodes):
            continue
        said = " / ".join(line[0] for line in facts_of(name, record, words, "passed"))
        change = re.search(r"([+−±])(\d\.\d+) · (.+?) → (.+?) · ", f"{said} · ")
        if change is not None:
            values = scores(record) if record.workflow == "quality_loop" else rates(record)
            rounds = {round_text(item.index, words): item.index for item in record.rounds}
            sign, size, before, after = change.groups()
            wrong = list(_size_wrong(sign, size, values[rounds[before]], values[rounds[after]]))
            newest = rounds[after] == record.rewrites[-1].round + 1
            yield Claim(said, (*wrong, *([] if newest else ["another rewrite"])))
        elif re.search(r"[+−±]\d\.\d", said):
            yield Claim(said, ("it does not say between which rounds",))


def _decisions(record: RunRecord, words: Words) -> Iterator[Claim]:
    for decision in record.decisions:
        said = followed_text(decision, record, words)
        if decision.route != "rewrite" or " · " not in said:
            continue
        change = said.rpartition(" · ")[2]
        if not (found := re.search(r"(?:([▲▼]) (\d\.\d+)|=)$", change)):
            continue
        values = scores(record) if record.workflow == "quality_loop" else rates(record)
        before, after = values[decision.round], values[decision.round + 1]
        yield Claim(change, tuple(_size_wrong(found.group(1) or "=", found.group(2), before, after)))


def _quality(record: RunRecord, words: Words) -> Iterator[Claim]:
    found = scores(record)
    if record.workflow != "quality_loop" or len(found) < 2:
        return
    for row in rows_of(quality_nodes(record, words)[0]):
        change = re.search(r"(▲|▼|=)(?: (\d\.\d+))?$", row.text)
        at = re.match(r"r(\d+)", row.text)
        if change and at:
            index = int(at.group(1))
            yield Claim(row.text, tuple(_size_wrong(change.group(1), change.group(2), found[index - 1], found[index])))
