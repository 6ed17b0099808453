"""Every tool, called by the official client over HTTP, against a real engine (MC-01, MC-02)."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError

from engine.api.web import INTERNAL_FACT, INTERNAL_REMEDY
from engine.engine import Engine
from engine.errors import InvalidConfig, ModelError
from engine.evaluation.cases import Case, Expectation, QuerySet
from engine.model.config import RunConfig
from engine.model.values import RunRecord
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from plugins.mcp.configs import config_for
from plugins.mcp.declared import tools_in, with_numbers
from plugins.mcp.results import LONGEST_ANSWER, SEVERAL, cut
from plugins.mcp.server import GROUPS, TOOLS
from tests.api.served import ALL, engine_of, relevant
from tests.plugins.mcp.conftest import Served, served
from tests.support.fakes import FakeGrader
from tests.support.gates import PATIENCE_S, Gate

QUESTION = "When does a connected graph have an Euler circuit?"
RIGHT = "dm-graphs.en.md#2"
READING = {
    "ask",
    "list_collections",
    "search",
    "list_runs",
    "explain_run",
    "what_if",
    "diagnose",
    "list_settings",
    "list_batches",
    "sweep",
}


@pytest.fixture(scope="module")
def run(engine: Engine) -> RunRecord:
    return engine.run(QUESTION, RunConfig())


@pytest.fixture(scope="module")
def forced(engine: Engine) -> RunRecord:
    """A run whose bar dropped everything that it found."""
    return engine.run(QUESTION, RunConfig(similarity_threshold=0.99, max_rewrites=0))


@pytest.fixture(scope="module")
def batch(engine: Engine) -> str:
    cases = [
        Case(f"q{n}", text, (Expectation("passage", RIGHT),)) for n, text in enumerate((QUESTION, "What is a tree?"))
    ]
    engine.evaluation.save_query_set(QuerySet("two", tuple(cases)))
    made = engine.batches.start("two", RunConfig())
    engine.batches.wait(made)
    engine.flush()
    return made


def test_read_offers_what_changes_nothing_and_write_the_rest_too(reading: Served, writing: Served) -> None:
    assert reading.agent().tools().keys() == READING
    assert writing.agent().tools().keys() == TOOLS.keys()


def test_hints_say_what_each_tool_does(writing: Served) -> None:
    tools = writing.agent().tools()
    looks = {name for name, item in tools.items() if item.annotations and item.annotations.read_only_hint}
    assert looks == READING - {"ask"}
    destroys = {name for name, item in tools.items() if item.annotations and item.annotations.destructive_hint}
    assert destroys == TOOLS.keys() - READING - {"gather"}
    assert tools["ask"].annotations is not None
    assert tools["ask"].annotations.open_world_hint
    assert not tools["ask"].annotations.idempotent_hint


def test_each_tool_says_in_one_sentence_what_it_is_for_and_types_what_it_gives(writing: Served) -> None:
    for name, item in writing.agent().tools().items():
        assert item.title, name
        assert item.description, name
        assert item.description.split(". ")[0].strip(), name
        assert item.output_schema, name
        assert item.output_schema["type"] == "object"
        assert "ctx" not in item.input_schema["properties"]


@pytest.mark.parametrize("name", sorted(TOOLS.keys() - READING))
def test_read_refuses_each_tool_that_changes_something(reading: Served, engine: Engine, name: str) -> None:
    """Also when it is called without having been offered (MC-01)."""
    before = (engine.evaluation.settings(), engine.tags(), [item.name for item in engine.collections()])
    refused = reading.agent().refused(name, name="x", settings={}, tag="x", run_id="x", text="x", collection="new")
    assert "There is no tool named" in refused
    assert "WORKBENCH_MCP=write" in refused
    assert (engine.evaluation.settings(), engine.tags(), [item.name for item in engine.collections()]) == before


def test_collections_and_passages(reading: Served) -> None:
    agent = reading.agent()
    (found,) = agent.result("list_collections", named="sampl")["collections"]
    assert (found["name"], found["passages"]) == ("samples", 252)
    hits = agent.result("search", query="Euler circuit", k=3, method="fused")["passages"]
    assert len(hits) == 3
    assert RIGHT in [item["id"] for item in hits]
    assert all(item["text"] for item in hits)


def test_asking_gives_an_answer_with_its_passages_and_leaves_a_run(reading: Served, engine: Engine) -> None:
    """Steps are reported while it runs; where only reading is allowed the run is a trial (MC-01, MC-02)."""
    steps: list[str] = []

    async def ask(client: Client) -> Any:
        async def report(progress: float, total: float | None, message: str | None) -> None:
            steps.append(str(message))

        return await client.call_tool("ask", {"question": QUESTION}, progress_callback=report)

    found = reading.agent().working(ask).structured_content
    record = engine.record(found["run_id"])
    assert record.trial
    assert record.answer == found["answer"]
    assert found["link"] == f"{reading.url.removesuffix('/mcp')}/?run={record.id}"
    assert {item["marker"] for item in found["citations"]} == {item.marker for item in record.citations}
    assert all(item["text"] for item in found["citations"])
    assert [item.partition(",")[0] for item in steps] == ["Retrieve", "Grade", "Generate"]
    assert all(record.id in item for item in steps)


def test_a_question_is_asked_under_saved_settings_and_further_ones(writing: Served, engine: Engine) -> None:
    agent = writing.agent()
    agent.result("save_settings", name="narrow", settings={"top_k": 2, "max_rewrites": 0})
    found = agent.result("ask", question=QUESTION, saved="narrow", settings={"similarity_threshold": 0.1})
    config = engine.record(found["run_id"]).config
    assert (config.top_k, config.max_rewrites, config.similarity_threshold) == (2, 0, 0.1)
    assert not engine.record(found["run_id"]).trial
    (saved,) = [item for item in agent.result("list_settings")["saved"] if item["name"] == "narrow"]
    assert saved["settings"] == {"top_k": 2, "max_rewrites": 0}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_call_that_is_given_up_stops_its_run(tmp_path: Path, mode: str) -> None:
    gate = Gate()

    async def give_up(client: Client) -> None:
        asking = asyncio.ensure_future(client.call_tool("ask", {"question": "Is tea green?"}))
        await asyncio.to_thread(gate.wait_until_reached)
        asking.cancel()
        await asyncio.wait([asking])

    with engine_of(tmp_path, relevant(grader=FakeGrader(relevant=ALL, gate=lambda: gate))) as slow:
        with served(slow, mcp="read") as app:
            app.agent(mode=mode).working(give_up)
            (only,) = slow.runs(2)
            assert slow.wait(only.id, PATIENCE_S)
        assert slow.record(only.id).outcome == "cancelled"


def test_a_run_that_fails_is_reported_with_what_to_do(tmp_path: Path) -> None:
    with engine_of(
        tmp_path, relevant(grader=FakeGrader(errors=[ModelError.ollama_unreachable(address="a")] * 9))
    ) as broken:
        with served(broken, mcp="read") as app:
            refused = app.agent().refused("ask", question="Is tea green?")
        (only,) = broken.runs(2)
    assert only.outcome == "failed"
    assert only.id in refused
    assert "Traceback" not in refused


def test_an_explanation_is_made_of_the_record(reading: Served, forced: RunRecord) -> None:
    agent = reading.agent()
    found = agent.result("explain_run", run_id=forced.id, texts=True)
    assert found["outcome"] == forced.outcome == "abstained"
    assert found["story"]
    assert len(found["decisions"]) == len(forced.decisions)
    assert "≥ 1" in found["decisions"][0] or "< 1" in found["decisions"][0]
    assert found["settings"] == {"similarity_threshold": 0.99, "max_rewrites": 0}
    (only,) = found["rounds"]
    shown = [item["id"] for item in only["passages"]]
    ranked = sorted(forced.rounds[0].candidates, key=lambda item: item.rank)
    assert shown == [item.passage.id for item in ranked][: len(shown)]
    assert len(shown) + only["more"] == len(ranked)
    assert all(len(item["text"]) <= SEVERAL for item in only["passages"])
    chinese = agent.result("explain_run", run_id=forced.id, language="zh")
    assert chinese["story"] != found["story"]
    assert any("\u4e00" <= char <= "\u9fff" for char in chinese["ending"])


def test_a_what_if_calls_nothing(reading: Served, engine: Engine, forced: RunRecord) -> None:
    runs = len(engine.runs(200))
    settings = {"similarity_threshold": 0.2, "grade_pass_threshold": 0.9}
    found = reading.agent().result("what_if", run_id=forced.id, settings=settings)
    expected = engine.what_if(forced, replace(forced.config, similarity_threshold=0.2, grade_pass_threshold=0.9))
    assert (found["state"], found["outcome"], found["missing"]) == (expected.state, expected.outcome, expected.gap)
    assert found["answer_note"] == expected.answer_note
    assert found["sentence"]
    assert "**" not in found["sentence"]
    assert found["without_effect"] == ["grade_pass_threshold"]
    assert found["at_worst"]["built_in_calls"] == expected.calls_needed.worst.built_in_calls
    assert len(engine.runs(200)) == runs


def test_a_diagnosis_follows_expected_passages(reading: Served, forced: RunRecord, run: RunRecord) -> None:
    agent = reading.agent()
    found = agent.result("diagnose", run_id=forced.id, expected=[RIGHT])["suffered_from"]
    assert (found["failure"], found["passages"], found["by_labels"]) == ("dropped_by_similarity", [RIGHT], True)
    absent = agent.result("diagnose", run_id=forced.id, expected=["nowhere.md"])["suffered_from"]
    assert absent["failure"] == "nothing_retrieved"
    well = agent.result("diagnose", run_id=run.id)
    assert well["suffered_from"] is None
    assert well["note"]


def test_runs_are_listed_newest_first_and_by_pages(reading: Served, run: RunRecord, forced: RunRecord) -> None:
    agent = reading.agent()
    first = agent.result("list_runs", limit=1, text="Euler")
    second = agent.result("list_runs", limit=1, text="Euler", before=first["before"])
    assert first["runs"][0]["started_at"] >= second["runs"][0]["started_at"]
    assert first["runs"][0]["run_id"] != second["runs"][0]["run_id"]
    abstained = agent.result("list_runs", outcome="abstained", limit=50)["runs"]
    assert forced.id in [item["run_id"] for item in abstained]
    assert run.id not in [item["run_id"] for item in abstained]


def test_a_sweep_reads_what_was_gathered(reading: Served, engine: Engine, batch: str) -> None:
    agent = reading.agent()
    (line,) = agent.result("list_batches", query_set="two")["batches"]
    assert (line["batch_id"], line["questions"], line["done"]) == (batch, 2, 2)
    runs = len(engine.runs(200))
    found = agent.result("sweep", query_set="two", axes={"top_k": [1, 5], "min_relevant": [1, 2]})
    assert (found["batch_id"], found["questions"]) == (batch, 2)
    assert found["recommendation"]
    assert found["compared_with"]["settings"] == {}
    assert (found["combinations"], found["compared"] <= 4) == (4, True)
    assert found["front"]
    assert not found["measurably_better"], "two questions tell no setting from another"
    for tried in (found["compared_with"], *found["front"]):
        bounds = tried["quality_bounds"]
        assert bounds["n"] == 2 and 0 <= bounds["lower"] <= bounds["upper"] <= 1
        assert tried["quality"] == (bounds["lower"] if bounds["known_n"] == 2 else None)
    assert found["compared_with"]["steps_bounds"]["known_n"] == 2
    assert len(engine.runs(200)) == runs
    assert "axes.workflow" in agent.refused("sweep", query_set="two", axes={"workflow": ["dual_loop"]})
    many = {"top_k": list(range(1, 21)), "similarity_threshold": [n / 50 for n in range(50)], "min_relevant": [1, 2, 3]}
    assert "number of combinations" in agent.refused("sweep", query_set="two", axes=many)
    assert "gathered" in agent.refused("sweep", query_set="none of that name", axes={"top_k": [1]})


def test_what_an_agent_changes_is_there_afterwards(writing: Served, engine: Engine, forced: RunRecord) -> None:
    agent = writing.agent()
    agent.result("tag_run", run_id=forced.id, tag="by an agent")
    assert "by an agent" in engine.tags()
    agent.result("tag_run", run_id=forced.id, tag="by an agent", remove=True)
    assert "by an agent" not in engine.tags()
    agent.result("judge_passage", run_id=forced.id, passage_id=RIGHT, relevant=True, explanation="it answers")
    (label,) = engine.evaluation.labels(QUESTION)
    assert (label.passage_id, label.relevant, label.judge) == (RIGHT, True, "agent")
    agent.result(
        "ingest_text", name="tea.md", text="# Tea\n\nGreen tea is brewed at 75 degrees.", collection="of_agents"
    )
    assert [item.source for item in engine.sources("of_agents")] == ["tea.md"]
    assert agent.result("search", query="green tea", collection="of_agents")["passages"][0]["source"] == "tea.md"
    refused = agent.refused("ingest_text", name="tea.doc", text="x", collection="of_agents")
    assert "tea.doc" in refused


def test_evidence_is_gathered_in_the_background(writing: Served, engine: Engine, batch: str) -> None:
    found = writing.agent().result("gather", query_set="two", settings={"top_k": 3})
    engine.batches.wait(found["id"])
    kept = engine.evaluation.batch(found["id"])
    assert (kept.config.top_k, len(kept.done)) == (3, 2)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("ask", {}, "question"),
        ("ask", {"question": " "}, "question"),
        ("ask", {"question": "Why?", "collection": "nowhere"}, "nowhere"),
        ("ask", {"question": "Why?", "saved": "never saved"}, "saved"),
        ("ask", {"question": "Why?", "settings": {"topk": 3}}, "topk"),
        ("ask", {"question": "Why?", "settings": {"top_k": 999}}, "top_k"),
        ("ask", {"question": "Why?", "settings": {"milvus_address": "http://10.0.0.1:19530"}}, "milvus_address"),
        ("search", {"query": "x", "k": 21}, "k"),
        ("explain_run", {"run_id": "../x"}, "../x"),
        ("what_if", {"run_id": "no such run", "settings": {}}, "no such run"),
        ("sweep", {"axes": {}}, "axes"),
    ],
)
def test_bad_use_is_reported_with_what_to_do(reading: Served, name: str, arguments: dict[str, Any], words: str) -> None:
    refused = reading.agent().refused(name, **arguments)
    assert words in refused
    assert refused.startswith("WB")
    assert "Traceback" not in refused
    assert "pydantic" not in refused


def test_what_nobody_foresaw_is_reported_without_its_traceback(
    reading: Served, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a secret of the machine")

    monkeypatch.setattr(type(engine), "runs", broken)
    refused = reading.agent().refused("list_runs")
    assert refused == f"{INTERNAL_FACT} {INTERNAL_REMEDY}"


def test_resources_are_runs_and_collections(reading: Served, run: RunRecord) -> None:
    async def read(client: Client) -> dict[str, str]:
        listed = [str(item.uri) for item in (await client.list_resources()).resources]
        assert "workbench://collections/samples" in listed
        found = {}
        for uri in (*listed[:3], f"workbench://runs/{run.id}", f"workbench://runs/{run.id}/report"):
            (content,) = (await client.read_resource(uri)).contents
            found[uri] = str(getattr(content, "text", ""))
        for uri in ("workbench://runs/nope", "workbench://collections/nowhere", "workbench://elsewhere"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)
        return found

    found = reading.agent().working(read)
    assert json.loads(found[f"workbench://runs/{run.id}"])["question"] == QUESTION
    assert run.answer in found[f"workbench://runs/{run.id}/report"]
    assert json.loads(found["workbench://collections/samples"])["passages"] == 252


def test_prompts_name_tools_that_are_there(reading: Served) -> None:
    async def read(client: Client) -> list[str]:
        names = [item.name for item in (await client.list_prompts()).prompts]
        debug = await client.get_prompt("debug_question", {"question": QUESTION})
        tune = await client.get_prompt("tune_query_set", {"query_set": "two"})
        assert names == ["debug_question", "tune_query_set"]
        return [str(getattr(item.messages[0].content, "text", "")) for item in (debug, tune)]

    for text in reading.agent().working(read):
        named = set(re.findall(r"`(\w+)`", text))
        assert named <= READING
        assert named


def test_every_tool_has_a_role_and_no_role_is_of_another() -> None:
    """The table of rights names the tools that there are (MC-03)."""
    assert {name for group in GROUPS for name, _ in tools_in(group)} == TOOLS.keys()


def test_long_answers_are_cut_with_a_mark() -> None:
    assert cut("a" * LONGEST_ANSWER, LONGEST_ANSWER) == "a" * LONGEST_ANSWER
    assert cut("a b " * LONGEST_ANSWER, LONGEST_ANSWER).endswith(" …")
    assert len(cut("a b " * LONGEST_ANSWER, LONGEST_ANSWER)) <= LONGEST_ANSWER


def test_numbers_and_switches_may_be_written_as_texts() -> None:
    """Models often do; what is no number stays as it is, for the config to say so."""
    given = {"top_k": "3", "similarity_threshold": "0.25", "collection": "2024", "gate": "min_relevant"}
    models = {"grader": {"model": "ollama:8", "num_ctx": "4096", "seed": "seven"}}
    assert with_numbers({**given, "models": models, "min_relevant": ["1", "2"], "needs_whole": "true"}) == {
        **given,
        "top_k": 3,
        "similarity_threshold": 0.25,
        "models": {"grader": {"model": "ollama:8", "num_ctx": 4096, "seed": "seven"}},
        "min_relevant": [1, 2],
        "needs_whole": True,
    }
    with pytest.raises(InvalidConfig, match="top_k must be a number between 1 and 20"):
        RunConfig(top_k="three")  # type: ignore[arg-type]


def test_a_run_begins_with_the_defaults_of_the_machine(tmp_path: Path) -> None:
    """BE-07"""
    (tmp_path / "defaults.json").write_text('{"options": {"gener_epoch": 2}}')
    with engine_of(tmp_path / "data", defaults=str(tmp_path / "defaults.json")) as engine:
        chosen = config_for(engine, "", "", {"workflow": "answer_evaluation"})
    assert chosen.options == AnswerEvaluationOptions(2)
