"""How far a slider may move without changing the end, and what a change does to pinned runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.model.config import RunConfig
from engine.model.values import RunRecord
from engine.replay import what_if
from engine.replay.decision_boundaries import Sweep
from engine.replay.lines import NUMBERS
from engine.replay.pinned import pinned_effect
from engine.replay.settings import Column
from engine.replay.table import run_table
from engine.samples.demos import demo_record, demos

RECORDS = [demo_record(item.id) for item in demos() if item.language == "en"]
FORCED = demo_record("demo-forced-en")


def end(record: RunRecord, config: RunConfig) -> tuple[object, ...]:
    found = what_if(record, config)
    return found.path_known, found.outcome, found.reason, len(found.steps)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.id)
@pytest.mark.parametrize("name", NUMBERS)
def test_both_ends_of_the_range_lead_where_the_setting_itself_leads(record: RunRecord, name: Column) -> None:
    low, high = Sweep(run_table(record), record.config).stable_ranges((name,))[name]
    assert low <= getattr(record.config, name) <= high
    for value in (low, high):
        changes: dict[str, Any] = {name: value}
        assert end(record, replace(record.config, **changes)) == end(record, record.config)


def test_beyond_the_range_something_else_happens_or_is_not_known() -> None:
    low, _ = Sweep(run_table(FORCED), FORCED.config).stable_ranges(("grade_pass_threshold",))["grade_pass_threshold"]
    beyond = replace(FORCED.config, grade_pass_threshold=round(low - 0.0001, 4))
    assert end(FORCED, beyond) != end(FORCED, FORCED.config)


def test_where_the_end_is_not_known_nothing_is_called_the_same() -> None:
    config = replace(FORCED.config, similarity_threshold=0.99, max_rewrites=5)
    assert not what_if(FORCED, config).path_known
    assert "similarity_threshold" not in Sweep(run_table(FORCED), config).stable_ranges(("similarity_threshold",))


def test_a_lower_bar_makes_a_pinned_run_better_and_a_higher_one_is_not_known() -> None:
    low = pinned_effect([FORCED], lambda item: item.config, lambda item: replace(item.config, grade_pass_threshold=0.2))
    assert (low.total, low.count("better"), low.count("worse"), low.unknown) == (1, 1, 0, ())
    back = pinned_effect(
        [FORCED], lambda item: replace(item.config, grade_pass_threshold=0.2), lambda item: item.config
    )
    assert back.count("worse") == 1
    deeper = pinned_effect([FORCED], lambda item: item.config, lambda item: replace(item.config, top_k=20))
    assert deeper.unknown == (FORCED,) or deeper.changes == ()


def test_nothing_flips_where_nothing_changes() -> None:
    effect = pinned_effect(RECORDS, lambda item: item.config, lambda item: item.config)
    assert (effect.changes, effect.total) == ((), len(RECORDS))
