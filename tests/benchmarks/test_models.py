"""The pairs that models are measured on, and the figures and tables made of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.builtin.evidence import read_question, weigh
from engine.evaluation.measured_models import Entry, Found, measured_models
from engine.model.config import RoleModel
from engine.model.values import Passage, Verdict
from engine.retrieval.similarity import ANCHOR_LANGUAGES, AnchorLanguage
from engine.roles import SILENT, Trace
from engine.settings import Settings
from tests.benchmarks import model_grading
from tests.benchmarks.labelled_pairs import LabelledPair, halves, labelled_pairs, other_words, passage_of
from tests.benchmarks.model_grading import Kept, share_of
from tests.benchmarks.models import FEWEST, apart, of_chat_grader, of_grader, write
from tests.docs.model_tables import graders_table
from tests.fitting.fit_grader import Vectors
from tests.llm.recording import verdict_json
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest


@pytest.fixture(autouse=True)
def _fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_grading, "RESAMPLES", 100)


class _Drawn(Vectors):
    """Vectors that need no model; which is near to which does not matter here."""

    def _of(self, kind: str, text: str) -> NDArray[np.float32]:
        seed = int.from_bytes(hashlib.sha256(f"{kind}{text}".encode()).digest()[:4])
        return np.random.default_rng(seed).normal(size=8).astype(np.float32)


class _Surer:
    """A grader that scores a passage by the number in its text, and cannot read what has none."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def grade(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT, parts: Sequence[str] = ()
    ) -> list[Verdict]:
        self.asked += [passage.text for passage in passages]
        return [_verdict(passage.text) for passage in passages]


def _verdict(text: str) -> Verdict:
    if text == "?":
        return Verdict(relevant=None, confidence=0.0, reason="", grader="rerank:m")
    raw = float(text)
    return Verdict(raw > 0, 1 / (1 + np.exp(-abs(raw))), "", grader="rerank:m", raw=raw)


def _pair(number: int, text: str, relevant: bool) -> LabelledPair:
    return LabelledPair("samples", "en", f"q{number}", f"Question {number}?", passage_of("p", text, 0.9, 0.8), relevant)


