"""The cards of Tune: each figure against what a what-if says of every single question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from statistics import mean, median

from components.common.i18n import Words
from components.tune.figures import Card, cards_of
from components.tune.question_changes import card_texts, change_text, side_text
from engine.evaluation.aggregate import evaluate
from engine.evaluation.cases import Case
from engine.evaluation.evidence import gather
from engine.evaluation.question_changes import question_changes
from engine.model.config import RunConfig
from engine.replay import WhatIf, what_if
from tests.evaluation.gathered import questions
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
        cards = cards_of(evaluate(evidence, [_BEFORE, tried]), words)
        for card in cards:
            said = f"{card.label}: {card.value} ({card.note})"
            yield Claim(said, tuple(_card_wrong(card, ends, words)))
        yield from _changes(question_changes(evidence, _BEFORE, tried), ends, words)


# -- what every question does, by hand -------------------------------------------------------------------------------


def _steps(case: Case, found: WhatIf) -> float | None:
    return found.cost.calls + found.cost.built_in_calls if found.path_known else None


def _seconds(case: Case, found: WhatIf) -> float | None:
    return found.cost.seconds if found.path_known else None


def _refused(case: Case, found: WhatIf) -> float | None:
    if case.answerable is not False or not found.path_known:
        return None
    return float(found.outcome not in _ANSWERED)


def _hit(case: Case, found: WhatIf) -> float | None:
    if not case.expected or not found.path_known:
        return None
    return float(any(item.id == wanted.value for item in found.passages for wanted in case.expected))


_MEASURES: Mapping[str, Callable[[Case, WhatIf], float | None]] = {
    "Model steps a question": _steps,
    "Time, median": _seconds,
    "Unanswerable refused": _refused,
    "Right passage in context": _hit,
}


def _about(key: str, case: Case) -> bool:
    """Whether a card is about a question."""
    return {"Unanswerable refused": case.answerable is False, "Right passage in context": bool(case.expected)}.get(
        key, True
    )


def _values(measure: Callable[[Case, WhatIf], float | None], ends: Ends) -> tuple[list[float], list[float]]:
    """Differences of the questions known on both sides, and values of those known after."""
    pairs = [(measure(case, old), measure(case, new)) for case, old, new in ends]
    moved = [new - old for old, new in pairs if old is not None and new is not None]
    return moved, [new for _, new in pairs if new is not None]


# -- what is said --------------------------------------------------------------------------------------------------


def _card_wrong(card: Card, ends: Ends, words: Words) -> Iterator[str]:
    key = next((key for key in _MEASURES if words(key) == card.label), None)
    if key is None:
        return
    moved, after = _values(_MEASURES[key], ends)
    population = sum(_about(key, case) for case, _, _ in ends)
    unknown = population - len(after)
    said = re.findall(r"[\d.]+(?: m?s)?", card.value)
    if key == "Unanswerable refused":
        true = [*dict.fromkeys((sum(after), sum(after) + unknown)), population]
        if [float(item) for item in numbers(card.value)] != true:
            yield " and ".join(f"{item:g}" for item in true)
    elif key == "Right passage in context" or not unknown:
        middle = median(after) if key == "Time, median" else mean([*after, *[0.0] * unknown])
        highest = mean([*after, *[1.0] * unknown])
        if not _near(said[0], middle) or (unknown and not _near(said[-1], highest)):
            yield f"it is {middle:.4f}"
    missing = population - len(moved)
    if missing and words("{n} unknown", n=missing) not in card.note:
        yield f"{missing} are unknown"
    told = re.search(r"([▲▼]) ([\d.]+(?: m?s)?)", card.note)
    if told and (mean(moved) > 0) != (told.group(1) == "▲"):
        yield f"it moved by {mean(moved):+.4f}"
    if told and not _near(told.group(2), abs(mean(moved))):
        yield f"it moved by {abs(mean(moved)):.4f} on average"
    if told and key == "Time, median" and words("{change} on average", change="").strip() not in card.note:
        yield "the change is an average beside a median"
    if card.note == words("= as compared") and (any(moved) or len(moved) != len(after)):
        yield "not all are the same"
    counted = re.search(r"n = (\d+)", card.note)
    if counted and "；" not in card.note and ";" not in card.note and int(counted.group(1)) != len(moved):
        yield f"{len(moved)} questions are compared"


def _changes(found: object, ends: Ends, words: Words) -> Iterator[Claim]:
    from engine.evaluation.question_changes import QuestionChanges

    assert isinstance(found, QuestionChanges)
    heading, counts, second = card_texts(found, words)
    said = " · ".join((heading, *counts.values(), second))
    wrong = []
    unknown = sum(not (old.path_known and new.path_known) for _, old, new in ends)
    told = {name: int(numbers(text)[0]) for name, text in counts.items()}
    if told.get("unknown", 0) != unknown:
        wrong.append(f"{unknown} unknown")
    flipped = sum(number for name, number in told.items() if name != "unknown")
    about = len(ends) if flipped or unknown in (0, len(ends)) else len(ends) - unknown
    if about not in [int(item) for item in numbers(heading)] and unknown < len(ends):
        wrong.append(f"{about} questions")
    if flipped and flipped not in [int(item) for item in numbers(heading)]:
        wrong.append(f"{flipped} flips")
    others = [case.id for case, old, new in ends if _end(old) != _end(new)]
    if second == words("No question goes another way than with the settings compared.") and others:
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
