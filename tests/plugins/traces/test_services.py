"""Langfuse, as its documented schema has it; untried against the service (TR-01)."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from engine.model.values import OriginNote
from plugins.traces.errors import TOO_LARGE
from plugins.traces.phoenix import nanoseconds
from plugins.traces.report import said_of
from plugins.traces.trace_file import recognised
from tests.plugins.traces.crag_spans import CATS, TIDES
from tests.support.errors import raises

DOCUMENTS = [
    {"page_content": TIDES, "metadata": {"source": "sea.md", "score": 0.9}, "type": "Document"},
    {"page_content": CATS, "metadata": {"source": "pets.md", "score": 0.2}, "type": "Document"},
]


def at(second: int) -> str:
    return f"2026-05-04T10:00:{second:02d}.000Z"


def test_a_trace_of_langfuse_with_its_observations() -> None:
    def observation(name: str, kind: str, second: int, **more: Any) -> dict[str, Any]:
        times = {"startTime": at(second), "endTime": at(second + 1)}
        return {"id": f"o{second}", "traceId": "lf1", "type": kind, "name": name, **times, **more}

    trace = {
        "id": "lf1",
        "projectId": "pets and seas",
        "timestamp": at(0),
        "input": {"question": "What makes tides?"},
        "output": "The moon.",
        "observations": [
            observation("retrieve", "RETRIEVER", 1, input="What makes tides?", output=DOCUMENTS),
            observation(
                "grade_documents", "GENERATION", 3, input=f"Grade: {TIDES}", output={"score": "yes"}, model="m"
            ),
            observation("grade_documents", "GENERATION", 5, input=f"Grade: {CATS}", output={"score": "no"}, model="m"),
            observation("generate", "GENERATION", 7, input=f"{TIDES} What?", output="The moon.", usage={"input": 40}),
        ],
        "scores": [{"name": "helpfulness", "value": 0.9}],
    }
    found = recognised([("langfuse.json", json.dumps({"data": [trace]}).encode())])
    [made] = found.traces
    assert (made.tool, made.project, made.question, made.answer) == (
        "langfuse",
        "pets and seas",
        "What makes tides?",
        "The moon.",
    )
    assert [(item.source, item.score) for item in made.searches[0].passages] == [("sea.md", 0.9), ("pets.md", 0.2)]
    assert sorted((item.relevant is True, item.grader) for item in made.verdicts) == [(False, "m"), (True, "m")]
    assert [call.prompt_tokens for call in made.calls] == [None, None, 40]
    # A score of the whole trace is no verdict on a passage.
    assert [item.code for item in found.left_out] == ["scores"]


QUESTION = "What makes tides?"


def step(second: int, kind: str, name: str, given: Any, made: Any, **more: Any) -> dict[str, Any]:
    own = {"id": f"o{second}", "traceId": "lf1", "projectId": "p1", "type": kind, "name": name, "model": "m"}
    times = {"startTime": at(second), "endTime": at(second + 1)}
    return {**own, **times, "parentObservationId": None, "input": given, "output": made, **more}


TRACE = {
    "id": "lf1",
    "projectId": "p1",
    "timestamp": at(0),
    "bookmarked": False,
    "input": json.dumps({"args": [QUESTION], "kwargs": {}}),
    "output": json.dumps({"answer": "The moon pulls the sea."}),
}
STEPS = [
    step(1, "RETRIEVER", "retrieve", QUESTION, json.dumps(DOCUMENTS)),
    step(3, "GENERATION", "grade_documents", f"Grade: {TIDES}", '{"score": "yes"}'),
    step(5, "GENERATION", "grade_documents", f"Grade: {CATS}", {"score": "no"}),
    step(7, "GENERATION", "generate", f"{TIDES} What?", "The moon.", usageDetails={"input": 40}),
]
BARE = [{**item, "input": None, "output": None} for item in STEPS]
CUT = [{name: value for name, value in item.items() if name not in ("input", "output")} for item in STEPS]
TOP = step(0, "SPAN", "loop", {"question": QUESTION}, "The moon pulls the sea.", endTime=at(9))
WITHIN = [{**item, "parentObservationId": "o0"} for item in STEPS]
STORED = {
    "traceId": "trace_id",
    "parentObservationId": "parent_observation_id",
    "startTime": "start_time",
    "endTime": "end_time",
    "model": "provided_model_name",
    "usageDetails": "usage_details",
    "projectId": "project_id",
}


def stored(item: Mapping[str, Any]) -> dict[str, Any]:
    return {STORED.get(name, name): value for name, value in item.items()}


def table(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """A table as Langfuse exports it: texts as they are, anything else as JSON, nothing for null."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer.writerow(names)
    for row in rows:
        cells = (row.get(name) for name in names)
        writer.writerow("" if cell is None else cell if isinstance(cell, str) else json.dumps(cell) for cell in cells)
    return text.getvalue().encode()


def lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


