"""Files of traces with JSON that some parsers take and others do not (SC-11)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from plugins.traces.errors import TOO_LARGE
from tests.api.served import calling
from tests.api.test_odd_json import HERE, ODD, places

SPAN: Mapping[str, Any] = {
    "context": {"trace_id": "ab" * 16, "span_id": "cd" * 8},
    "span_kind": "RETRIEVER",
    "attributes": {
        "input": {"value": "Why is the sky blue?"},
        "retrieval": {"documents": [{"document": {"content": "Light scatters.", "score": 0.5}}]},
    },
    "start_time": "2026-01-01T00:00:00Z",
}


def test_a_file_as_deep_as_no_reader_goes_is_refused(tmp_path: Path) -> None:
    text = '[{"a": ' + "[" * 200_000 + "]" * 200_000 + "}]"
    with calling(tmp_path) as (client, _):
        for content in (text, f"{text}\n{text}"):
            answer = client.post("/api/traces", json={"files": [{"name": "a.json", "content": content}]})
            assert (answer.status_code, answer.json()["code"]) == (422, TOO_LARGE.code)


@pytest.mark.parametrize(
    "odd", ["no number", "too large for a float", "thousands of digits", "half a character", "a NUL"]
)
def test_a_file_of_traces_that_holds_odd_json_is_taken_or_refused(odd: str, tmp_path: Path) -> None:
    """As it is, as its text, or in base64."""
    taken = 0
    with calling(tmp_path) as (client, _):
        for place, marked in enumerate(places([SPAN])):
            text = json.dumps(marked).replace(json.dumps(HERE), ODD[odd])
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
