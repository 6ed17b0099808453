"""A set of questions is not measured on a collection that holds nothing of what it expects."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import EvaluationError, UnknownQuerySet
from engine.evaluation.cases import SAMPLE_SET, Case, Expectation, QuerySet
from engine.evaluation.matching import refuse_uncovered, source_coverage
from engine.evaluation.store import EvaluationStore
from tests.support.errors import raises


def case(name: str, *expected: Expectation) -> Case:
    return Case(name, f"{name}?", expected)


CASES = (
    case("by source", Expectation("source", "caf\u00e9.md")),
    case("by passage", Expectation("passage", "b.md#3"), Expectation("passage", "b.md#4")),
    case("by text", Expectation("text", "no name at all")),
    case("unlabelled"),
)


def test_sources_are_counted_once_by_name_in_any_unicode_form() -> None:
    found = source_coverage(CASES, "mine", ["cafe\u0301.md", "other.md"])
    assert (found.present, found.expected, found.nowhere, found.partly) == (1, 2, False, True)
    assert not source_coverage(CASES, "mine", ["café.md", "b.md"]).partly


def test_a_collection_without_any_of_them_is_refused_with_the_count() -> None:
    with raises(EvaluationError.set_not_covered) as raised:
        refuse_uncovered(source_coverage(CASES, "samples", ["dm-sets.en.md"]))
    assert "0 of 2 expected sources exist in the collection 'samples'" in raised.value.fact


def test_a_set_that_names_no_source_is_not_refused() -> None:
    found = source_coverage(CASES[2:], "samples", [])
    assert (found.expected, found.nowhere) == (0, False)
    refuse_uncovered(found)


def test_a_set_is_bound_to_another_collection(tmp_path: Path) -> None:
    with EvaluationStore(tmp_path / "tune.db") as store:
        store.save_query_set(QuerySet("mine", CASES, "samples", "mine.csv"))
        store.bind_query_set("mine", "docs")
        assert store.query_set("mine") == QuerySet("mine", CASES, "docs", "mine.csv")
        with pytest.raises(UnknownQuerySet):
            store.bind_query_set("absent", "docs")
        with raises(EvaluationError.set_reserved):
            store.bind_query_set(SAMPLE_SET, "docs")
