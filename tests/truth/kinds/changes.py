"""Remedies and smallest changes: where a change leads, what it saves, and which rejected passages it lets in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from components.ask.what_if_text import boundary_text
from components.common.i18n import Words
from components.common.outcomes import outcome_text
from engine.model.config import RunConfig
from engine.model.values import RunRecord
from engine.replay import WhatIf, what_if
from engine.replay.decision_boundaries import DecisionBoundary, Sweep, remedy
from engine.replay.table import run_table
from tests.truth.claims import Claim, numbers


def claims(record: RunRecord, words: Words) -> Iterator[Claim]:
    table = run_table(record)
    # Boundaries of other runs are on no page: they would be replayed setting by setting.
    if not table.plain or record.outcome in ("cancelled", "failed", "interrupted"):
        return
    boundaries = Sweep(table, record.config).boundaries()
    mended = remedy(record, record.config)
    for boundary in boundaries:
        said = boundary_text(boundary, words)
        yield Claim(said, tuple(_wrong(said, boundary, record, words)))
    if mended is not None:
        said = boundary_text(mended, words)
        wrong = [*_wrong(said, mended, record, words)]
        if _rejected(what_if(record, _moved(record, mended)), record):
            wrong.append("a remedy lets in what the grader rejected")
        if mended.name == "min_confidence" and any(
            boundary.outcome == "answered" and boundary.name in ("gate", "similarity_threshold", "top_k")
            for boundary in boundaries
        ):
            wrong.append("another setting would do, and the grader's bar is to be lowered")
        yield Claim(said, tuple(wrong))
    lets_in = [bool(_rejected(what_if(record, _moved(record, boundary)), record)) for boundary in boundaries]
    if boundaries:
        order = "what lets rejected passages in does not come last"
        yield Claim(str(lets_in), () if lets_in == sorted(lets_in) else (order,))


def _moved(record: RunRecord, boundary: DecisionBoundary) -> RunConfig:
    changes: dict[str, Any] = {boundary.name: boundary.value_to}
    return replace(record.config, **changes)


def _wrong(said: str, boundary: DecisionBoundary, record: RunRecord, words: Words) -> Iterator[str]:
    there = what_if(record, _moved(record, boundary))
    named, consequence = said.split(": ", 1) if words.language == "en" else said.split("：", 1)
    if boundary.name != "gate" and [float(item) for item in numbers(named)][-2:] != [
        boundary.value_from,
        boundary.value_to,
    ]:
        yield "the values are not those of the change"
    if boundary.value_from == boundary.value_to or (boundary.name != "gate" and len(set(numbers(named)[-2:])) < 2):
        yield "both values look the same"
    if there.outcome != boundary.outcome or not there.path_known:
        yield f"it would be {outcome_text(there.outcome, words)}"
    if not consequence.lower().startswith(outcome_text(there.outcome, words, there.answer_note).lower()):
        yield "another end"
    rejected = _rejected(there, record)
    refused = len(re.findall(r"\(not relevant|（评为不相关", consequence))
    more = re.search(r"; and (\d+) more|；另有 (\d+) 个", consequence)
    others = int(more[1] or more[2]) if more else 0
    if not refused <= rejected <= refused + others:
        yield f"{rejected} of {len(there.passages)} passages given were judged not relevant"
    rewrites = sum(item.round >= 0 for item in record.rewrites) - there.rewrites
    saved = re.search(r"(\d+) (?:fewer )?rewrites? ?(less|fewer|more)?|[少多] (\d+) 次改写", consequence)
    if (int(next(item for item in saved.groups() if item and item.isdigit())) if saved else 0) != abs(rewrites):
        yield f"the rewrites differ by {rewrites}"


def _rejected(there: WhatIf, record: RunRecord) -> int:
    """Passages given in whose verdict, newest readable first, the grader said no."""
    verdicts: dict[str, bool] = {}
    for current in record.rounds:
        verdicts |= {
            name: verdict.relevant for name, verdict in current.verdicts.items() if verdict.relevant is not None
        }
    return sum(verdicts.get(passage.id) is False for passage in there.passages)
