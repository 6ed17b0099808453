"""The decision map, the smallest changes and the remedy in words: every cell says what it knows, and no more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.ask.diagnosis import title, why_text
from components.ask.what_if_text import boundary_text
from components.common.i18n import words_for
from engine.model.config import RunConfig
from engine.model.values import Outcome, RunRecord
from engine.replay import what_if
from engine.replay.decision_boundaries import DecisionBoundary, Sweep, remedy
from engine.replay.decision_map import Cell, DecisionMap, decision_map
from engine.replay.diagnosis import Diagnosis, Failure, diagnose
from engine.replay.pinned import PinnedEffect
from engine.replay.table import run_table
from engine.samples.demos import demo_record
from pages.parts.ask.pinned_runs import effect_text
from pages.parts.ask.what_if_details import setting_of
from pages.parts.ask.what_if_map import (
    SIGNS,
    coupling_text,
    known_share,
    look_of,
    map_data,
    map_view,
    pairs_for,
    reachable,
    tip_of,
)

EN, ZH = words_for("en"), words_for("zh")
FORCED = demo_record("demo-forced-en")
RESCUED = demo_record("demo-rescue-zh")
FIGURES: dict[Failure, tuple[dict[str, float], ...]] = {
    "nothing_retrieved": ({"rounds": 1}, {"rounds": 3}),
    "dropped_by_similarity": (
        {"similarity": 0.29, "threshold": 0.3, "rank": 4, "top_k": 5},
        {"rank": 17, "top_k": 5, "refused": 1},
    ),
    "grader_too_strict": ({"p": 0.44, "bar": 0.5, "others": 0}, {"unreadable": 1, "others": 2}, {"others": 1}),
    "grader_too_lenient": ({"passed": 3, "expected": 1}, {"passed": 1}),
    "rewrite_drifted": ({"rate_first": 0.4, "rate_last": 0.2, "best_first": 0.5, "best_last": 0.4},),
    "budget_spent": ({"rewrites": 3, "passed": 2, "rate": 0.4, "bar": 0.6}, {"seconds": 11.2, "budget": 10.0}),
    "left_out": ({"round": 0},),
    "undetermined": (
        {"candidates": 20, "refused": 5, "unreadable": 0, "unjudged": 15, "best": 0.4},
        {"candidates": 2, "refused": 0, "unreadable": 1, "unjudged": 1},
        {"candidates": 1, "refused": 1, "unreadable": 0, "unjudged": 0, "best": 0.1},
    ),
    "unsupported_answer": (
        {"citations": 0, "sentences": 0, "verified": 1.0},
        {"citations": 1, "sentences": 2, "verified": 1.0},
        {"citations": 1, "sentences": 0, "verified": 0.0},
    ),
}


def drawn(record: RunRecord, config: RunConfig | None = None) -> DecisionMap:
    return decision_map(record, config or record.config, "grade_pass_threshold", "similarity_threshold")


def cell(outcome: Outcome | None, rewrites: int = 0, state: str = "known") -> Cell:
    return Cell(0, 0.2, 0.3, 0.4, state, outcome, "passed", rewrites, rewrites, 5, 0.1, 0.35)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shown", "look"),
    [
        (cell("answered"), "answered"),
        (cell("answered", rewrites=2), "late"),
        (cell("answered_forced", rewrites=3), "forced"),
        (cell("answered_unverified"), "forced"),
        (cell("abstained"), "abstained"),
        (cell("failed"), "failed"),
        (cell("answered", state="needs_calls"), "unknown"),
        (cell(None, state="generation"), "unknown"),
    ],
)
def test_a_cell_is_coloured_by_what_is_known_of_it(shown: Cell, look: str) -> None:
    assert look_of(shown) == look


@pytest.mark.parametrize("record", [FORCED, RESCUED])
def test_every_cell_says_what_a_what_if_at_its_values_says(record: RunRecord) -> None:
    """The map never guesses: a cell tried gives the outcome that it was coloured by."""
    shown = drawn(record)
    for item in shown.cells:
        config = replace(record.config, grade_pass_threshold=item.x_try, similarity_threshold=item.y_try)
        found = what_if(record, config)
        assert (found.state, found.outcome) == (item.state, item.outcome)
        assert (look_of(item) == "unknown") == (found.outcome is None)


def test_the_view_marks_the_sliders_and_the_run_and_signs_every_cell() -> None:
    config = replace(FORCED.config, grade_pass_threshold=0.2)
    view = map_view(drawn(FORCED, config), config, FORCED.config, ZH)
    assert sum(tile.here for tile in view.tiles) == 1 == sum(tile.ran for tile in view.tiles)
    assert len(view.tiles) == len(view.columns) * len(view.rows)
    data = map_data(view, ZH)
    assert all(item["sign"] in SIGNS.values() and item["tip"] for item in data["cells"])  # type: ignore[attr-defined]
    assert "{" not in str([item["tip"] for item in data["cells"]])  # type: ignore[attr-defined]


def test_the_coupling_of_similarity_and_gate_is_said() -> None:
    found = drawn(FORCED).coupling
    assert found is not None
    said = coupling_text(found, EN)
    assert "0.54 → 0.55" in said and "0.50 to 1.00" in said and "bar of 0.60" in said
    assert map_view(drawn(FORCED), FORCED.config, FORCED.config, ZH).note == coupling_text(found, ZH)


def test_an_unknown_cell_says_that_it_takes_calls() -> None:
    unknown = next(item for item in drawn(RESCUED).cells if look_of(item) == "unknown")
    assert tip_of(unknown, drawn(RESCUED), EN).endswith(EN("unknown"))


def test_no_more_passages_are_asked_for_than_top_k_keeps() -> None:
    config = replace(FORCED.config, gate="min_relevant", top_k=5)
    whole = decision_map(FORCED, config, "min_relevant", "min_confidence")
    shown = reachable(whole, config)
    assert whole.columns[-1][1] == 20 and shown.columns[-1][1] == 5
    assert len(shown.cells) == len(shown.columns) * len(shown.rows)
    assert max(item.x1 for item in shown.cells) == 5
    assert known_share(shown) > 0


def test_the_pairs_follow_the_gate() -> None:
    assert next(iter(pairs_for(RunConfig(gate="pass_rate")))) == "grade_pass_threshold.similarity_threshold"
    by_count = pairs_for(RunConfig(gate="min_relevant"))
    assert next(iter(by_count)) == "min_relevant.similarity_threshold"
    assert not any("grade_pass_threshold" in name for name in by_count)


def test_the_nearest_flip_is_a_sentence_with_both_values() -> None:
    boundary = DecisionBoundary("grade_pass_threshold", 0.6, 0.4, "answered", 0, 3, 5, "generation", 0.2)
    assert boundary_text(boundary, EN) == "pass rate 0.60 → 0.40: answered, 3 rewrites fewer"
    assert boundary_text(boundary, ZH) == "通过率 0.60 → 0.40：已作答，少 3 次改写"
    gate = DecisionBoundary("gate", "pass_rate", "min_relevant", "answered", 1, 0, 0, "known", 1.0)
    assert boundary_text(gate, EN) == "gate Pass rate → Number of relevant passages: answered"


def test_every_flip_of_a_demo_can_be_said_and_set() -> None:
    for boundary in Sweep(run_table(FORCED), FORCED.config).boundaries():
        assert "{" not in boundary_text(boundary, ZH)
        assert setting_of(f"set:{boundary.name}:{boundary.value_to}") == (boundary.name, str(boundary.value_to))
    assert setting_of("run:abc") is None


@pytest.mark.parametrize("record", [FORCED, RESCUED])
def test_merged_columns_are_labelled_with_their_whole_range_or_with_nothing(record: RunRecord) -> None:
    """The end of a range alone would name a single value where the column covers many."""
    labels = []
    for across, up in pairs_for(record.config).values():
        view = map_view(decision_map(record, record.config, across, up), record.config, record.config, EN)
        labels += [(band.label, band.span) for band in view.columns if band.label]
    assert any(span > 1 for _, span in labels)
    assert all(("–" in label) == (span > 1) for label, span in labels)


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("failure", FIGURES)
def test_every_failure_has_a_name_and_its_figures(failure: Failure, labelled: bool) -> None:
    for figures in FIGURES[failure]:
        found = Diagnosis(failure, figures, labelled=labelled)
        assert title(found, ZH)
        assert "{" not in why_text(found, ZH)


def test_the_remedy_of_a_demo_is_confirmed_by_a_what_if() -> None:
    found, change = diagnose(FORCED), remedy(FORCED, FORCED.config)
    assert found is not None and change is not None
    changed = replace(FORCED.config, **{change.name: change.value_to})  # type: ignore[arg-type]
    assert what_if(FORCED, changed).outcome == "answered"


@pytest.mark.parametrize(
    ("effect", "said"),
    [
        (None, ""),
        (PinnedEffect((), (), 20), "Watch list: no change"),
        (PinnedEffect((), (FORCED,), 20), "Watch list: 1 unknown"),
    ],
)
def test_what_the_change_does_to_pinned_runs_is_said(effect: PinnedEffect | None, said: str) -> None:
    assert effect_text(effect, EN) == said
