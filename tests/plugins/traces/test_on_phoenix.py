"""A project of a real Phoenix: sent there as a program sends it, annotated there, exported, imported and tuned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Tracer

from engine.engine import Engine
from engine.replay.grid import paths
from engine.replay.settings import STATES, SettingsGrid
from engine.settings import Settings
from plugins.traces.taking import Traces
from tests.plugins.traces.crag_spans import CATS, DOGS, TIDES
from tests.support.phoenix_server import Phoenix


def ask(tracer: Tracer, question: str, found: Mapping[str, tuple[str, float]], answer: str) -> None:
    """What an instrumented program sends: a search with its documents, and a generation from all of them."""
    with tracer.start_as_current_span("rag") as root:
        root.set_attributes({"openinference.span.kind": "CHAIN", "input.value": question, "output.value": answer})
        with tracer.start_as_current_span("retriever") as span:
            span.set_attributes({"openinference.span.kind": "RETRIEVER", "input.value": question})
            for place, (name, (text, score)) in enumerate(found.items()):
                at = f"retrieval.documents.{place}.document"
                span.set_attributes({f"{at}.id": name, f"{at}.content": text, f"{at}.score": score})
        with tracer.start_as_current_span("generate") as span:
            prompt = "\n".join(text for text, _ in found.values())
            span.set_attributes({"openinference.span.kind": "LLM", "llm.model_name": "llama3", "output.value": answer})
            span.set_attributes({"llm.input_messages.0.message.role": "user"})
            span.set_attributes({"llm.input_messages.0.message.content": f"{prompt}\n{question}"})


def annotations_of(spans: list[Mapping[str, Any]], relevant: Mapping[str, str]) -> list[dict[str, Any]]:
    """A label for each document of each search: relevant where it answers the question."""
    return [
        {
            "name": "relevance",
            "annotator_kind": "LLM",
            "span_id": span["context"]["span_id"],
            "document_position": place,
            "result": {"label": "relevant" if name == relevant[span["attributes"]["input.value"]] else "unrelated"},
        }
        for span in spans
        if span["span_kind"] == "RETRIEVER"
        for place in (0, 1)
        for name in (span["attributes"][f"retrieval.documents.{place}.document.id"],)
    ]


def test_on_phoenix_a_project_is_exported_imported_and_tuned(phoenix: Phoenix, tmp_path: Path) -> None:
    project = f"rag-{uuid4().hex[:8]}"
    provider = TracerProvider(resource=Resource({"openinference.project.name": project}))
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{phoenix.url}/v1/traces")))
    tracer = provider.get_tracer("tests")
    ask(tracer, "What causes tides?", {"tides": (TIDES, 0.8), "dogs": (DOGS, 0.4)}, "The moon.")
    ask(tracer, "Do cats sleep?", {"dogs": (DOGS, 0.5), "cats": (CATS, 0.3)}, "All day.")
    provider.shutdown()
    spans = phoenix.spans(project, at_least=6)
    notes = annotations_of(spans, {"What causes tides?": "tides", "Do cats sleep?": "cats"})
    answer = httpx.post(f"{phoenix.url}/v1/document_annotations", json={"data": notes}, trust_env=False, timeout=60)
    assert answer.status_code == 200

    otlp = phoenix.get(f"projects/{project}/spans/otlpv1", limit=1000)
    exported = [
        ("spans.json", json.dumps(phoenix.get(f"projects/{project}/spans", limit=1000)).encode()),
        ("annotations.json", json.dumps({"data": notes}).encode()),
    ]
    settings = Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1", embedding_model="hashing")
    with Engine.open(settings) as engine:
        taken = Traces.of(engine).take(exported, project=project, set_name=project)
        records = [engine.record(run) for run in taken.runs]
        assert {record.question: record.answer for record in records} == {
            "What causes tides?": "The moon.",
            "Do cats sleep?": "All day.",
        }
        assert all(record.origin is not None and record.origin.tool == "phoenix" for record in records)
        assert all(record.origin is not None and record.origin.similarity == "given" for record in records)
        assert all(len(record.rounds[0].verdicts) == 2 for record in records)
        evidence = engine.batches.evidence(taken.batch_id)
        config = engine.evaluation.batch(taken.batch_id).config
        grid = SettingsGrid.of([replace(config, similarity_threshold=bar) for bar in (0.0, 0.45, 0.9)])
        kept = {item.case.question: paths(item.table, grid) for item in evidence.gathered}
        # The right passage of one question is below the bar that still serves the other.
        assert [int(count) for count in kept["What causes tides?"].passed] == [1, 1, 0]
        assert [int(count) for count in kept["Do cats sleep?"].passed] == [1, 0, 0]
        assert STATES[int(kept["Do cats sleep?"].state[0])] != "needs_calls"
        # Its spans as OTLP say the same.
        again = Traces.of(engine).preview([("otlp.json", json.dumps(otlp).encode())])
        assert sorted(record.question for record in again.records) == sorted(record.question for record in records)
        assert {len(record.rounds[0].candidates) for record in again.records} == {2}