def _pairs() -> list[LabelledPair]:
    """Relevant passages score higher, but all of them above 0, so that each passes until it is calibrated."""
    scores = [(f"{place / 10 + (2 if relevant else 0.1):.2f}", relevant) for place in range(20) for relevant in (1, 0)]
    return [_pair(place // 2, text, bool(relevant)) for place, (text, relevant) in enumerate(scores)]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> list[LabelledPair]:
    folder = tmp_path_factory.mktemp("rgb")
    (folder / "rgb").mkdir()
    line = {"id": 7, "query": "Who won?", "answer": ["Li"], "positive": ["Li won."], "negative": ["Wu lost.", "Rain."]}
    (folder / "rgb" / "en.json").write_text(json.dumps(line) + "\n", encoding="utf-8")
    return labelled_pairs(folder, _Drawn(folder / "vectors"))


@pytest.mark.parametrize("language", ANCHOR_LANGUAGES)
def test_answers_in_other_words_share_no_term_with_their_question_and_near_misses_do(language: AnchorLanguage) -> None:
    written = [item for item in other_words(language) if item["id"].startswith("ow-")]
    assert len(written) >= 18
    for item in written:
        question = read_question(item["question"])
        assert not weigh(question, item["right"], 0.5).covered, item["id"]
        assert all(weigh(question, text, 0.5).covered for text in item["wrong"]), item["id"]


def test_no_question_is_on_both_sides_and_both_sides_have_both_labels_of_every_set(own: list[LabelledPair]) -> None:
    half = halves(own)
    assert half == halves(reversed(own))
    kept_apart = apart(own)
    assert {pair.question for pair in kept_apart}.isdisjoint({pair.question for pair in own if pair not in kept_apart})
    for of in ("samples", "other words"):
        seen = {(half[pair.group], pair.language, pair.relevant) for pair in own if pair.of == of}
        assert len(seen) == 8, of


def test_rgb_gives_one_passage_of_each_label(own: list[LabelledPair]) -> None:
    found = {pair.relevant: pair.passage.text for pair in own if pair.of == "RGB"}
    assert found[True] == "Li won."
    assert found[False] in ("Wu lost.", "Rain.")


def test_pairs_come_in_an_order_that_is_fair_to_every_set(own: list[LabelledPair]) -> None:
    """So that the figures of a measurement that was ended are of all sets."""
    first = own[: len(own) // 4]
    assert {(pair.of, pair.language) for pair in first} >= {
        (pair.of, pair.language) for pair in own if pair.of != "RGB"
    }


def test_a_grader_with_scores_is_measured_as_it_is_and_calibrated_on_the_other_half(tmp_path: Path) -> None:
    pairs = _pairs()
    shipped, calibrated = of_grader(pairs, _Surer(), Kept(tmp_path / "kept.jsonl"))
    assert shipped["sets"]["all"]["auc"][0] == calibrated["sets"]["all"]["auc"][0] == 1.0
    assert shipped["sets"]["all"]["accuracy"][0] == 0.5
    assert calibrated["sets"]["all"]["accuracy"][0] > 0.8
    assert calibrated["fitted_on"] == len(pairs) - len(apart(pairs))


def test_a_chat_model_is_measured_by_its_probability_of_yes_and_on_some_pairs_by_its_own_words(tmp_path: Path) -> None:
    def weigh(request: RecordedRequest) -> dict[str, float]:
        yes = 0.9 if ">2." in str(request.messages[1]["content"]).replace("\n", "") else 0.6
        return {"Yes": yes, "No": 0.95 - yes}

    pairs = [_pair(place // 2, text, right) for place in range(8) for text, right in (("2.0", True), ("1.0", False))]
    with OllamaStandIn(["m"], reply=lambda _: verdict_json(True, 0.8), weigh=weigh) as server:
        settings = Settings(data_dir=tmp_path, ollama_url=server.url)
        kept = Kept(tmp_path / "kept.jsonl")
        own, calibrated, said, same = of_chat_grader(pairs, RoleModel("ollama:m"), settings, kept, 4)
        asked = len(server.requests)
        closed = Kept(tmp_path / "kept.jsonl", closed=True)
        assert len(list(of_chat_grader(pairs, RoleModel("ollama:m"), settings, closed, 4))) == 4
        assert len(server.requests) == asked
    assert [entry["kind"] for entry in (own, calibrated, said, same)] == ["token", "token", "said", "token"]
    assert (own["sets"]["all"]["auc"][0], said["sets"]["all"]["auc"][0]) == (1.0, 0.5)
    assert said["sets"]["all"]["pairs"] == same["sets"]["all"]["pairs"] == 4
    assert not list(of_chat_grader(pairs, RoleModel("ollama:m"), settings, Kept(tmp_path / "none", closed=True), 4))


def test_a_measurement_that_was_ended_while_it_wrote_continues(tmp_path: Path) -> None:
    pairs, path, first, second = _pairs(), tmp_path / "kept.jsonl", _Surer(), _Surer()
    whole = list(of_grader(pairs, first, Kept(path)))
    path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    assert next(iter(list(of_grader(pairs, second, Kept(path)))))["sets"] == whole[0]["sets"]
    assert (len(first.asked), len(second.asked)) == (len(pairs), 1)


def test_a_set_of_a_few_pairs_has_no_figures_of_its_own(tmp_path: Path) -> None:
    few, many = (
        next(of_grader(pairs, _Surer(), Kept(tmp_path / f"{len(pairs)}.jsonl")))["sets"]["samples"]
        for pairs in (_pairs()[:30], _pairs())
    )
    assert few["pairs"] < FEWEST <= many["pairs"]
    assert (few["auc"], many["auc"][0]) == (None, 1.0)


def test_what_could_not_be_read_is_counted_and_in_no_figure(tmp_path: Path) -> None:
    pairs = [*_pairs(), _pair(30, "?", True), _pair(31, "?", False), _pair(32, "?", True)]
    shipped = next(of_grader(pairs, _Surer(), Kept(tmp_path / "kept.jsonl")))
    unread = sum(pair.passage.text == "?" for pair in apart(pairs))
    assert unread
    assert shipped["unreadable"][0] == pytest.approx(unread / len(apart(pairs)), abs=0.001)
    assert shipped["sets"]["all"]["pairs"] == len(apart(pairs)) - unread


def test_the_interval_of_a_share_is_drawn_by_question() -> None:
    """Ten hits of one question say less than ten of ten."""
    hits = [True] * 10 + [False] * 10
    assert share_of(hits, ["a"] * 10 + ["b"] * 10) == [0.5, 0.0, 1.0]
    value, low, high = share_of(hits, [str(place) for place in range(20)]) or [0.0, 0.0, 0.0]
    assert 0.1 < low < value < high < 0.9


def test_what_is_measured_again_takes_the_place_of_what_was(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    given = list(of_grader(_pairs(), _Surer(), Kept(tmp_path / "kept.jsonl")))
    entries: list[Entry] = [{"model": name, "date": "2026-01-01", **entry} for name in ("m", "n") for entry in given]
    entries.append({**entries[0], "compared_with": "said"})
    write(Found(graders=entries), path)
    write(Found(graders=[{**entries[0], "date": "2026-02-02"}]), path)
    kept = Found(**json.loads(path.read_text(encoding="utf-8"))).graders
    assert [entry["date"] for entry in kept] == ["2026-02-02", *["2026-01-01"] * 4]


def test_the_table_says_how_p_came_about_and_how_far_a_figure_can_be_trusted() -> None:
    entry = measured_models().graders[0]
    line = graders_table(Found(graders=[entry])).splitlines()[-1]
    assert line.startswith("| built-in | from words | ")
    assert line.count("fitted on it") == 1
    assert "({:.2f}–{:.2f})".format(*entry["sets"]["all"]["kappa"][1:]) in line
