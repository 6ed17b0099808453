"""What files of traces hold, in every form, and what is said of those that hold nothing (TR-01)."""

from __future__ import annotations

import json
import random
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from engine.errors import WorkbenchError
from plugins.traces.errors import DECODER_MISSING, TOO_LARGE
from plugins.traces.foreign import ForeignTrace
from plugins.traces.trace_file import recognised
from plugins.traces.understanding import MOST_OF_TRACE, MOST_SEARCHES
from tests.plugins.traces.crag_spans import CATS, DOGS, TIDES, CragTrace, file_of, tides
from tests.support.errors import raises


def only(files: list[tuple[str, bytes]]) -> ForeignTrace:
    found = recognised(files)
    assert len(found.traces) == 1
    return found.traces[0]


def test_a_loop_is_read_with_its_rounds_verdicts_calls_and_answer() -> None:
    trace = only(file_of(tides().otlp("The moon.")))
    assert [search.query for search in trace.searches] == ["What causes tides?", "moon and sea"]
    assert {(v.round, v.passage, v.relevant) for v in trace.verdicts} == {
        (0, "dogs", False),
        (0, "cats", False),
        (1, "tides", True),
        (1, "dogs", False),
    }
    assert [call.role for call in trace.calls] == ["grader", "grader", "rewriter", "grader", "grader", "generator"]
    assert trace.given == ("tides",)
    assert (trace.question, trace.answer, trace.project) == ("What causes tides?", "The moon.", "crag")


@given(st.randoms(use_true_random=False))
def test_the_order_of_spans_and_spans_that_came_twice_change_nothing(shuffled: random.Random) -> None:
    whole = tides().otlp("The moon.")
    spans = whole["resourceSpans"][0]["scopeSpans"][0]["spans"]
    mixed = [*spans, *spans[::2]]
    shuffled.shuffle(mixed)
    other = {"resourceSpans": [{**whole["resourceSpans"][0], "scopeSpans": [{"spans": mixed}]}]}
    assert only(file_of(other)) == only(file_of(whole))


def test_searches_at_the_same_time_are_one_round_merged_by_rank() -> None:
    made = CragTrace("b", "tides?")
    made.retrieve("moon", [("tides", TIDES, 3.0), ("dogs", DOGS, 2.0)], at=1)
    made.retrieve("sea", [("cats", CATS, 9.0), ("tides", TIDES, 8.0)], at=2)
    trace = only(file_of(made.otlp()))
    assert [(s.lists, s.query) for s in trace.searches] == [(2, "tides?")]
    assert [p.id for p in trace.searches[0].passages] == ["tides", "cats", "dogs"]


def test_documents_that_a_grading_step_gave_on_passed_and_the_others_did_not() -> None:
    made = CragTrace("c", "tides?").retrieve("tides?", [("tides", TIDES, None), ("cats", CATS, None)])
    documents = [{"page_content": TIDES}, {"page_content": CATS}]
    given = {
        "input.value": json.dumps({"documents": documents}),
        "output.value": json.dumps({"documents": documents[:1]}),
    }
    made.span("grade_documents", "CHAIN", given)
    trace = only(file_of(made.otlp()))
    assert {(v.passage, v.relevant) for v in trace.verdicts} == {("tides", True), ("cats", False)}
    assert [note.code for note in trace.notes] == ["by_survival"]


def test_an_annotation_gives_a_verdict_with_its_score_and_reason() -> None:
    documents = [("tides", TIDES, None), ("cats", CATS, None), ("dogs", DOGS, None)]
    made = CragTrace("e", "tides?").retrieve("tides?", documents)
    results = (
        {"label": "relevant", "score": 0.9, "explanation": "It says why."},
        {"label": "unrelated"},
        {"score": 0.2},
    )
    notes = [
        {"span_id": made.spans[-1]["spanId"], "document_position": place, "name": "judge", "result": result}
        for place, result in enumerate(results)
    ]
    trace = only([*file_of(made.otlp()), ("notes.json", json.dumps({"data": notes}).encode())])
    assert {(v.passage, v.relevant, v.score, v.reason) for v in trace.verdicts} == {
        ("tides", True, 0.9, "It says why."),
        ("cats", False, None, ""),
        ("dogs", False, 0.2, ""),
    }


