"""The spans of a run: every recorded demo of the five workflows as a tree (TL-01, TL-02)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.engine import Engine
from engine.llm.prompts import GENERATOR_PROMPT_VERSION, REASON_PROMPT_VERSION, YES_NO_PROMPT_VERSION
from engine.llm.splitter import SPLIT_PROMPT_VERSION
from engine.llm.sufficiency import SET_PROMPT_VERSION
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.traceparent import parent_in
from engine.model.values import Fault, ModelCall, NodeExecution, RunRecord
from engine.samples.demos import all_demos, demo_record
from engine.settings import Settings
from plugins.telemetry.trace import trace_of
from plugins.telemetry.values import Span, Trace
from tests.api.served import calling
from tests.contracts.chat_models import obedient, obedient_word
from tests.support.ollama_stand_in import OllamaStandIn

HEADER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
KIND = "openinference.span.kind"
DEMOS = sorted(demo.id for demo in all_demos())


@cache
def traced(demo: str, *, content: bool = True) -> tuple[RunRecord, Trace]:
    record = demo_record(demo)
    return record, trace_of(record, content=content)


def of_kind(trace: Trace, kind: str) -> list[Span]:
    return [span for span in trace.spans if span.attributes[KIND] == kind]


def require_tree(record: RunRecord, trace: Trace) -> None:
    """Ids are unique, every parent is there, and no span leaves the time of its parent."""
    by_id = {span.id: span for span in trace.spans}
    assert len(by_id) == len(trace.spans) == len({span.id for span in trace.spans if len(span.id) == 16})
    root, *others = trace.spans
    assert (root.parent, root.attributes["workbench.run_id"]) == ("", record.id)
    counted = [root.attributes[f"workbench.{name}"] for name in ("rounds", "rewrites", "model_calls")]
    assert counted == [len(record.rounds), len(record.rewrites), record.calls]
    for span in others:
        parent = by_id[span.parent]
        assert parent.start_ns <= span.start_ns <= span.end_ns <= parent.end_ns
    for span in trace.spans:
        assert all(span.start_ns <= event.at_ns <= span.end_ns for event in span.events)
        for value in (
            *span.attributes.values(),
            *(each for event in span.events for each in event.attributes.values()),
        ):
            assert isinstance(value, str | bool | int | float | tuple)


@pytest.mark.parametrize("content", [True, False])
@pytest.mark.parametrize("demo", DEMOS)
def test_the_spans_of_every_demo_are_a_tree_with_each_node_and_each_call_in_it_once(demo: str, content: bool) -> None:
    """TL-01"""
    record, trace = traced(demo, content=content)
    require_tree(record, trace)
    nodes = [span for span in trace.spans if "workbench.node" in span.attributes]
    calls = [span for span in trace.spans if "workbench.role" in span.attributes]
    assert [span.name for span in nodes] == [item.node for item in record.nodes]
    assert len(calls) == len(record.model_calls)
    assert sorted(str(span.attributes["workbench.role"]) for span in calls) == sorted(
        call.role for call in record.model_calls
    )
    assert not of_kind(trace, "LLM"), "the built-in roles are no language models"
    assert trace == trace_of(record, content=content)


@pytest.mark.parametrize("demo", DEMOS)
def test_every_passage_is_in_a_retriever_with_its_score_and_its_verdict(demo: str) -> None:
    """TL-02"""
    record, trace = traced(demo)
    for current, span in zip(record.rounds, of_kind(trace, "RETRIEVER"), strict=True):
        found = {
            span.attributes[f"retrieval.documents.{place}.document.id"]: (
                span.attributes[f"retrieval.documents.{place}.document.content"],
                span.attributes[f"retrieval.documents.{place}.document.score"],
            )
            for place in range(len(current.candidates))
        }
        assert found == {item.passage.id: (item.passage.text, item.passage.similarity) for item in current.candidates}
        places = {item.passage.id: place for place, item in enumerate(current.candidates)}
        assert {score.document: (score.score, score.label) for score in span.scores} == {
            places[name]: (verdict.p_relevant, "relevant" if verdict.relevant else "irrelevant")
            for name, verdict in current.verdicts.items()
        }


@pytest.mark.parametrize("demo", DEMOS)
def test_grading_is_an_evaluator_that_tells_every_verdict_and_the_decision(demo: str) -> None:
    """TL-02"""
    record, trace = traced(demo)
    graded = [span for span in of_kind(trace, "EVALUATOR") if "workbench.judged" in span.attributes]
    assert len(graded) == len(record.rounds)
    for current, span in zip(record.rounds, graded, strict=True):
        scores = {
            event.attributes["document.id"]: event.attributes["gen_ai.evaluation.score.value"]
            for event in span.events
            if event.name == "gen_ai.evaluation.result" and "document.id" in event.attributes
        }
        assert scores == {name: verdict.p_relevant for name, verdict in current.verdicts.items()}
    decided = [event for span in trace.spans for event in span.events if event.name == "decision"]
    assert [event.attributes.get("inequality", "") for event in decided] == [
        item.inequality for item in record.decisions
    ]


@pytest.mark.parametrize("demo", ["demo-chain-en", "demo-quality-en"])
def test_reranking_is_a_span_of_its_own_with_both_orders(demo: str) -> None:
    """TL-02"""
    record, trace = traced(demo)
    for current, span in zip(record.rounds, of_kind(trace, "RERANKER"), strict=True):
        count = len(current.reranked)
        after = [span.attributes[f"reranker.output_documents.{place}.document.id"] for place in range(count)]
        before = [span.attributes[f"reranker.input_documents.{place}.document.id"] for place in range(count)]
        assert tuple(after) == current.reranked
        assert sorted(map(str, before)) == sorted(current.reranked)
        scores = [span.attributes[f"reranker.output_documents.{place}.document.score"] for place in range(count)]
        assert scores == sorted(scores, key=lambda value: -float(str(value)))


def test_an_answer_of_several_is_the_output_of_the_visit_that_wrote_it() -> None:
    record, trace = traced("demo-revision-en")
    written = [span.attributes["output.value"] for span in trace.spans if span.name == "generate_answer"]
    assert written == [draft.text for draft in record.drafts]
    judged = [score.label for span in trace.spans if span.name == "eval_answer" for score in span.scores]
    assert judged == ["failed", "passed"]


def chat(**changes: object) -> RunRecord:
    """The rescue demo as if a chat model had judged its first passage."""
    record = demo_record("demo-rescue-en")
    first = replace(
        record.model_calls[0],
        **{"model": "ollama:qwen3:8b", "built_in": False, "prompt_tokens": 120, "reply_tokens": 30, **changes},  # type: ignore[arg-type]
    )
    return replace(record, model_calls=(first, *record.model_calls[1:]))


def test_a_call_of_a_chat_model_has_the_attributes_of_both_conventions() -> None:
    """TL-01"""
    (span,) = of_kind(trace_of(chat(truncated=True), content=True), "LLM")
    attributes = span.attributes
    assert span.name == "chat qwen3:8b"
    assert (attributes["llm.model_name"], attributes["gen_ai.request.model"]) == ("qwen3:8b", "qwen3:8b")
    assert (attributes["llm.provider"], attributes["gen_ai.provider.name"], attributes["gen_ai.operation.name"]) == (
        "ollama",
        "ollama",
        "chat",
    )
    assert (
        attributes["llm.token_count.prompt"],
        attributes["llm.token_count.completion"],
        attributes["llm.token_count.total"],
    ) == (
        120,
        30,
        150,
    )
    assert (attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.usage.output_tokens"]) == (120, 30)
    assert attributes["llm.finish_reason"] == "length"
    assert attributes["llm.input_messages.0.message.role"] == "user"
    assert attributes["llm.output_messages.0.message.content"]


def test_each_call_names_the_prompt_that_was_sent(tmp_path: Path) -> None:
    """A role asks in several ways, such as a grader for one word, for its reason and for all passages (TL-01)."""
    with OllamaStandIn(["qwen3:8b"], reply=obedient, weigh=obedient_word) as ollama:
        chat = RoleModel("ollama:qwen3:8b")
        models = RoleModels(grader=chat, rewriter=chat, generator=chat)
        config = RunConfig(models=models, reasons="before", needs_whole=True, split=True, max_rewrites=0)
        with Engine.open(Settings(data_dir=tmp_path, ollama_url=ollama.url)) as engine:
            record = engine.run("What is a truth table, and who wrote about it?", config)
    named = {
        (str(call.messages[-1].content).endswith("Yes or no:"), span.attributes["llm.prompt_template.version"])
        for call, span in zip(record.model_calls, of_kind(trace_of(record, content=True), "LLM"), strict=True)
    }
    others = (REASON_PROMPT_VERSION, SET_PROMPT_VERSION, SPLIT_PROMPT_VERSION, GENERATOR_PROMPT_VERSION)
    assert named == {(True, YES_NO_PROMPT_VERSION), *((False, version) for version in others)}


def test_a_reply_from_the_cache_asked_no_model_and_costs_no_tokens() -> None:
    """TL-01"""
    trace = trace_of(chat(cached=True), content=True)
    assert not of_kind(trace, "LLM")
    (span,) = [span for span in trace.spans if span.attributes.get("workbench.cached")]
    assert not [name for name in span.attributes if "token" in name]


def test_a_failure_is_an_error_with_its_code_and_says_more_only_with_content() -> None:
    """TL-03"""
    record = demo_record("demo-noise-en")
    broken = replace(record.nodes[-1], error="WB401")
    fault = Fault("WB401", "Nothing answers for zanthium.", "Start it.", node=broken.node)
    record = replace(record, outcome="failed", reason="WB401", error=fault, nodes=(*record.nodes[:-1], broken))
    for content, said in ((True, "WB401: Nothing answers for zanthium."), (False, "WB401")):
        root, *others = trace_of(record, content=content).spans
        assert root.error == said
        (node,) = [span for span in others if span.error]
        assert [event.attributes["exception.type"] for event in node.events if event.name == "exception"] == ["WB401"]


TIMES = st.floats(0, 10_000, allow_nan=False)


@given(
    st.lists(
        st.tuples(st.sampled_from(["retrieve", "grade", "gone", ""]), st.integers(0, 3), TIMES, TIMES | st.none()),
        max_size=8,
    ),
    st.lists(
        st.tuples(st.sampled_from(["retrieve", "grade", "gone", ""]), st.integers(0, 3), TIMES, TIMES), max_size=8
    ),
    TIMES,
)
def test_no_record_makes_a_span_that_leaves_its_parent(
    visits: list[tuple[str, int, float, float | None]], calls: list[tuple[str, int, float, float]], duration: float
) -> None:
    """Runs that were cut off have visits without an end, and clocks of older versions need not agree (TL-01)."""
    nodes = tuple(NodeExecution(node, at, 1, start, took) for node, at, start, took in visits)
    asked = tuple(
        ModelCall("grader", node, at, "ollama:m", (), "", start_ms=start, duration_ms=took)
        for node, at, start, took in calls
    )
    record = replace(demo_record("demo-noise-en"), nodes=nodes, model_calls=asked, duration_ms=duration)
    trace = trace_of(record, content=False)
    require_tree(record, trace)
    assert len(trace.spans) >= 1 + len(nodes) + len(asked)


def test_the_span_of_a_caller_is_the_parent_of_the_run() -> None:
    """TL-05"""
    record = demo_record("demo-noise-en")
    trace = trace_of(replace(record, manifest={**record.manifest, "traceparent": HEADER}), content=False)
    assert (trace.id, trace.spans[0].parent) == ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
    for wrong in ("", "00-0-0-01", HEADER.upper(), HEADER.replace("00-4", "ff-4"), HEADER + "-x"):
        assert parent_in(wrong) is None


@pytest.mark.parametrize("path", ["/api/runs", "/api/self-corrective-rag"])
def test_a_request_names_the_span_above_its_run_and_no_other_run(path: str, tmp_path: Path) -> None:
    """TL-05"""
    with calling(tmp_path) as (client, engine):
        for header in (HEADER, "", "nonsense"):
            body = {"question": "Why?"} if path.endswith("runs") else {"query": "Why?"}
            client.post(path, json=body, headers={"traceparent": header} if header else {}).raise_for_status()
        manifests = [engine.record(item.id).manifest for item in reversed(engine.runs())]
    assert [item.get("traceparent") for item in manifests] == [HEADER, None, None]
