"""What only several plug-ins can show together: left out where one of them is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.engine import Engine
from engine.samples.demos import all_demos, demo_record
from engine.settings import Settings

runs = pytest.importorskip("plugins.mcp.runs")
agents = pytest.importorskip("tests.plugins.mcp.conftest")
otlp = pytest.importorskip("plugins.telemetry.otlp")
trace = pytest.importorskip("plugins.telemetry.trace")
reading = pytest.importorskip("plugins.traces.trace_file")
taking = pytest.importorskip("plugins.traces.taking")
crag = pytest.importorskip("tests.plugins.traces.crag_spans")
unknown = pytest.importorskip("tests.plugins.traces.test_unknown")


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("demo", sorted(demo.id for demo in all_demos()))
def test_searches_verdicts_context_and_answer_of_every_demo_come_back(demo: str, binary: bool) -> None:
    """TR-01, TL-08"""
    record = demo_record(demo)
    sent = [trace.trace_of(record, content=True)]
    data = otlp.encoded(sent, "rag-workbench") if binary else otlp.as_json(sent, "rag-workbench").encode()
    (read,) = reading.recognised([("run", data)]).traces
    assert (read.question, read.answer, read.project) == (record.question, record.answer, "rag-workbench")
    assert [search.query for search in read.searches] == [current.query for current in record.rounds]
    for search, current in zip(read.searches, record.rounds, strict=True):
        found = [item.passage.id for item in current.candidates]
        # What was reranked is read in its new order.
        assert [item.id for item in search.passages][len(current.reranked) :] == [
            name for name in found if name not in current.reranked
        ]
        assert {item.id for item in search.passages} == set(found)
    assert {(item.round, item.passage): (item.relevant, item.reason) for item in read.verdicts} == {
        (current.index, name): (verdict.relevant, verdict.reason[:500])
        for current in record.rounds
        for name, verdict in current.verdicts.items()
    }


def test_agents_and_receivers_of_traces_get_no_made_up_number() -> None:
    record = unknown.ranks_alone()
    shown = [item for own in record.rounds for item in runs._round(own, texts=False).passages]
    assert {(item.similarity, item.p_relevant) for item in shown} == {(None, None)}
    spans = trace.trace_of(record, content=True).spans
    assert "workbench.best_similarity" not in spans[0].attributes
    named = [name for span in spans for name in span.attributes]
    assert not any(name.endswith("document.score") for name in named)
    assert {score.score for span in spans for score in span.scores if score.name == "relevance"} == {None}
    assert not any("workbench.citations" in span.attributes for span in spans)


def test_agents_see_a_run_of_another_program_as_one(tmp_path: Path) -> None:
    """Its decisions are a replay, and ranks without a scale are no similarity (MC-02)."""
    made = crag.CragTrace("agents", "What pulls the sea?", project="plain")
    made.retrieve("What pulls the sea?", [("tides", crag.TIDES, 12.5), ("cats", crag.CATS, 11.0)])
    made.grade(crag.TIDES, "yes").generate([crag.TIDES], "The moon.")
    settings = Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1", embedding_model="hashing")
    with Engine.open(settings) as engine, agents.served(engine, mcp="read") as app:
        engine.wait_until_ready()
        [run] = taking.Traces.of(engine).take(crag.file_of(made.otlp("The moon."))).runs
        engine.flush()
        found = app.agent().result("explain_run", run_id=run)
    assert "Imported from" in found["story"][0]
    assert "other program" in found["story"][1]
    assert [item["similarity"] for item in found["rounds"][0]["passages"]] == [None, None]
