"""What graph and vectors together gain on questions of two hops, really asked: built-in roles are deterministic."""

from __future__ import annotations

from math import comb
from statistics import fmean

import pytest

from tests.benchmarks.modes import Measured, gains, measured, table_of


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return measured(tmp_path_factory.mktemp("modes"), ("naive", "mix"))


def test_graph_and_vectors_find_more_of_both_passages_than_vectors_alone(found: Measured) -> None:
    """GH-02: on the graph written by hand; ``python -m tests.benchmarks modes`` says how much, in every mode."""
    by_question = gains(found)
    assert fmean(by_question) >= 0.1
    won, lost = sum(gain > 0 for gain in by_question), sum(gain < 0 for gain in by_question)
    by_chance = sum(comb(won + lost, most) for most in range(lost + 1)) / 2 ** (won + lost)
    assert by_chance < 0.05, "a sign test: chance would take a passage from as few questions in one of twenty cases"
    for language in ("en", "zh"):
        both = [fmean(one.both for one in found[way] if one.item.language == language) for way in ("naive", "mix")]
        assert both[1] > both[0], language


def test_every_mode_did_its_own_work_and_none_was_replaced(found: Measured) -> None:
    """GH-02"""
    for one in found["mix"]:
        evidence = one.record.rounds[0].graph
        assert evidence is not None
        assert not evidence.fell_back_to
        assert not {note.code for note in evidence.notes} - {"no_entity"}, one.item.id
        assert len(one.record.rounds[0].candidates) >= one.record.config.top_k


def test_the_table_has_a_line_for_every_way(found: Measured) -> None:
    assert [line.split("|")[1].strip() for line in table_of(found).splitlines()[2:]] == ["naive", "mix"]
