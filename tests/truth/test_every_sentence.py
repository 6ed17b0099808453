"""Every sentence and figure that explains a run is read back and held against the record that it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from components.common.i18n import UiLanguage, Words, words_for
from engine.model.values import RunRecord
from tests.truth.claims import Claim
from tests.truth.kinds import changes, diagnoses, figures, lists, loops, races, rewrites, sentences, tuned
from tests.truth.runs import every_run, raced_runs

Kind = Callable[[RunRecord, Words], Iterator[Claim]]

KINDS: Mapping[str, tuple[Kind, int]] = {
    "rewrite reasons": (rewrites.claims, 100),
    "diagnoses": (diagnoses.claims, 40),
    "gate cost": (diagnoses.gate_cost_claims, 5),
    "figures": (figures.claims, 300),
    "inequalities": (sentences.inequalities, 1000),
    "what-if cards": (sentences.what_if_cards, 30),
    "steps": (loops.claims, 800),
    "list of runs": (lists.rows, 150),
    "foot of the sidebar": (lists.feet, 400),
    "budget notes": (sentences.budgets, 150),
    "remedies and smallest changes": (changes.claims, 80),
}
"""Who reads the sentences of a kind, and how many there are at least in all runs: a walk past none proves nothing."""


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_that_explains_a_run_agrees_with_its_record(kind: str, language: UiLanguage) -> None:
    read, least = KINDS[kind]
    found = [(record, claim) for record in every_run() for claim in read(record, words_for(language))]
    assert len(found) >= least
    assert_true([(record.question, claim) for record, claim in found])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_sentence_about_a_race_of_modes_agrees_with_its_records(language: UiLanguage) -> None:
    found = [(item[0].question, claim) for item in raced_runs() for claim in races.claims(item, words_for(language))]
    assert len(found) >= 20
    assert_true(found)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_figure_of_tune_agrees_with_what_its_questions_do(language: UiLanguage) -> None:
    found = [("tune", claim) for claim in tuned.claims(words_for(language))]
    assert len(found) >= 100
    assert_true(found)


def assert_true(found: Sequence[tuple[str, Claim]]) -> None:
    false = [f"{name!r}: {claim.said!r}: {'; '.join(claim.wrong)}" for name, claim in found if claim.wrong]
    assert not false, f"{len(false)} of {len(found)}:\n" + "\n".join(false[:20])
