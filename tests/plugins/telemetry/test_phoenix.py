"""Runs in a real Arize Phoenix: retrieval, reranking, grading and generation appear as such, with scores (TL-07)."""

from __future__ import annotations

import uuid
from collections import Counter
from pathlib import Path
from typing import Any

from engine.engine import Engine
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.settings import Settings
from plugins.telemetry.sending import Telemetry
from tests.contracts.chat_models import obedient
from tests.support.ollama_stand_in import OllamaStandIn
from tests.support.phoenix_server import Phoenix
from tests.system.hosting import until

CHAT = RoleModel("ollama:qwen3:8b")
QUESTION = "How many rows does a truth table with five variables need?"
_DOCUMENTS = """query($id: ID!) { node(id: $id) { ... on Project { spans(first: 1000) { edges { node {
    spanId documentEvaluations { name score label explanation documentPosition } } } } } } }"""


def documents(phoenix: Phoenix, project: str) -> dict[str, list[dict[str, Any]]]:
    """Judgements of documents by the id of their span, as its pages have them."""
    found = phoenix.get(f"projects/{project}")["data"]["id"]
    answer = phoenix.graphql(_DOCUMENTS, id=found)
    nodes = (edge["node"] for edge in answer["node"]["spans"]["edges"])
    return {node["spanId"]: node["documentEvaluations"] for node in nodes if node["documentEvaluations"]}


def test_on_phoenix_a_run_has_its_kinds_scores_tokens_and_judgements(phoenix: Phoenix, tmp_path: Path) -> None:
    """TL-07"""
    project = f"test-{uuid.uuid4().hex[:8]}"
    with OllamaStandIn(["qwen3:8b"], reply=obedient) as ollama:
        settings = Settings.load(
            data_dir=tmp_path,
            ollama_url=ollama.url,
            otlp_endpoint=phoenix.url,
            otlp_content=True,
            otlp_project=project,
            otlp_phoenix=True,
        )
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            models = RoleModels(grader=CHAT, rewriter=CHAT, generator=CHAT)
            plain = engine.run(QUESTION, RunConfig(models=models, max_rewrites=0))
            graph = engine.run(QUESTION, RunConfig(workflow="graph_hybrid", mode="mix", max_rewrites=0))
            telemetry = engine.part(Telemetry)
            assert telemetry is not None
            until(telemetry.state, lambda now: now.sent == 2)
            assert telemetry.state().fault is None
    calls = len(plain.model_calls) + len(graph.model_calls)
    nodes = len(plain.nodes) + len(graph.nodes)
    spans = phoenix.spans(project, at_least=2 + nodes + calls + 1)
    by_trace: dict[str, Counter[str]] = {plain.id: Counter(), graph.id: Counter()}
    for span in spans:
        by_trace[span["context"]["trace_id"]][span["span_kind"]] += 1
    assert by_trace[plain.id] == Counter(LLM=len(plain.model_calls), RETRIEVER=1, EVALUATOR=1, CHAIN=2)
    assert (by_trace[graph.id]["RERANKER"], by_trace[graph.id]["RETRIEVER"], by_trace[graph.id]["LLM"]) == (1, 1, 0)
    (root,) = [span for span in spans if span["context"]["trace_id"] == plain.id and not span["parent_id"]]
    assert (root["attributes"]["input.value"], root["attributes"]["output.value"]) == (QUESTION, plain.answer)
    tokens = sum(span["attributes"].get("llm.token_count.total", 0) for span in spans)
    assert tokens == sum((call.prompt_tokens or 0) + (call.reply_tokens or 0) for call in plain.model_calls)
    (retriever,) = [s for s in spans if s["span_kind"] == "RETRIEVER" and s["context"]["trace_id"] == plain.id]
    first = plain.rounds[0].candidates[0].passage
    assert retriever["attributes"]["retrieval.documents.0.document.score"] == first.similarity
    assert retriever["attributes"]["retrieval.documents.0.document.content"] == first.text
    judged = phoenix.until(lambda: documents(phoenix, project), lambda found: len(found) == 2)[
        retriever["context"]["span_id"]
    ]
    verdicts = [plain.rounds[0].verdicts.get(item.passage.id) for item in plain.rounds[0].candidates]
    assert {item["documentPosition"]: (item["score"], item["explanation"]) for item in judged} == {
        place: (verdict.p_relevant, verdict.reason) for place, verdict in enumerate(verdicts) if verdict is not None
    }
    ids = [span["context"]["span_id"] for span in spans]
    annotated = phoenix.until(
        lambda: phoenix.get(f"projects/{project}/span_annotations", span_ids=ids, limit=1000)["data"],
        lambda found: {"outcome", "pass_rate"} <= {item["name"] for item in found},
    )
    outcomes = {item["result"]["label"] for item in annotated if item["name"] == "outcome"}
    assert outcomes == {plain.outcome, graph.outcome}
