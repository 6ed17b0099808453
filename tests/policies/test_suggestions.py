"""Which suggestions the next answer addressed: AE-07."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.values import Draft, Evaluation, Suggestion
from engine.model.wording import suggested
from engine.workflows.answer_evaluation.suggestions import SuggestionState, suggestion_states


def draft(index: int, text: str, *suggestions: Suggestion, evaluated: bool = True) -> Draft:
    return Draft(index, text, evaluation=Evaluation(not suggestions, suggestions) if evaluated else None)


def own(text: str, quote: str = "") -> Suggestion:
    """A suggestion in a model's own words."""
    return Suggestion("evidence_marking", text, quote=quote)


CITE = own("Give a source for the statement about 1921.", "It began in 1921.")


@pytest.mark.parametrize(
    ("item", "after", "expected"),
    [
        (CITE, None, "open"),
        (CITE, draft(1, "It began in 1921 [1].", evaluated=False), "open"),
        (CITE, draft(1, "It began in 1921. [1]"), "ignored"),
        (CITE, draft(1, "It began in 1921 [1]."), "addressed"),
        (
            CITE,
            draft(1, "It all began then, in 1921.", own("A source is lacking.", "It all began in 1921.")),
            "ignored",
        ),
        (own("Say who did it."), draft(1, "x", own("Say who it was that did it.")), "ignored"),
        (own("Say who did it."), draft(1, "x", own("Break the answer into paragraphs.")), "addressed"),
        (suggested("uncited", "A. ", marker="1"), draft(1, "A. ", suggested("uncited", "A. ", marker="2")), "ignored"),
        (suggested("part_unsaid", part="when"), draft(1, "x", suggested("part_unsaid", part="why")), "addressed"),
        (
            suggested("part_open", part="when"),
            draft(1, "x", suggested("part_open", part="when", marker="1")),
            "ignored",
        ),
        # The sentence stands, and a note now says that the sources differ.
        (suggested("contradiction", "A is 2.", other="A is 1."), draft(1, "A is 1. A is 2. Note."), "addressed"),
    ],
)
def test_a_suggestion_is_addressed_where_nobody_can_raise_it_again(
    item: Suggestion, after: Draft | None, expected: SuggestionState
) -> None:
    """AE-07"""
    drafts = [draft(0, "It began in 1921. More.", item), *([after] if after else [])]
    assert suggestion_states(drafts, 0) == (expected,)


def test_an_answer_without_an_evaluation_has_no_suggestions_and_no_states() -> None:
    """AE-07"""
    assert suggestion_states([draft(0, "x", evaluated=False)], 0) == ()
    assert suggestion_states([], 3) == ()


texts = st.text(st.characters(codec="utf-8"), max_size=30)
suggestions = st.builds(
    Suggestion,
    dimension=st.sampled_from(["reasonableness", "evidence_marking"]),
    text=texts,
    code=st.sampled_from(["", "off_point", "uncited", "part_open"]),
    params=st.dictionaries(st.sampled_from(["part", "marker"]), texts, max_size=2),
    quote=texts,
)


@given(texts, st.lists(suggestions, max_size=4), texts, st.lists(suggestions, max_size=4))
def test_there_is_one_state_a_suggestion_and_a_repeated_one_is_never_addressed(
    before: str, first: list[Suggestion], after: str, second: list[Suggestion]
) -> None:
    """AE-07"""
    drafts = [draft(0, before, *first), draft(1, after, *second)]
    states = suggestion_states(drafts, 0)
    assert len(states) == len(first)
    assert all(state == "ignored" for item, state in zip(first, states, strict=True) if item in second)
    assert suggestion_states(drafts, 1) == ("open",) * len(second)
