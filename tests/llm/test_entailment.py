"""Models of entailment from files at hand: which label means support, and what else can be wrong with them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.llm.entailment import entailment, place_of_support
from engine.model.config import RoleModel
from tests.support.errors import raises
from tests.support.tiny_cross_encoder import write_cross_encoder

MODEL = RoleModel("cross_encoder:tiny/nli")
TEXT = "Insulin is kept at 4 degrees."


def chances(folder: Path, *sentences: str) -> list[float]:
    scorer = entailment(MODEL, folder)

    async def score(sentence: str) -> float:
        return scorer.chance((await scorer.score(sentence, [TEXT]))[0])

    return [asyncio.run(score(sentence)) for sentence in sentences]


def written(folder: Path, labels: Sequence[str]) -> Path:
    write_cross_encoder(folder / "rerankers" / "tiny" / "nli", [TEXT, "9"], labels=labels)
    return folder


@pytest.mark.parametrize(
    ("labels", "place"),
    [
        (("entailment", "neutral", "contradiction"), 0),
        (("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), 2),
        (("not_entailment", "entailment"), 1),
        (("entailment", "not_entailment"), 0),
        (("hallucinated", "consistent"), 1),
        (("Factually Inconsistent", "Factually Consistent"), 1),
        (("supported", "unsupported"), 0),
        (("LABEL_0", "LABEL_1"), None),
        (("supported", "entailment"), None),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else None,
)
def test_the_label_that_means_support_is_read_from_the_config(labels: Sequence[str], place: int | None) -> None:
    assert place_of_support({str(at): label for at, label in enumerate(labels)}) == place


@pytest.mark.parametrize("labels", [("entailment", "neutral", "contradiction"), ("contradiction", "entailment")])
def test_a_sentence_is_supported_whatever_the_order_of_the_labels(labels: Sequence[str], tmp_path: Path) -> None:
    right, wrong = chances(written(tmp_path, labels), TEXT, TEXT.replace("4", "9"))
    # The tiny model says 2 with all words and -2 with one missing; the other labels have 0.
    others = len(labels) - 1
    assert right == pytest.approx(7.389 / (7.389 + others), abs=1e-3)
    assert wrong == pytest.approx(0.1353 / (0.1353 + others), abs=1e-3)


def test_one_score_is_taken_as_log_odds(tmp_path: Path) -> None:
    right, wrong = chances(written(tmp_path, ()), TEXT, "9 9 9.")
    assert right > 0.9 and wrong == pytest.approx(0.018, abs=1e-3)


def test_labels_without_a_name_are_said_and_never_guessed(tmp_path: Path) -> None:
    folder = written(tmp_path, ("entailment", "neutral"))
    config = folder / "rerankers" / "tiny" / "nli" / "config.json"
    config.write_text(json.dumps({"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}), encoding="utf-8")
    with raises(ModelError.cross_encoder_unusable) as raised:
        chances(folder, TEXT)
    assert "which of its labels" in raised.value.fact
