"""Cohen's κ, against scikit-learn's."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluation.annotation.agreement import agreements, kappa
from engine.evaluation.annotation.pairs import Judgement

SAID = st.sampled_from(["yes", "in_part", "no"])


@given(st.lists(st.tuples(SAID, SAID), min_size=1, max_size=40))
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    from sklearn.metrics import cohen_kappa_score

    found = kappa(pairs)
    one_class = len({name for pair in pairs for name in pair}) == 1
    if one_class:
        assert found is None
        return
    expected = cohen_kappa_score([one for one, _ in pairs], [other for _, other in pairs])
    assert found is not None and math.isclose(found, expected, abs_tol=1e-9)


def test_judges_are_compared_with_each_other_and_with_graders_on_what_both_judged() -> None:
    said = [
        Judgement("a", "Ada", "yes", True),
        Judgement("b", "Ada", "no", True),
        Judgement("a", "Bo", "yes", True),
        Judgement("c", "Bo", "no", True),
        Judgement("z", "Cy", "no", True),
    ]
    found = {(item.first, item.second): item for item in agreements(said, {"builtin": {"a": "yes", "b": "yes"}})}
    assert set(found) == {("Ada", "Bo"), ("Ada", "builtin"), ("Bo", "builtin")}
    with_grader = found["Ada", "builtin"]
    assert (with_grader.n, with_grader.same) == (2, 1) and with_grader.kappa == pytest.approx(0.0)
    assert found["Ada", "Bo"].kappa is None and kappa([]) is None
