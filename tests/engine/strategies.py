"""Hypothesis strategies for rounds and configs, shared by the policy tests."""

from __future__ import annotations

from hypothesis import strategies as st

from engine.model.config import RunConfig
from engine.model.decide import gated, kept_passages
from engine.model.values import Passage, PassageId, Round, Verdict

fractions = st.floats(0, 1).map(lambda value: round(value, 4))

configs = st.builds(
    RunConfig,
    top_k=st.integers(1, 20),
    similarity_threshold=fractions,
    grade_pass_threshold=fractions,
    max_rewrites=st.integers(0, 5),
    min_confidence=fractions,
    min_relevant=st.integers(1, 20),
    gate=st.sampled_from(["pass_rate", "min_relevant"]),
    context=st.sampled_from(["union", "last_round"]),
    answer_unverified=st.booleans(),
    budget_s=st.floats(1, 100),
)

verdicts = st.builds(
    Verdict, relevant=st.sampled_from([True, False, None]), confidence=st.floats(0, 1), reason=st.just("because")
)


@st.composite
def rounds(draw: st.DrawFn, config: RunConfig, least: int = 1, most: int = 7) -> tuple[Round, ...]:
    """Consecutive rounds whose kept passages mostly have verdicts."""
    made = []
    for index in range(draw(st.integers(least, most))):
        similarities = sorted(draw(st.lists(fractions, max_size=8)), reverse=True)
        passages = [
            Passage(PassageId(f"p{draw(st.integers(0, 12))}-{place}"), "s.md", "text", similarity, similarity)
            for place, similarity in enumerate(similarities)
        ]
        bare = Round(index=index, query=f"q{index}", candidates=gated(passages, config))
        judged = {item.id: draw(verdicts) for item in kept_passages(bare, config) if draw(st.booleans())}
        made.append(Round(index=index, query=f"q{index}", candidates=bare.candidates, verdicts=judged))
    return tuple(made)
