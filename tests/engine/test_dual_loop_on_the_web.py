"""The dual loop with a search engine on loopback: really asked, really graded, and never trusted (DL-07)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.engine import Engine
from engine.model.config import RunConfig
from engine.model.values import RunRecord
from engine.settings import Settings
from engine.workflows.dual_loop.options import DualLoopOptions
from tests.support.searxng_stand_in import HOSTILE, SearxngStandIn, Status, found

QUESTION = "How much does a box of insulin glargine pens cost?"
RESULTS = (
    found(
        "Price of insulin glargine",
        "A box of five insulin glargine pens costs about 35 euros in a pharmacy. The price differs by country.",
        "https://prices.example.org/glargine",
    ),
    found("Storage", "Unopened insulin is kept at 2 to 8 °C.", "https://example.net/storage"),
)
WEB = RunConfig(workflow="dual_loop", budget_s=60, options=DualLoopOptions(memory=False, web_search=True))


def asked(folder: Path, results: Sequence[object], *behaviours: Status) -> tuple[RunRecord, list[str]]:
    with SearxngStandIn(results) as server:
        server.script(*behaviours)
        settings = Settings(data_dir=folder, ollama_url="http://127.0.0.1:1", searxng_url=server.url, call_timeout_s=2)
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            return engine.run(QUESTION, WEB), server.queries


def test_what_the_collection_lacks_is_found_on_the_web_and_cited_by_its_address(tmp_path: Path) -> None:
    """DL-03, DL-07: local strategies first, then the web; its results are graded like any passage."""
    record, queries = asked(tmp_path, RESULTS)
    assert len(queries) == 1
    assert [(item.strategy, item.status) for item in record.tried_routes][-1] == ("web_search", "searched")
    assert record.outcome == "answered"
    assert [item.source for item in record.citations] == ["https://prices.example.org/glargine"]
    assert "35 euros" in record.answer
    web = next(item for item in record.rounds if item.strategy == "web_search")
    assert all(item.passage.id.startswith("web-") for item in web.candidates)
    assert all(item.passage.id in web.verdicts for item in web.candidates if item.gate == "kept")


def test_a_search_engine_that_fails_leaves_the_run_its_honest_end(tmp_path: Path) -> None:
    """DL-03, DL-07: noted as failed with its code, and warned about."""
    record, _ = asked(tmp_path, RESULTS, Status(403), Status(403))
    web = next(item for item in record.tried_routes if item.strategy == "web_search")
    assert web.status == "failed"
    assert web.why.startswith("WB9")
    assert web.why in {item.code for item in record.warnings}
    assert record.outcome == "fallback"


def test_hostile_results_stay_text(tmp_path: Path) -> None:
    """DL-07: results are untrusted: no markup, no other scheme than http(s)."""
    record, _ = asked(tmp_path, HOSTILE)
    passages = [item.passage for current in record.rounds for item in current.candidates]
    web = [item for item in passages if item.id.startswith("web-")]
    assert web
    assert all(item.source.startswith(("http://", "https://")) for item in web)
    assert not any("<script" in item.text or "\u202e" in item.text for item in web)


def test_without_being_switched_on_nothing_leaves_the_machine(tmp_path: Path) -> None:
    """DL-07: off by default, also where a search engine is set."""
    with SearxngStandIn(RESULTS) as server:
        settings = Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1", searxng_url=server.url)
        with Engine.open(settings) as engine:
            record = engine.run(QUESTION, RunConfig(workflow="dual_loop"))
    assert server.queries == []
    assert ("web_search", "skipped", "web_off") in {(i.strategy, i.status, i.why) for i in record.tried_routes}
