"""Every sentence and figure that explains a run is read back and held against the record that it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from components.i18n import UiLanguage, Words, words_for
from engine.values import RunRecord
from tests.truth.claims import Claim
from tests.truth.kinds import changes, figures, rewrites
from tests.truth.runs import every_run

Kind = Callable[[RunRecord, Words], Iterator[Claim]]

KINDS: Mapping[str, tuple[Kind, int]] = {
    "rewrite reasons": (rewrites.claims, 100),
    "figures": (figures.claims, 300),
    "remedies and flips": (changes.claims, 80),
}
"""Who reads the sentences of a kind, and how many there are at least in all runs: a walk past none proves nothing."""


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_that_explains_a_run_agrees_with_its_record(kind: str, language: UiLanguage) -> None:
    read, least = KINDS[kind]
    found = [(record, claim) for record in every_run() for claim in read(record, words_for(language))]
    assert len(found) >= least
    false = [f"{record.id} {record.question!r}: {claim.said!r}: {'; '.join(claim.wrong)}"
             for record, claim in found if claim.wrong]  # fmt: skip
    assert not false, f"{len(false)} of {len(found)}:\n" + "\n".join(false[:20])
