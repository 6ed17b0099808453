"""What a run suffered from, and what its gate cost: every figure against the record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from components.ask.diagnosis import why_text
from components.common.i18n import Words
from components.common.outcomes import round_text
from engine.model.values import PassageId, RunRecord, Verdict
from engine.replay import what_if
from engine.replay.diagnosis import Diagnosis, diagnose
from engine.replay.gate_cost import gate_cost
from pages.parts.ask.why import gate_cost_text
from tests.truth.claims import Claim, numbers


def claims(record: RunRecord, words: Words) -> Iterator[Claim]:
    labels = [None, _some_expected(record)]
    for met in labels:
        found = diagnose(record, met)
        if found is not None:
            said = why_text(found, words)
            yield Claim(said, tuple(_wrong(said, found, record, set(met or ()))))


def gate_cost_claims(record: RunRecord, words: Words) -> Iterator[Claim]:
    """The verified passages that were enough at that round, and what came after it."""
    cost = gate_cost(record)
    if cost is None:
        return
    said = gate_cost_text(cost, words)
    counts = [int(float(item)) for item in numbers(said)]
    union = record.config.context == "union"
    rounds = record.rounds[: cost.round + 1] if union else record.rounds[cost.round : cost.round + 1]
    passing = {name for current in rounds for name in _passing(current.index, record)}
    wrong = [] if len(passing) in counts and len(passing) >= record.config.min_relevant else [f"{len(passing)} passed"]
    wrong += [] if round_text(cost.round, words) in said else [f"round {cost.round}"]
    other = what_if(record, replace(record.config, gate="min_relevant"))
    if other.path_known:
        saved = len(record.rewrites) - other.rewrites
        printed = re.search(r"(\d+) rewrites?|(\d+) 次改写", said)
        if printed is None or int(printed.group(1) or printed.group(2)) != saved:
            wrong.append(f"{saved} rewrites would have been saved")
        if (last := other.decisions[-1]).round != cost.round and record.workflow == "self_corrective":
            wrong.append(f"that gate is met in round {last.round}")
    yield Claim(said, tuple(wrong))


def _some_expected(record: RunRecord) -> dict[PassageId, tuple[int, ...]]:
    """As if the third candidate of the first round and the best of the last were the right ones."""
    found = [current.candidates for current in record.rounds if current.candidates]
    return {item.passage.id: (0,) for item in (found[0][2:3] + found[-1][:1] if found else ())}


def _wrong(said: str, found: Diagnosis, record: RunRecord, expected: set[PassageId]) -> Iterator[str]:
    printed = [float(item) for item in numbers(said)]
    seen = [item for current in record.rounds for item in current.candidates]
    verdicts = _verdicts(record)
    config = record.config
    match found.failure:
        case "nothing_retrieved":
            searches = sum(current.searched for current in record.rounds)
            if printed and printed != [searches]:
                yield f"{searches} searches"
        case "dropped_by_similarity":
            about = [item for item in seen if item.passage.id in found.passages]
            shown = numbers(said)
            if not any(_near(printed[0], item.passage.similarity) and printed[1] == item.rank for item in about):
                yield "no candidate stands there"
            if not _near(printed[2], config.similarity_threshold) or printed[3] != config.top_k:
                yield "the gates are others"
            if all(item.gate != "kept" for item in about) and shown[0] == shown[2]:
                yield "similarity and threshold look the same"
        case "grader_too_strict":
            p = verdicts[found.passages[0]].p_relevant
            if not (_near(printed[0], p) and _near(printed[1], config.min_confidence)):
                yield f"P is {p:.4f}"
            if "takes" in said and not printed[0] < printed[1]:
                yield "it does not miss the bar as printed"
        case "grader_too_lenient":
            given = len(record.context.passages) if record.context else 0
            kept = {item.passage.id for item in seen if item.gate == "kept"} & expected
            if printed != [given, len(kept)]:
                yield f"{given} given, {len(kept)} kept"
        case "budget_spent" if "seconds" in found.figures:
            if record.decisions[-1].reason != "deadline":
                yield "the time was not used up"
        case "budget_spent":
            yield from _spent_wrong(printed, record)
        case "rewrite_drifted":
            shown = numbers(said)
            if not (float(shown[0]) > float(shown[1]) and float(shown[2]) > float(shown[3])):
                yield "nothing fell as printed"
        case "undetermined":
            refused = sum(verdict.relevant is not None for verdict in verdicts.values())
            parts = [refused, len(verdicts) - refused, len(record.passages.keys() - verdicts.keys())]
            # One thing is said without its number.
            if not set(printed) <= set(parts) or not {item for item in parts if item > 1} <= set(printed):
                yield f"{parts} refused, unreadable, not judged"
            if any(verdict.passes(config.min_confidence) for verdict in verdicts.values()):
                yield "some pass"
        case "unsupported_answer" if record.context is not None and record.context.verified:
            if printed != ([len(record.unsupported_sentences)] if record.unsupported_sentences else []):
                yield "sentences without support"


def _spent_wrong(printed: list[float], record: RunRecord) -> Iterator[str]:
    passed = {name for current in record.rounds for name in _passing(current.index, record)}
    best = max(item.passed / item.kept if item.kept else 0.0 for item in record.decisions)
    by_count = record.config.gate == "min_relevant"
    middle = [record.config.min_relevant] if by_count else [best, record.config.grade_pass_threshold]
    for shown, true in zip(printed, [len(passed), *middle, len(record.rewrites)], strict=True):
        if not _near(shown, true):
            yield f"{shown} is {true}"
    if not by_count and not printed[1] < printed[2]:
        yield "the rate reaches the bar as printed"


def _passing(index: int, record: RunRecord) -> set[PassageId]:
    current = record.rounds[index]
    kept = {item.passage.id for item in current.candidates if item.gate == "kept"}
    return {n for n in kept & set(current.verdicts) if current.verdicts[n].passes(record.config.min_confidence)}


def _verdicts(record: RunRecord) -> dict[PassageId, Verdict]:
    said = [(name, verdict) for current in record.rounds for name, verdict in current.verdicts.items()]
    unread = [item for item in said if item[1].relevant is None]
    return dict([*reversed(unread), *(item for item in said if item[1].relevant is not None)])


def _near(shown: float, true: float) -> bool:
    return abs(shown - true) <= 0.00501
