"""Requests that are large or full of something: refused before anything is made of them, while others are served."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.types import Message

from engine.api.encoding import from_base64
from engine.api.incoming import DEEPEST, MOST_NAMES, MOST_SIGNS, MOST_VALUES, QuickRequest, Refused, Shape
from engine.api.web import ApiGuard
from engine.plugins import plugins
from tests.api.served import app_of, calling, dial, engine_of, raw, received, serving
from tests.support.brought import brought
from tests.support.gates import PATIENCE_S

SEED = "/api/self-corrective-rag"
JSON = {"content-type": "application/json"}
NAMES = json.dumps({f"k{place}": 1 for place in range(MOST_NAMES + 1)}).encode()
PATHS = [
    SEED,
    "/api/runs",
    "/api/attachments",
    "/api/collections/samples/sources",
    "/api/collections/samples/graph",
    "/api/runs/x/what-if",
    "/api/runs/x/fork",
    "/api/runs/x/fork/price",
]


@pytest.mark.parametrize("path", PATHS)
def test_too_many_names_are_one_fault_and_not_one_each(tmp_path: Path, path: str) -> None:
    with calling(tmp_path) as (client, _):
        answer = client.post(path, content=NAMES, headers=JSON)
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"field": "body", "problem": f"must hold at most {MOST_NAMES} names"}]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b'{"question": [' + b"1," * MOST_VALUES + b"1]}", f"must hold at most {MOST_VALUES} values"),
        (b'{"question": ' + b"[" * (DEEPEST + 1), "nested too deeply"),
        (b'{"question": "q"}'.decode().encode("utf-16-le"), "not valid JSON"),
        (b'{"question": "' + b"\\n" * MOST_SIGNS, "must be shorter, apart from files in base64"),
        (b'{"question": ' + b"9" * 200_000, "not valid JSON"),
        (b"\x89PNG" + os.urandom(1000), "not valid JSON"),
        (b'["question"]', "not an object"),
    ],
)
def test_what_a_body_is_full_of_is_named(tmp_path: Path, body: bytes, problem: str) -> None:
    with calling(tmp_path) as (client, _):
        answer = client.post("/api/runs", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["errors"]) == (422, [{"field": "body", "problem": problem}])


def test_of_many_unknown_fields_the_first_are_reported(tmp_path: Path) -> None:
    with calling(tmp_path) as (client, _):
        answer = client.post("/api/runs", json={"question": "first", **{f"k{place}": 1 for place in range(500)}})
    assert answer.status_code == 422
    assert 1 < len(answer.json()["errors"]) <= 20


def test_others_have_their_turn_while_a_large_body_comes_in() -> None:
    """The whole body is there at once: nothing but the guard itself lets go."""
    pieces = 20
    message = {"type": "http.request", "body": b"x" * (1 << 20), "more_body": True}
    coming: list[Message] = [{**message, "body": b'{"a": "'}, *[message] * pieces, {**message, "more_body": False}]
    turns = 0

    async def receive() -> Message:
        return coming.pop(0)

    async def send(_: Message) -> None:
        raise AssertionError("refused")

    async def app(*_: Any) -> None:
        return

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async def both() -> None:
        background = asyncio.create_task(others())
        headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": "/api/runs", "headers": headers}
        await ApiGuard(app)(scope, receive, send)
        background.cancel()

    asyncio.run(both())
    assert turns > pieces


def test_who_still_sends_is_given_the_answer(tmp_path: Path) -> None:
    """Closed on in the middle of its body, a caller would find its connection reset instead."""
    body = NAMES + b" " * 2_000_000
    with engine_of(tmp_path) as engine, serving(app_of(engine)) as port, dial(port) as connection:
        connection.sendall(raw("POST", "/api/runs", body))
        answer = received(connection, b"}]}")
    assert answer.startswith(b"HTTP/1.1 422 ")


def test_a_file_of_the_largest_size_is_taken(tmp_path: Path) -> None:
    content = os.urandom(1_000_000)
    body = {"name": "a.md", "content_base64": base64.b64encode(content).decode()}
    with calling(tmp_path, max_upload_mb=1) as (client, engine):
        job = client.post("/api/collections/samples/sources", json=body).json()
        assert engine.ingestions.wait(job["id"], PATIENCE_S).state == "done"
        knowledge = engine.resources.knowledge
    assert knowledge.given[0][1][0].data == content  # type: ignore[attr-defined]


def test_a_file_is_read_by_the_quick_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one would hold up everybody else for as long as it reads."""

    async def slowly(_: Request) -> Any:
        raise AssertionError("the slow parser")

    monkeypatch.setattr(Request, "json", slowly)
    content = base64.b64encode(os.urandom(60_000)).decode()
    with calling(tmp_path) as (client, _):
        answer = client.post("/api/runs", json={"question": "first", "files": content})
    assert (answer.status_code, answer.json()["errors"]) == (422, [{"field": "files", "problem": "unknown field"}])


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": "\\ud83d"}',
        b'\xef\xbb\xbf{"a": 1}',
        b'{"a": NaN, "b": [-Infinity, 1e400, 0.1, 5e-324, 123456789012345678901234567890], "a": 2}',
        b'{"a": "\\u0000\\u00e9"}',
    ],
)
def test_the_quick_parser_reads_what_the_other_one_reads(body: bytes) -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    read = asyncio.run(QuickRequest({"type": "http"}, receive).json())
    assert repr(read) == repr(json.loads(body))