def test_a_reranker_sets_the_order_and_what_it_left_out_comes_after() -> None:
    made = CragTrace("d", "tides?").retrieve(
        "tides?", [("cats", CATS, 0.9), ("tides", TIDES, 0.8), ("dogs", DOGS, 0.7)]
    )
    output = {"reranker.output_documents.0.document.content": TIDES, "reranker.output_documents.0.document.score": 0.99}
    made.span("rerank", "RERANKER", output)
    assert [p.id for p in only(file_of(made.otlp())).searches[0].passages] == ["tides", "cats", "dogs"]


def test_binary_otlp_is_the_same_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tides("a1" * 16).otlp("The moon.")
    message = TracesData()
    resource = message.resource_spans.add()
    resource.resource.attributes.add(key="openinference.project.name").value.string_value = "crag"
    for raw in whole["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        span = (resource.scope_spans or [resource.scope_spans.add()])[0].spans.add()
        identity = {"root": "f" * 16, "": ""}.get(raw["spanId"], raw["spanId"])
        parent = {"root": "f" * 16}.get(raw.get("parentSpanId", ""), "")
        span.trace_id, span.span_id, span.parent_span_id = map(bytes.fromhex, (raw["traceId"], identity, parent))
        span.name = raw["name"]
        span.start_time_unix_nano, span.end_time_unix_nano = int(raw["startTimeUnixNano"]), int(raw["endTimeUnixNano"])
        for item in raw["attributes"]:
            value = span.attributes.add(key=item["key"]).value
            [(kind, content)] = item["value"].items()
            setattr(value, {"stringValue": "string_value", "doubleValue": "double_value"}[kind], content)
    data = message.SerializeToString()
    binary, text = only([("traces.bin", data)]), only(file_of(whole))
    assert (binary.searches, binary.verdicts, binary.trace_id) == (text.searches, text.verdicts, text.trace_id)
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.trace.v1.trace_pb2", None)
    with raises(DECODER_MISSING, match="opentelemetry-proto"):
        recognised([("traces.bin", data)])


def test_bad_lines_are_named_and_the_others_are_taken() -> None:
    good = json.dumps(tides().otlp("The moon."))
    found = recognised([("x.jsonl", f"{good}\n{{broken\n{good}\n".encode())])
    assert len(found.traces) == 1
    assert [item.params["line"] for item in found.left_out] == ["2"]


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85"], ids=ascii)
def test_a_line_ends_at_its_newline_alone(sign: str) -> None:
    """Strings of JSON hold separators of other standards, in our own exports too."""
    good = json.dumps(tides().otlp(f"The{sign}moon."), ensure_ascii=False)
    good = good.replace(sign, sign) if sign >= "\x20" else good
    found = recognised([("x.jsonl", f"{good}\r\n{good}\n".encode())])
    assert (len(found.traces), found.left_out) == (1, ())


def _circle() -> dict[str, Any]:
    made = tides().otlp("The moon.")
    spans = made["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans[0]["parentSpanId"] = spans[1]["spanId"]
    return made


def test_parents_in_a_circle_and_markup_in_texts_harm_nothing() -> None:
    made = _circle()
    made["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"] = "<script>alert(1)</script>"
    assert len(only(file_of(made)).searches) == 2


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "WB960"),
        (b"\x00\x01\x02\xff", "WB960"),
        (b"no json", "WB960"),
        (b"[" * 100_000, "WB960"),
        (b'{"a": ' * 5_000 + b"1" + b"}" * 5_000, "WB960"),
        (b"{}", "WB960"),
        (b'{"resourceSpans": [null, 1, {"scopeSpans": "x"}, {"resource": 3}]}', "WB960"),
        (b'{"observations": [null], "id": 3}', "WB960"),
        (b'{"run_type": null, "id": [1]}', "WB960"),
        (b'{"workbench_trace": 1, "steps": [null, 3, {"kind": "retrieval"}]}', "WB960"),
        (b'{"context": {"span_id": "a", "trace_id": "b"}, "attributes": "[NaN", "start_time": NaN}', "WB960"),
    ],
)
def test_what_holds_no_trace_is_a_clear_error(data: bytes, code: str) -> None:
    with pytest.raises(WorkbenchError) as fault:
        recognised([("x.json", data)])
    assert fault.value.code == code
    assert fault.value.remedy


