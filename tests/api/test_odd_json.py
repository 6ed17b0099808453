"""JSON that some parsers take and others do not: no route fails on it, wherever it stands (SC-11)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from engine.errors import TracesUnusable
from tests.api.served import calling
from tests.people.requests import address, body_of, declared

_HERE = "@@"
HALF = '"\\ud800"'
ODD = {
    "no number": "NaN",
    "infinite": "-Infinity",
    "too large for a float": "1e400",
    "too large for an integer of 64 bits": "9" * 40,
    "thousands of digits": "9" * 5000,
    "half a character": HALF,
    "a NUL": '"a\\u0000b"',
    "half a character as a name": f"{{{HALF}: 1}}",
    "no number inside": '{"a": [NaN]}',
    "deep": "[" * 30 + "]" * 30,
    "other kinds": "[]",
}
SPAN: Mapping[str, Any] = {
    "context": {"trace_id": "ab" * 16, "span_id": "cd" * 8},
    "span_kind": "RETRIEVER",
    "attributes": {
        "input": {"value": "Why is the sky blue?"},
        "retrieval": {"documents": [{"document": {"content": "Light scatters.", "score": 0.5}}]},
    },
    "start_time": "2026-01-01T00:00:00Z",
}
UNTRIED = {"POST /settings/code"}
"""What asks more of a collection than the fake one has; ``tests/people`` sends requests to the real one."""


def places(value: Any) -> Iterator[Any]:
    """The value with a mark in the place of each part of it, one at a time."""
    yield _HERE
    if isinstance(value, Mapping):
        for name, part in value.items():
            for marked in places(part):
                yield {**value, name: marked}
    elif isinstance(value, list):
        for place, part in enumerate(value):
            for marked in places(part):
                yield [*value[:place], marked, *value[place + 1 :]]


def bodies(route: str) -> Iterator[str]:
    body = body_of(route, "samples")
    if "config" in body:
        grader = {"model": "builtin", "temperature": 0.1}
        body = {**body, "config": {"collection": "samples", "top_k": 2, "models": {"grader": grader}, "options": {}}}
    if route == "POST /traces":
        body = {**body, "files": [{"name": "a.json", "content": "x"}]}
    # Another value in the place of a whole body is refused before it is read.
    yield from (json.dumps(marked) for marked in places(body) if marked != _HERE)


@pytest.mark.parametrize("odd", ODD)
def test_no_route_fails_on_odd_json(odd: str, tmp_path: Path) -> None:
    tried = 0
    with calling(tmp_path, openai_api=True) as (client, engine):
        routes = [item for item in sorted(declared(engine)) if item.startswith(("POST", "PUT"))]
        routes = [item for item in routes if item not in UNTRIED]
        for route in routes:
            method, path = address(route, name="samples", run_id="0" * 32)
            for body in bodies(route):
                content = body.replace(json.dumps(_HERE), ODD[odd]).encode()
                answer = client.request(method, path, content=content, headers={"content-type": "application/json"})
                assert answer.status_code < 500 or answer.status_code in (503, 504), (route, content[:300], answer.text)
                tried += 1
    assert tried > 2 * len(routes) > 30


def test_a_file_as_deep_as_no_reader_goes_is_refused(tmp_path: Path) -> None:
    text = '[{"a": ' + "[" * 200_000 + "]" * 200_000 + "}]"
    with calling(tmp_path) as (client, _):
        for content in (text, f"{text}\n{text}"):
            answer = client.post("/api/traces", json={"files": [{"name": "a.json", "content": content}]})
            assert (answer.status_code, answer.json()["code"]) == (422, TracesUnusable.code)


@pytest.mark.parametrize(
    "odd", ["no number", "too large for a float", "thousands of digits", "half a character", "a NUL"]
)
def test_nor_does_a_file_of_traces_that_holds_it(odd: str, tmp_path: Path) -> None:
    """As it is, as its text, or in base64."""
    taken = 0
    with calling(tmp_path) as (client, _):
        for place, marked in enumerate(places([SPAN])):
            text = json.dumps(marked).replace(json.dumps(_HERE), ODD[odd])
            given = (
                f'"content": {text}',
                f'"content": {json.dumps(text)}',
                f'"content_base64": "{base64.b64encode(text.encode()).decode()}"',
            )
            content = f'{{"files": [{{"name": "a.json", {given[place % 3]}}}]}}'.encode()
            answer = client.post("/api/traces", content=content, headers={"content-type": "application/json"})
            assert answer.status_code < 500, (content[:400], answer.text)
            taken += answer.status_code == 200
        runs = client.get("/api/runs").json()
        assert taken or odd == "thousands of digits"
        assert all(client.get(f"/api/runs/{item['id']}").status_code == 200 for item in runs)