@pytest.mark.parametrize(
    "body", [b'{"a": 1,}', b'{"a": 1} x', b'{"a": "\xff"}', b'{"a": 01}', b'{"a": "\n"}', b"{'a': 1}"]
)
def test_what_is_not_json_is_refused_in_the_same_words(body: bytes) -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    with pytest.raises(ValueError) as ours:
        asyncio.run(QuickRequest({"type": "http"}, receive).json())
    with pytest.raises(ValueError) as theirs:
        json.loads(body)
    assert (type(ours.value), str(ours.value)) == (type(theirs.value), str(theirs.value))


def test_a_table_of_many_rows_is_taken(tmp_path: Path) -> None:
    table = {"name": "t", "kind": "table", "rows": [["a", 1, 2.5, None, True]] * 10_000}
    body = {"question": "first", "workflow": "graph_hybrid", "attachments": [table]}
    with calling(tmp_path) as (client, engine):
        answer = client.post("/api/runs", json={**body, "wait": False})
        assert answer.status_code == 202, answer.text
        engine.cancel(answer.json()["id"])


_TEXTS = st.text(alphabet='ab"\\:,[]{} é中\n', max_size=12)
_VALUES = st.recursive(
    _TEXTS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=20,
)


def _held(value: Any) -> tuple[int, int]:
    """Names in a value, and its depth."""
    inside = [*value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    counts = [_held(item) for item in inside]
    names = sum(count for count, _ in counts) + (len(value) if isinstance(value, dict) else 0)
    container = isinstance(value, dict | list)
    return names, max((depth for _, depth in counts), default=0) + container


@given(value=st.dictionaries(_TEXTS, _VALUES, max_size=5), ascii_only=st.booleans(), step=st.integers(1, 9))
def test_names_and_depth_are_counted_whatever_the_texts_and_pieces(
    value: dict[str, Any], ascii_only: bool, step: int
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only).encode()
    names, depth = _held(value)
    shape = Shape()
    for start in range(0, len(text), step):
        shape.add(text[start : start + step])
    assert (shape.names, shape.depth_reached) == (names, depth)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 1 << 20, (1 << 20) + 1, 2_400_000])
def test_base64_is_decoded_bit_by_bit(size: int) -> None:
    content = os.urandom(size)
    assert from_base64(base64.b64encode(content).decode()) == content


@pytest.mark.parametrize("text", ["====", "AAA", "AA==" + "A" * (1 << 20), "A" * (1 << 20) + "é", "AA AA"])
def test_what_is_not_base64_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        from_base64(text)


