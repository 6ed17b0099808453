"""The tiles and questions of Tune: each figure against what a what-if says of every single question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import mean

from components.common.i18n import Words
from engine.evaluation.aggregate import evaluate
from engine.evaluation.cases import Case
from engine.evaluation.evidence import gather
from engine.evaluation.question_changes import QuestionChanges
from engine.model.config import RunConfig
from engine.replay import WhatIf, what_if
from pages.parts.tune.questions import change_text, changed_text, side_text
from pages.parts.tune.tiles import Tile, tiles_of
from tests.evaluation.gathered import question_changes, questions
from tests.truth.claims import Claim, numbers

_BEFORE = RunConfig(gate="pass_rate", grade_probe=True)
_TRIED = (
    _BEFORE,
    replace(_BEFORE, grade_pass_threshold=0.0),
    replace(_BEFORE, grade_pass_threshold=0.4),
    replace(_BEFORE, grade_pass_threshold=1.0, max_rewrites=1),
    replace(_BEFORE, similarity_threshold=0.45, top_k=3),
    replace(_BEFORE, gate="min_relevant", min_relevant=2),
    replace(_BEFORE, max_rewrites=0),
    replace(_BEFORE, answer_unverified=True, min_confidence=0.8),
)
_ANSWERED = ("answered", "answered_forced", "answered_unverified", "fallback")
Ends = list[tuple[Case, WhatIf, WhatIf]]
"""Every question with what it does under the settings compared and under those tried."""


def claims(words: Words) -> Iterator[Claim]:
    cases, records = questions(24, _BEFORE)
    evidence = gather(cases, records)
    for tried in _TRIED:
        ends = [(case, what_if(records[case.id], _BEFORE), what_if(records[case.id], tried)) for case in cases]
        for place, tile in enumerate(tiles_of(evaluate(evidence, [_BEFORE, tried]), words)):
            said = f"{tile.label}: {tile.value} ({tile.note})"
            yield Claim(said, tuple(_tile_wrong(place, tile, ends, words)))
        yield from _changes(question_changes(evidence, _BEFORE, tried), ends, words)


# -- what every question does, by hand -------------------------------------------------------------------------------


def _right(case: Case, found: WhatIf) -> float | None:
    """No question has gold answers: right is what refuses an unanswerable one, or is given an expected passage."""
    if not found.path_known:
        return None
    answered = found.outcome in _ANSWERED
    if case.answerable is False:
        return float(not answered)
    return float(answered and any(item.id == wanted.value for item in found.passages for wanted in case.expected))


def _wrong(case: Case, found: WhatIf) -> float | None:
    right = _right(case, found)
    return None if right is None or found.outcome not in _ANSWERED else 1.0 - right


def _steps(case: Case, found: WhatIf) -> float | None:
    return found.cost.calls + found.cost.built_in_calls if found.path_known else None


_MEASURES: tuple[Callable[[Case, WhatIf], float | None], ...] = (_right, _wrong, _steps)
"""Of the tiles, in their order."""


# -- what is said --------------------------------------------------------------------------------------------------


def _tile_wrong(place: int, tile: Tile, ends: Ends, words: Words) -> Iterator[str]:
    said = [float(item) for item in numbers(tile.value)]
    if place == len(_MEASURES):
        # An answer that has to be read may be missing where the path is known.
        known = sum(new.path_known for _, _, new in ends)
        if said[-1] != len(ends) or said[0] > known:
            yield f"{known} of {len(ends)}"
        return
    pairs = [(_MEASURES[place](case, old), _MEASURES[place](case, new)) for case, old, new in ends]
    after = [new for _, new in pairs if new is not None]
    moved = [new - old for old, new in pairs if old is not None and new is not None]
    unknown = sum(not new.path_known for _, _, new in ends)
    if place == 2:
        if not unknown and len(said) == 1 and not _near(f"{said[0]:.1f}", mean(after)):
            yield f"it is {mean(after):.4f}"
    elif len(said) == 2:
        if unknown or said != [sum(after), len(after)]:
            yield f"{sum(after):g} of {len(after)}, {unknown} unknown"
    elif not said[0] <= sum(after) <= said[1] or said[3] < unknown:
        yield f"{sum(after):g} are known, {unknown} unknown"
    moved_by = re.search(r"([▲▼]) ([\d.]+)", tile.note)
    if moved_by and ((mean(moved) > 0) != (moved_by.group(1) == "▲") or not _near(moved_by.group(2), abs(mean(moved)))):
        yield f"it moved by {mean(moved):+.4f} on average"
    if tile.note == words("same as baseline") and any(moved):
        yield "not all are the same"


def _changes(found: QuestionChanges, ends: Ends, words: Words) -> Iterator[Claim]:
    said = changed_text(found, words)
    wrong = []
    unknown = sum(not (old.path_known and new.path_known) for _, old, new in ends)
    if unknown != found.unknown or (unknown and str(unknown) not in numbers(said)):
        wrong.append(f"{unknown} unknown")
    others = [case.id for case, old, new in ends if _end(old) != _end(new)]
    same = words.count("same on 1 question", "same on {n} questions", len(ends))
    if said == same and others:
        wrong.append(f"{len(others)} go another way")
    yield Claim(said, tuple(wrong))
    by_id = {case.id: (old, new) for case, old, new in ends}
    for row in found.shown:
        old, new = by_id[row.case_id]
        sides = f"{side_text(row.before, words)} → {side_text(row.after, words)}: {change_text(row, words)}"
        wrong = []
        for side, end in ((row.before, old), (row.after, new)):
            if side.known and (side.outcome, side.round) != _end(end):
                wrong.append(f"it ends {_end(end)}")
        steps = [cost.calls + cost.built_in_calls for cost in (old.cost, new.cost)]
        if row.reason in ("fewer_calls", "more_calls") and [abs(steps[1] - steps[0])] != [
            int(item) for item in numbers(change_text(row, words))
        ]:
            wrong.append(f"{steps[0]} → {steps[1]} steps")
        yield Claim(sides, tuple(wrong))


def _end(found: WhatIf) -> tuple[object, object]:
    return found.outcome, found.steps[-1].round.index if found.steps else None


def _near(shown: str, true: float) -> bool:
    number = re.match(r"[\d.]+", shown)
    if number is None:
        return False
    scale = 1000.0 if shown.endswith(" ms") else 1.0
    digits = len(number.group().partition(".")[2])
    step = 10.0 if scale == 1000.0 and true >= 0.0995 else 10.0**-digits
    return bool(abs(float(number.group()) - true * scale) <= 0.5 * step + 1e-6)
