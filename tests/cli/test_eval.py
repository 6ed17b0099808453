"""``eval``: the same evaluation as on the page, for continuous integration."""

from __future__ import annotations

import io
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from engine.cli.main import main
from engine.errors import EvaluationError, InvalidConfig
from engine.evaluation.bars import MEASURE_NAMES, bar_of, measure_of
from engine.evaluation.cases import Case, Expectation, QuerySet
from engine.evaluation.command import read_config
from engine.evaluation.concurrent_cases import RunsHere, ask_all
from engine.evaluation.values import AnswerJudgement
from engine.model.config import RunConfig
from engine.records import BATCH
from tests.api.served import ALL, FakeCollections, app_of, engine_of, relevant
from tests.cli.test_handing_over import InterruptsWhoFollows, data_dir, handed_over, interruptible, noted, said
from tests.contracts.chat_models import obedient
from tests.support.errors import raises
from tests.support.fakes import FakeGrader, FakeRetriever
from tests.support.gates import PATIENCE_S, Gate
from tests.support.ollama_stand_in import OllamaStandIn

__all__ = ["data_dir", "interruptible"]

TABLE = 'question,expected,answerable\nfirst,p1.md,\nsecond,"The text of p9|p2.md",\nthird,,no\n'

HOLDS = FakeCollections(held=("p1.md", "p2.md"))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text(TABLE)
    return path