def test_a_shape_refuses_at_the_limit_and_not_before() -> None:
    shape = Shape()
    shape.add(b"{" + b'"a":1,' * MOST_NAMES)
    with pytest.raises(Refused):
        shape.add(b'"a":1')


def of_size(size: int) -> bytes:
    empty = json.dumps({"query": "first", "x": ""})
    return json.dumps({"query": "first", "x": "y" * (size - len(empty))}).encode()


def in_pieces(body: bytes) -> Iterator[bytes]:
    """Sent without a Content-Length."""
    yield from (body[start : start + 9999] for start in range(0, len(body), 9999))


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(("size", "status"), [(65536, 422), (65537, 413), (1_000_000, 413)])
def test_a_body_may_have_64_kib_whether_its_length_is_declared_or_not(
    tmp_path: Path, size: int, status: int, declared: bool
) -> None:
    body = of_size(size)
    assert len(body) == size
    chunks = [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in in_pieces(body)]
    rest = body if declared else b"".join([*chunks, b"0\r\n\r\n"])
    length = f"Content-Length: {size}" if declared else "Transfer-Encoding: chunked"
    head = raw("POST", SEED, headers=["Content-Type: application/json", length])
    with engine_of(tmp_path) as engine, serving(app_of(engine)) as port, dial(port) as connection:
        connection.sendall(head)
        connection.sendall(rest)
        assert received(connection, b"\r\n").startswith(b"HTTP/1.1 %d " % status)


def test_a_length_that_is_too_large_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    head = raw("POST", SEED, headers=["Content-Type: application/json", "Content-Length: 999999999999"])
    with engine_of(tmp_path) as engine, serving(app_of(engine)) as port, dial(port) as connection:
        connection.sendall(head)
        assert received(connection, b"\r\n").startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("length", ["0" * 5000 + "9", "9" * 5000])
def test_a_length_of_thousands_of_digits_is_only_a_number(length: str) -> None:
    reached: list[str] = []
    sent: list[Message] = []

    async def app(*_: Any) -> None:
        reached.append("app")

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"content-length", length.encode())]
    scope = {"type": "http", "method": "POST", "path": "/runs", "headers": headers}
    asyncio.run(ApiGuard(app)(scope, receive, send))
    started = [message for message in sent if message["type"] == "http.response.start"]
    assert (len(reached), len(started)) == ((1, 0) if length.startswith("0") else (0, 1))


def test_a_file_may_be_larger_than_other_bodies_but_not_without_limit(tmp_path: Path) -> None:
    path = "/api/collections/samples/sources"
    with calling(tmp_path, max_upload_mb=1) as (client, _):
        small = client.post(path, json={"name": "a.md", "content_base64": "AAAA" * 100_000})
        large = client.post(path, json={"name": "a.md", "content_base64": "AAAA" * 400_000})
    assert (small.status_code, large.status_code) == (202, 413)


def test_a_body_that_breaks_off_reaches_nobody() -> None:
    messages: Iterator[Message] = iter(
        [{"type": "http.request", "body": b'{"query": "first"}', "more_body": True}, {"type": "http.disconnect"}]
    )
    reached: list[str] = []

    async def app(*_: Any) -> None:
        reached.append("app")

    async def receive() -> Message:
        return next(messages)

    async def send(_: Message) -> None:
        reached.append("answer")

    scope = {"type": "http", "method": "POST", "path": SEED, "headers": [(b"host", b"127.0.0.1")]}
    asyncio.run(ApiGuard(app)(scope, receive, send))
    assert reached == []


def test_what_brings_files_may_be_larger_than_other_requests(tmp_path: Path) -> None:
    theirs = [path for plugin in plugins() for path in plugin.uploads]
    body = {"name": "a" * 100_000}
    with calling(tmp_path, **brought("SETTINGS")) as (client, _):
        assert client.post("/api/tokens", json=body).status_code == 413
        for path in ("/api/attachments", "/api/collections/samples/sources", *theirs):
            assert client.post(path, json=body).status_code in (400, 422), path