EXPORTS: dict[str, list[Any]] = {
    "page": [{"trace": TRACE, "observations": STEPS}],
    "page, written twice": [{"trace": {**TRACE, "observations": BARE}, "observations": STEPS}],
    "page, contents first": [{"trace": {**TRACE, "observations": STEPS}, "observations": BARE}],
    "page, inside the trace": [{"trace": {**TRACE, "observations": STEPS}}],
    "page, underscores": [{"trace": TRACE, "observations": [stored(item) for item in STEPS]}],
    "download": [{"observations": [TOP, *WITHIN], "scores": []}],
    "download with a trace": [
        {"trace": {**TRACE, "input": None, "output": None}, "observations": [TOP, *WITHIN], "scores": []}
    ],
    "API": [{**TRACE, "htmlPath": "/t", "observations": STEPS}],
    "pages of observations": [{"data": [TOP, *WITHIN[:2]], "meta": {}}, {"data": WITHIN[2:], "meta": {}}],
    "tables as JSON": [[TRACE], STEPS],
    "tables as JSON, steps first": [STEPS, [TRACE]],
    "tables as JSON Lines": [lines([TRACE]), lines(STEPS)],
    "tables as CSV": [table([TRACE]), table(STEPS)],
    "a table as CSV": [table([TOP, *WITHIN])],
    "storage": [lines([stored(TRACE)]), lines([stored(item) for item in STEPS])],
}


@pytest.mark.parametrize("files", EXPORTS.values(), ids=EXPORTS)
def test_every_export_of_langfuse_is_the_same_trace(files: list[Any]) -> None:
    given = [item if isinstance(item, bytes) else json.dumps(item).encode() for item in files]
    found = recognised([(f"{place}.json", data) for place, data in enumerate(given)])
    [made] = found.traces
    assert (made.tool, made.project, made.trace_id) == ("langfuse", "p1", "lf1")
    assert (made.question, made.answer) == (QUESTION, "The moon pulls the sea.")
    [search] = made.searches
    assert (search.query, [item.text for item in search.passages]) == (QUESTION, [TIDES, CATS])
    by_id = {item.id: item.text for item in search.passages}
    assert {(by_id[item.passage], item.relevant) for item in made.verdicts} == {(TIDES, True), (CATS, False)}
    assert [(call.model, call.prompt_tokens) for call in made.calls] == [("m", None), ("m", None), ("m", 40)]
    assert (made.notes, found.left_out) == ((), ())


BARREN: dict[str, tuple[Any, str]] = {
    "page": ({"trace": {**TRACE, "observations": BARE}, "observations": BARE}, "no contents"),
    "large download": ({"observations": CUT, "scores": []}, "no contents"),
    "API without io": ({"data": CUT, "meta": {}}, "no contents"),
    # A page keeps the contents of the step that was open in it.
    "one step open": ({"trace": TRACE, "observations": [*BARE[:3], STEPS[3]]}, "no contents"),
    "a search without its documents": (
        {"trace": TRACE, "observations": [{**STEPS[0], "output": None}, *STEPS[1:]]},
        "no contents",
    ),
    "table of traces": ([TRACE], "without their observations"),
    "list of the API": ({"data": [{**TRACE, "observations": ["o1", "o3"]}]}, "without their observations"),
    "session": ({"id": "s1", "traces": [TRACE], "comments": []}, "without their observations"),
}


@pytest.mark.parametrize(("value", "fault"), BARREN.values(), ids=BARREN)
def test_an_export_of_langfuse_without_contents_says_so(value: Any, fault: str) -> None:
    with raises(TOO_LARGE, match=fault) as raised:
        recognised([("langfuse.json", json.dumps(value).encode())])
    assert "Export the table of observations" in raised.value.remedy


def test_traces_of_langfuse_that_lack_something_are_named_among_others() -> None:
    bare = [{**item, "traceId": "lf2"} for item in BARE]
    pages: list[dict[str, Any]] = [
        {"trace": TRACE, "observations": [*STEPS[:3], {**STEPS[3], "output": None}]},
        {"trace": {**TRACE, "id": "lf2"}, "observations": bare},
        {"trace": {**TRACE, "id": "lf3"}, "observations": []},
    ]
    found = recognised([("langfuse.jsonl", lines(pages))])
    assert [(made.answer, made.notes) for made in found.traces] == [
        ("The moon pulls the sea.", (OriginNote("contents_missing", {"n": "1"}),))
    ]
    assert [said_of(item) for item in found.left_out] == [
        "trace lf2: 5 spans, without what its searches took in and gave",
        "trace lf3: it came without its observations",
    ]


def test_a_broken_table_of_langfuse_says_why() -> None:
    broken = table(STEPS) + b'"o9","un'
    with raises(TOO_LARGE, match="unexpected end of data"):
        recognised([("langfuse.csv", broken)])


def test_a_table_of_langfuse_without_rows_is_no_json_of_another_form() -> None:
    with raises(TOO_LARGE, match="holds 0 spans"):
        recognised([("langfuse.csv", b"id,traceId,startTime,type\n")])


@pytest.fixture
def far_east(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that is eight hours ahead; as it is where the zone of a process cannot be set."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC-8")
        if hasattr(time, "tzset"):
            time.tzset()
        yield
    if hasattr(time, "tzset"):
        time.tzset()


@pytest.mark.usefixtures("far_east")
def test_times_without_a_zone_are_utc() -> None:
    assert nanoseconds("2026-05-04 10:00:01.000000") == nanoseconds(at(1)) == 1_777_888_801 * 10**9