def result(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    reply: dict[str, Any] = json.loads(capsys.readouterr().out)
    return reply


def test_a_set_is_run_measured_and_written_as_json(
    data_dir: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with handed_over(data_dir, knowledge=HOLDS) as (_, engine):
        assert main(["eval", str(table), "--json", "-", "--min", "recall@5=0.75", "--max", "calls=6"]) == 0
        reply = result(capsys)
        assert reply["cases"] == 3 and reply["passed"] and reply["failures"] == []
        measures = {name: value["value"] for name, value in reply["measures"].items()}
        assert measures["recall@5"] == 0.75
        (grader,) = reply["grader"].values()
        assert grader["ece"] is None and grader["missing"]["ece"] == "files" and grader["recall"] == 1.0
        assert measures["context_recall"] == 0.75
        assert measures["mrr"] == 0.75
        assert measures["answered"] == 1.0 and measures["abstained_on_unanswerable"] == 0.0
        assert measures["calls"] == 6.0 and measures["failed"] == 0.0
        assert reply["bars"][0] == {
            "measure": "recall@5",
            "relation": ">=",
            "bound": 0.75,
            "value": 0.75,
            "end": 0.75,
            "cleared": True,
            "missed_by_unknown": False,
        }
        assert {engine.record(run_id).question for run_id in reply["runs"].values()} == {"first", "second", "third"}
        assert engine.runs(without_tag=BATCH) == []


def test_what_the_verdicts_are_worth_is_said_by_kind_and_over_what(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with handed_over(data_dir, knowledge=HOLDS) as (_, engine):
        expected = (Expectation("text", "The text of p1"),)
        cases = [Case(f"c{place}", f"{name}", expected) for place, name in enumerate(("first", "second", "third"))]
        engine.evaluation.save_query_set(QuerySet("by passage", tuple(cases)))
        assert main(["eval", "by passage", "--json", "-"]) == 0
        (grader,) = result(capsys)["grader"].values()
        assert (grader["questions"], len(grader["bins"]), grader["unlabelled_n"]) == (3, 10, 0)
        assert grader["n"] == sum(item["n"] for item in grader["bins"]) > 3
        assert 0 < grader["ece"] <= 1 and grader["brier"] > 0 and grader["assumed_n"] > 0
        intervals = [item["interval"] for item in grader["bins"] if item["n"]]
        assert intervals and all(0 <= item["low"] < item["high"] <= 1 for item in intervals)
        assert main(["eval", "by passage"]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert f"ECE {grader['ece']:.3f}. Over {grader['n']} passages of 3 questions;" in shown


def test_a_saved_set_is_run_by_its_name_on_its_own_collection(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with handed_over(data_dir, knowledge=HOLDS) as (_, engine):
        cases = (Case("a", "first"), Case("b", "second"), Case("c", "third"))
        engine.evaluation.save_query_set(QuerySet("my questions", cases, "mine"))
        assert main(["eval", "my questions", "--json", "-", "--limit", "2"]) == 1
        reply = result(capsys)
    assert (reply["dataset"], reply["collection"]) == ("my questions", "mine")
    assert [item["case"] for item in reply["failures"]] == ["a", "b"]
    assert all("'mine'" in item["fact"] for item in reply["failures"]), "it is asked, and the app has none"


def test_a_missed_bar_is_named_and_is_the_exit_code(
    data_dir: Path, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "result.json"
    bars = ["--min", "recall@1=0.9", "--min", "answered=1", "--max", "failed=0", "--min", "grader-precision=0.99"]
    with handed_over(data_dir, knowledge=HOLDS):
        assert main(["eval", str(table), *bars, "--json", str(written)]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "recall@1 >= 0.9 is asked for, and recall@1 is" in shown
    assert (
        "grader_precision >= 0.99 is asked for, and grader_precision could not be measured: their labels name" in shown
    )
    assert "2 of 3 questions: their labels name files, and not which of their passages is right" in shown
    assert "answered >= 1" not in shown
    reply = json.loads(written.read_text())
    assert [bar["cleared"] for bar in reply["bars"]] == [False, True, False, True]
    assert not reply["passed"] and reply["labelled_by_file"] == 2


def test_what_cannot_be_measured_clears_no_bar(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bare.csv").write_text("question\nfirst\n")
    with handed_over(data_dir, knowledge=HOLDS):
        assert main(["eval", str(tmp_path / "bare.csv"), "--min", "recall@5=0"]) == 1
    assert "recall@5 could not be measured" in " ".join(capsys.readouterr().out.split())


def test_failures_are_counted_and_listed_and_unknown_in_every_figure(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Fails(FakeRetriever):
        async def search(self, query: str, limit: int) -> Any:
            if query == "second":
                raise RuntimeError("boom")
            return await super().search(query, limit)

    (tmp_path / "set.csv").write_text("id,question,expected\na,first,p1.md\nb,second,p1.md\n")
    with handed_over(data_dir, knowledge=HOLDS, retriever=Fails()):
        bars = ["--max", "failed=0", "--min", "recall@5=0.9", "--min", "recall@5=0.5", "--max", "calls=50"]
        assert main(["eval", str(tmp_path / "set.csv"), "--json", "-", *bars]) == 1
        written = capsys.readouterr()
        assert main(["eval", str(tmp_path / "set.csv"), "--min", "recall@5=0.9"]) == 3
        assert main(["eval", str(tmp_path / "set.csv"), "--min", "recall@5=0.5"]) == 0
    reply = json.loads(written.out)
    assert [(item["case"], item["code"]) for item in reply["failures"]] == [("b", "WB000")]
    assert reply["measures"]["recall@5"] == {"value": None, "n": 2, "lower": 0.5, "upper": 1.0, "known_n": 1}
    assert reply["measures"]["calls"]["upper"] is None, "nothing limits what a run would have cost that there is not"
    assert reply["measures"]["failed"]["value"] == 1.0
    assert [(bar["cleared"], bar["missed_by_unknown"]) for bar in reply["bars"]] == [
        (False, True),
        (True, False),
        (False, False),
        (False, True),
    ]
    shown = " ".join(written.err.split())
    assert "recall@5 >= 0.9 is asked for, and recall@5 is 0.5 … 1, known for 1 of 2 questions" in shown
    assert "missed only because an unknown question counts at its worse end. The failed runs listed above" in shown
    assert "0.500 … 1.000" in shown and "1 of 2" in shown


def test_names_that_are_no_text_cost_neither_the_table_nor_the_json(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a surrogate pair stands in file names that are no UTF-8, and can stand in any JSON."""
    odd, written = tmp_path / "odd\udcff.jsonl", tmp_path / "result.json"
    odd.write_text('{"id": "c\\ud800", "question": "first", "expected": "p1.md"}\n{"id": "\\udfff", "question": " "}\n')
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict")
    monkeypatch.setattr("sys.stdout", printed)
    monkeypatch.setattr("sys.stderr", printed)
    with handed_over(data_dir, knowledge=HOLDS):
        assert main(["eval", str(odd), "--json", str(written)]) == 0
        assert main(["eval", str(odd), "--json", "-"]) == 0
    reply = json.loads(written.read_text(encoding="utf-8"))
    assert (reply["dataset"], list(reply["runs"])) == ("odd?", ["c?"])


def test_a_set_is_not_measured_on_a_collection_that_holds_none_of_its_sources(
    data_dir: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with handed_over(data_dir, knowledge=FakeCollections(held=("tea.md",))) as (_, engine):
        assert main(["eval", str(table)]) == 2
        assert engine.runs() == []
    said = capsys.readouterr().err
    assert "0 of 2 expected sources exist in the collection 'samples'" in said
    assert "--collection" in said


def test_expected_sources_that_are_not_there_are_counted_before_the_rest_is_measured(
    data_dir: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with handed_over(data_dir, knowledge=FakeCollections(held=("p1.md",))):
        assert main(["eval", str(table)]) == 0
    assert "1 of 2 expected sources exist in the collection 'samples'" in capsys.readouterr().err


def test_documents_of_a_data_set_go_into_a_collection_first(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "tea-set"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "green", "text": "Green tea is brewed at 80 degrees."}\n')
    (folder / "queries.jsonl").write_text('{"_id": "1", "text": "How hot is green tea?"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\tgreen\t1\n")
    knowledge = FakeCollections()
    with handed_over(data_dir, knowledge=knowledge):
        assert main(["eval", str(folder), "--collection", "tea", "--json", "-", "--limit", "1"]) in (0, 1)
        assert [(name, [item.name for item in items]) for name, items in knowledge.given] == [("tea", ["green.txt"])]
        capsys.readouterr()
        assert main(["eval", str(folder), "--collection", "two words"]) == 1
    assert "cannot be the name of a collection" in said(capsys)


def test_the_whole_way_with_a_real_store(data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SC-02, SC-09: the documents are embedded, searched and found under the names that the labels have."""
    squad = {
        "data": [
            {
                "title": "Tea",
                "paragraphs": [
                    {
                        "context": "Green tea is brewed at 80 degrees for two minutes.",
                        "qas": [{"id": "1", "question": "At how many degrees is green tea brewed?"}],
                    },
                    {"context": "Coffee was first roasted in Yemen.", "qas": []},
                ],
            }
        ]
    }
    (tmp_path / "tea.json").write_text(json.dumps(squad))
    (tmp_path / "config.toml").write_text('top_k = 2\nmax_rewrites = 0\n[models]\ngrader = "builtin"\n')
    arguments = ["eval", str(tmp_path / "tea.json"), "--config", str(tmp_path / "config.toml"), "--json", "-"]
    assert main([*arguments, "--min", "recall@1=1", "--min", "context_recall=1"]) == 0
    reply = result(capsys)
    assert reply["collection"] == "tea" and reply["config"]["top_k"] == 2
    assert reply["measures"]["recall@1"]["value"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["absent.csv"], "no such file or folder"),
        (["samples", "--min", "recal@5=1"], "Known measures: answered"),
        (["samples", "--min", "calls@5=1"], "no measure named"),
        (["samples", "--min", "recall@0=1"], "no measure named"),
        (["samples", "--min", "recall@21=1"], "no measure named"),
        (["samples", "--min", "recall@5"], "names no number"),
        (["samples", "--max", "calls=nan"], "names no number"),
        (["samples", "--limit", "0"], "limit must lie between"),
        (["samples", "--concurrency", "0"], "concurrency must lie between"),
        (["samples", "--config", "absent.json"], "cannot be read: No such file"),
        (["samples", "--json", "absent/result.json"], "no such folder"),
    ],
)
def test_bad_use_is_said_before_anything_runs(
    data_dir: Path, arguments: list[str], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", *arguments]) == 2
    assert what in said(capsys)
    assert list(data_dir.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "what"),
    [("{", "neither JSON"), ("[1]", "no object"), ('{"top_q": 5}', "top_q"), ('{"top_k": 99}', "between 1 and 20")],
)
def test_a_config_that_cannot_be_used_is_said(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(InvalidConfig, match=what):
        read_config(tmp_path / "c.json")


def test_a_measure_is_written_with_or_without_its_cut_off() -> None:
    assert [str(measure_of(name)) for name in ("recall", "Recall@3", "mrr", "mrr@5", "pass-rate")] == [
        "recall@5",
        "recall@3",
        "mrr",
        "mrr@5",
        "pass_rate",
    ]
    for wrong in ("", "recall@", "recall@0", "recall@21", "f1@5", "f2"):
        with raises(EvaluationError.unknown_measure):
            measure_of(wrong)


@pytest.mark.parametrize("name", MEASURE_NAMES)
def test_every_known_measure_can_be_asked_for_by_its_name(name: str) -> None:
    """Also those that end in a digit, in capitals and with hyphens."""
    assert measure_of(name).name == name
    assert measure_of(name.upper().replace("_", "-")).name == name
    assert bar_of(f"{name}=0.01", ">=").measure.name == name


@pytest.mark.parametrize(
    ("bar", "relation", "value", "cleared"),
    [
        ("recall@5=0.3", ">=", 0.1 + 0.2, True),
        ("recall@5=0.30000001", ">=", 0.3, False),
        ("calls=6", "<=", 6.0, True),
        ("calls=6", "<=", 6.5, False),
        ("calls=6", "<=", None, False),
    ],
)
def test_a_bar_includes_its_bound(bar: str, relation: Any, value: float | None, cleared: bool) -> None:
    assert bar_of(bar, relation).cleared_by(value) is cleared


def test_a_full_app_is_waited_for(data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SC-13: caps."""
    (tmp_path / "set.csv").write_text("question\n" + "".join(f"q{number}\n" for number in range(8)))
    with (
        engine_of(data_dir, relevant(knowledge=HOLDS), max_concurrent_runs=1) as engine,
        noted(app_of(engine), data_dir, engine.instance),
    ):
        assert main(["eval", str(tmp_path / "set.csv"), "--json", "-", "--concurrency", "6"]) == 0
    answered = result(capsys)["measures"]["answered"]
    assert (answered["value"], answered["n"]) == (1.0, 8)


def test_a_full_engine_of_this_process_is_waited_for(tmp_path: Path) -> None:
    with engine_of(tmp_path, relevant(), max_concurrent_runs=1) as engine:
        cases = [Case(str(number), f"question {number}") for number in range(6)]
        ended: list[None] = []
        records, failures = ask_all(RunsHere(engine), cases, RunConfig(), 4, lambda: ended.append(None))
        assert (set(records), failures, len(ended)) == ({case.id for case in cases}, {}, 6)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system has no signals for threads")
def test_an_interrupt_stops_what_the_app_is_doing(
    data_dir: Path, interruptible: None, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SC-13: cancel at any moment."""
    gate = Gate()
    resources = relevant(grader=FakeGrader(relevant=ALL, gate=lambda: gate), knowledge=HOLDS)
    with engine_of(data_dir, resources) as engine:
        with noted(InterruptsWhoFollows(app_of(engine)), data_dir, engine.instance):
            assert main(["eval", str(table), "--concurrency", "1"]) == 130
            (stored,) = engine.runs()
            assert engine.wait(stored.id, PATIENCE_S)
        assert engine.record(stored.id).outcome == "cancelled"
    assert "Stopped." in said(capsys)


def test_a_judge_reads_the_answers_once_and_its_reasons_are_in_the_result(
    data_dir: Path, table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with OllamaStandIn(["judge:1b"], reply=obedient) as server, handed_over(data_dir, knowledge=HOLDS):
        monkeypatch.setenv("WORKBENCH_OLLAMA_URL", server.url)
        asked = ["eval", str(table), "--json", "-", "--judge", "ollama:judge:1b"]
        assert main([*asked, "--min", "faithfulness=0"]) == 0
        reply = result(capsys)
        assert reply["judge"] == "ollama:judge:1b"
        assert reply["measures"]["faithfulness"]["n"] == len(reply["judged"]) == 3
        claims = [claim for item in reply["judged"].values() for claim in item["claims"]]
        assert claims and all(claim["reason"] for claim in claims)
        calls = len(server.requests)
        assert main([*asked, "--max", "faithfulness=-1"]) == 1
        assert len(server.requests) == calls, "what was judged before is not asked again"


def test_a_judge_that_stops_leaves_the_other_figures_and_is_the_exit_code(
    data_dir: Path, table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with OllamaStandIn(["judge:1b"], reply=obedient) as server, handed_over(data_dir, knowledge=HOLDS):
        monkeypatch.setenv("WORKBENCH_OLLAMA_URL", server.url)
        assert main(["eval", str(table), "--json", "-", "--judge", "ollama:absent:1b"]) == 1
    reply = result(capsys)
    assert not reply["passed"] and reply["judge_fault"]["code"] == "WB402"
    assert reply["judged"] == {} and reply["measures"]["recall@5"]["n"] == 2


def test_a_bar_on_what_only_a_judge_says_needs_one(
    data_dir: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", str(table), "--min", "claim-recall=0.5"]) == 2
    assert "cannot judge answers" in capsys.readouterr().err


def test_people_tell_which_answers_are_right(data_dir: Path, table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with handed_over(data_dir, knowledge=HOLDS) as (_, engine):
        assert main(["eval", str(table), "--json", "-"]) == 0
        first = result(capsys)
        answers = {case: engine.record(run).answer for case, run in first["runs"].items()}
        for question, answer in zip(("first", "second"), answers.values(), strict=False):
            engine.evaluation.judge_answer(AnswerJudgement(question, answer, "no"))
        assert main(["eval", str(table), "--json", "-"]) == 0
        then = result(capsys)["measures"]["answered_right"]
        assert (first["measures"]["answered_right"]["value"], then["value"], then["n"]) == (2 / 3, 0.0, 3)
        assert first["answered_right_by"] == {"passage": 2, "refusal": 1}
        assert [first["correction"][effect] for effect in ("helped", "harmed", "same", "unknown")] == [0, 0, 3, 0]
        assert main(["eval", str(table)]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert "judged by people's judgements of the answer for 2, refusing what cannot be answered for 1." in shown
        assert "Correction, against none: 0 helped, 0 harmed, 3 same, 0 unknown;" in shown
