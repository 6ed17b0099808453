"""JSON that some parsers take and others do not: no route fails on it, wherever it stands (SC-11)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.api.served import calling
from tests.support.brought import brought
from tests.support.requests import address, body_of, declared

HERE = "@@"
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
UNTRIED = {"POST /settings/code"}
"""What asks more of a collection than the fake one has; ``tests/plugins/team`` sends requests to the real one."""


def places(value: Any) -> Iterator[Any]:
    """The value with a mark in the place of each part of it, one at a time."""
    yield HERE
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
    # Another value in the place of a whole body is refused before it is read.
    yield from (json.dumps(marked) for marked in places(body) if marked != HERE)


@pytest.mark.parametrize("odd", ODD)
def test_no_route_fails_on_odd_json(odd: str, tmp_path: Path) -> None:
    tried = 0
    with calling(tmp_path, **brought("SETTINGS")) as (client, _):
        routes = [item for item in sorted(declared()) if item.startswith(("POST", "PUT"))]
        routes = [item for item in routes if item not in UNTRIED]
        for route in routes:
            method, path = address(route, name="samples", run_id="0" * 32)
            for body in bodies(route):
                content = body.replace(json.dumps(HERE), ODD[odd]).encode()
                answer = client.request(method, path, content=content, headers={"content-type": "application/json"})
                assert answer.status_code < 500 or answer.status_code in (503, 504), (route, content[:300], answer.text)
                tried += 1
    assert tried > 2 * len(routes) > 30