_KEYS = (
    *("resourceSpans", "scopeSpans", "spans", "traceId", "spanId", "attributes", "key", "value", "id", "context"),
    *("span_id", "trace_id", "run_type", "outputs", "documents", "page_content", "steps", "workbench_trace", "kind"),
    *("observations", "input", "output", "startTime", "parent_id", "resource", "status", "data"),
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**20) | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=4),
    max_leaves=12,
)


@given(_json)
def test_any_json_is_read_or_refused_with_a_remedy(value: Any) -> None:
    try:
        found = recognised([("x.json", json.dumps(value).encode())])
    except WorkbenchError as refused:
        said: object = refused.remedy
    else:
        said = found.traces or found.left_out
    assert said


def one_span(**changes: Any) -> dict[str, Any]:
    """An export of one search, with fields of its span changed."""
    whole = CragTrace("odd", "tides?").retrieve("tides?", [("tides", TIDES, 0.9)]).otlp()
    [scope] = whole["resourceSpans"][0]["scopeSpans"]
    scope["spans"][-1] |= changes
    return whole


@pytest.mark.parametrize("key", ["²", "9" * 5000], ids=["superscript", "endless"])
def test_a_key_that_is_no_place_is_one_of_an_object(key: str) -> None:
    more = [{"key": f"retrieval.extra.{key}", "value": {"stringValue": "x"}}]
    whole = one_span()
    for span in whole["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        span["attributes"] += [*more, {"key": f"retrieval.documents.{key}.document.content", "value": {}}]
    assert len(recognised(file_of(whole)).traces) == 1


@pytest.mark.parametrize("time", ["9" * 40, "9" * 400, 1e308 * 10], ids=["far", "farther", "infinite"])
def test_a_time_that_no_calendar_has_stops_nothing(time: object) -> None:
    data = json.dumps(one_span(startTimeUnixNano=time, endTimeUnixNano=time)).replace("Infinity", "1e999").encode()
    assert len(recognised([("odd.json", data)]).traces) == 1


def test_a_trace_of_many_steps_is_left_out_with_the_reason() -> None:
    """Its steps are compared with each other: thousands of them would keep a processor busy for hours (TR-01)."""
    long = CragTrace("long", "tides?")
    for place in range(MOST_SEARCHES + 1):
        long.retrieve(f"tides {place}?", [("tides", TIDES, 0.9)])
    with raises(TOO_LARGE, match=f"{MOST_SEARCHES} searches"):
        recognised(file_of(long.otlp()))
    found = recognised(file_of(long.otlp(), tides().otlp("The moon.")))
    assert [item.code for item in found.left_out] == ["many_searches"]
    span = one_span()["resourceSpans"][0]["scopeSpans"][0]["spans"][-1]
    many = [{**span, "spanId": f"{place:016x}"} for place in range(MOST_OF_TRACE + 1)]
    with raises(TOO_LARGE, match=f"{MOST_OF_TRACE} spans"):
        recognised(file_of({"resourceSpans": [{"scopeSpans": [{"spans": many}]}]}))
