"""A cross encoder from files at hand, and everything that can be wrong with them: GH-04."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.errors import ModelError
from engine.llm.cross_encoder import Score, cross_encoder, local_scorer
from engine.llm.scoring import Scorer, ScoringGrader, ScoringReranker
from engine.model.config import RoleModel
from engine.model.grader_fit import sigmoid
from engine.model.values import ModelCall, Passage, PassageId, Verdict
from engine.settings import Settings
from tests.support.errors import raises
from tests.support.listening import Listening
from tests.support.tiny_cross_encoder import write_cross_encoder

MODEL = RoleModel("cross_encoder:tiny/overlap")
ASKED = "Where is insulin injected?"
STATED = "Insulin is injected into the abdomen."


def passage(name: str, text: str = STATED, section: str = "") -> Passage:
    return Passage(PassageId(name), "a.md", text, 0.5, 0.5, section=section)


def rerank(scorer: Scorer, *passages: Passage) -> list[tuple[Passage, Verdict]]:
    return asyncio.run(ScoringReranker(scorer).rerank(ASKED, passages, Listening()))


@pytest.mark.parametrize("name", ["../up", "a/../b", "/etc", "a/b/c", ".hidden", "a b", "", "a/.b", "a\\b", "ü"])
def test_a_name_cannot_lead_out_of_its_folder(name: str, tmp_path: Path) -> None:
    """GH-04"""
    with raises(ModelError.cross_encoder_misnamed):
        cross_encoder(RoleModel(f"cross_encoder:{name or '-'}"), tmp_path)


def test_files_that_are_not_there_are_named_with_the_command_that_fetches_them(tmp_path: Path) -> None:
    """GH-04: nothing is downloaded in the middle of a run."""
    with raises(ModelError.cross_encoder_missing) as raised:
        rerank(cross_encoder(MODEL, tmp_path), passage("a"))
    assert raised.value.params["command"].startswith("hf download tiny/overlap onnx/model.onnx tokenizer.json")
    assert str(tmp_path / "rerankers" / "tiny" / "overlap") in raised.value.fact
    assert isinstance(raised.value, ModelError)


def test_files_that_came_since_are_found_the_next_time(tmp_path: Path) -> None:
    """GH-04: a failure is not remembered, and the file may lie at the top of its folder."""
    reranker = cross_encoder(MODEL, tmp_path)
    with raises(ModelError.cross_encoder_missing):
        rerank(reranker, passage("a"))
    write_cross_encoder(tmp_path / "rerankers" / "tiny" / "overlap", [ASKED, STATED], "model.onnx")
    assert rerank(reranker, passage("a"))[0][1].p_relevant > 0.5


def test_folders_that_are_whole_are_offered_no_matter_how_they_came_here(tmp_path: Path) -> None:
    """GH-04: a name that is offered is one under which the model answers."""
    folder = tmp_path / "rerankers"
    for name in ("tiny/overlap", "alone", "half", "a b"):
        write_cross_encoder(folder / name, [ASKED, STATED], "model.onnx" if name == "alone" else "onnx/model.onnx")
    (folder / "half/tokenizer.json").unlink()
    write_cross_encoder(folder / "tiny/nli", [STATED], labels=("entailment", "neutral", "contradiction"))
    with Engine.open(Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1")) as engine:
        found = engine.host.cross_encoders()
        tried = [engine.host.try_model(name).fault for name in found]
    assert found == ("cross_encoder:alone", "cross_encoder:tiny/overlap")
    assert tried == [None, None]


class Counting(Listening):
    """Counts calls under way as a run does: what this process does itself is none."""

    under_way = 0

    def calling(self) -> None:
        self.under_way += 1

    def call(self, call: ModelCall) -> None:
        super().call(call)
        self.under_way -= not call.built_in


def test_what_this_process_does_itself_is_no_call_under_way(tmp_path: Path) -> None:
    """GH-04: a run at work showed one more with each passage, to its end."""
    write_cross_encoder(tmp_path / "rerankers" / "tiny" / "overlap", [ASKED, STATED])
    trace = Counting()
    asyncio.run(ScoringGrader(cross_encoder(MODEL, tmp_path)).grade(ASKED, [passage("a"), passage("b")], trace))
    assert [call.built_in for call in trace.calls] == [True, True]
    assert trace.under_way == 0


def test_files_that_are_damaged_are_said_to_be_so(tmp_path: Path) -> None:
    """GH-04"""
    folder = tmp_path / "rerankers" / "tiny" / "overlap"
    write_cross_encoder(folder, [ASKED, STATED])
    (folder / "onnx" / "model.onnx").write_bytes(b"not a model")
    trace = Listening()
    with raises(ModelError.cross_encoder_unusable):
        asyncio.run(ScoringReranker(cross_encoder(MODEL, tmp_path)).rerank(ASKED, [passage("a")], trace))
    assert trace.calls[0].error.startswith("WB343") and trace.calls[0].parsed is None


def test_without_the_package_there_is_a_command_and_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GH-04: it is an extra."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "fastembed"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with raises(ModelError.cross_encoder_without_package, match="pip install fastembed"):
        rerank(cross_encoder(MODEL, tmp_path), passage("a"))


def test_the_path_of_headings_is_read_with_its_passage(tmp_path: Path) -> None:
    """GH-04"""
    seen: list[str] = []

    def score(question: str, texts: Sequence[str]) -> Sequence[float]:
        seen.extend(texts)
        return [0.0] * len(texts)

    within = replace(passage("a", "It is.", "Sites"), title="Insulin")
    rerank(local_scorer("cross_encoder:x", score), within, passage("b", "It was."))
    assert seen == ["Insulin > Sites\nIt is.", "It was."]


@pytest.mark.parametrize("logits", [[float("nan")], [], [1.0, 2.0], [float("inf")]])
def test_scores_that_are_none_are_no_order(logits: list[float]) -> None:
    """GH-04"""
    score: Score = lambda question, texts: logits  # noqa: E731 - one line says it
    with raises(ModelError.cross_encoder_unusable):
        rerank(local_scorer("cross_encoder:x", score), passage("a"))


def test_when_the_time_is_over_nobody_waits_for_the_model() -> None:
    """GH-04, SC-08"""

    class Late(Listening):
        def time_left_s(self) -> float:
            return 0.0

    trace, score = Late(), lambda question, texts: [0.0]
    with pytest.raises(TimeoutError):
        asyncio.run(ScoringReranker(local_scorer("cross_encoder:x", score)).rerank(ASKED, [passage("a")], trace))
    assert trace.calls[0].error == "interrupted"


def test_a_logit_however_large_is_a_share() -> None:
    """GH-04"""
    assert [sigmoid(value) for value in (-1e4, 0.0, 1e4)] == [0.0, 0.5, 1.0]
    assert sigmoid(2.0) + sigmoid(-2.0) == pytest.approx(1.0)
