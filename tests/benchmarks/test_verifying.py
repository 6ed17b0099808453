"""The marked sentences, and how verifiers are scored on them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.benchmarks.model_grading import Kept
from tests.benchmarks.verifying import Found, WordVerifier, auc, checked, f1_of_unsupported, interval, marked


def test_a_hundred_sentences_are_marked_half_of_them_chinese() -> None:
    found = marked()
    assert Counter(item.language for item in found) == {"en": 50, "zh": 50}
    assert Counter(item.supported for item in found) == {True: 48, False: 52}
    assert all(item.supported == (item.kind in ("said", "paraphrase")) and item.passage for item in found)
    assert len({item.sentence for item in found}) == len({item.id for item in found}) == 100


def test_f1_counts_what_was_found_and_an_unchecked_sentence_is_not() -> None:
    right, wrong = (next(item for item in marked() if item.supported is truth) for truth in (True, False))
    found = [Found(wrong, 0.1, 0.0), Found(wrong, None, 0.0), Found(right, 0.2, 0.0), Found(right, 0.5, 0.0)]
    assert f1_of_unsupported(found) == pytest.approx(0.5)
    assert auc(found) == 1.0
    low, high = interval(found)
    assert low == 0.0 and high == pytest.approx(1.0)


def test_the_built_in_verifier_calls_little_wrong_and_misses_most(tmp_path: Path) -> None:
    found = checked(WordVerifier(), marked(), Kept(tmp_path / "kept.jsonl"))
    assert 0.15 < f1_of_unsupported(found) < 0.3
    assert sum(item.p_supported == 0.0 for item in found if item.marked.supported) <= 2
