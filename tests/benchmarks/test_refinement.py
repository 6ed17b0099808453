"""What refinement saves and keeps on the samples: GH-06."""

from __future__ import annotations

from engine.model.config import RunConfig
from tests.benchmarks.refinement import measured


def test_refinement_saves_a_fifth_of_the_context_and_keeps_what_answers() -> None:
    """GH-06"""
    found = measured(RunConfig().sentence_threshold, every=4)
    assert found.saved > 0.2
    assert found.quotes_kept > 0.85
    assert found.best_kept > 0.85
    assert found.gold_kept > 0.95
