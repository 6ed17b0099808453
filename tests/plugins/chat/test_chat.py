"""``/v1`` through OpenAI's own client, on a real server (CH-01 to CH-06)."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from engine.engine import Engine
from engine.errors import ModelError, UnknownCollection
from engine.model.config import RunConfig
from engine.model.values import RunRecord
from engine.people import acting_as
from engine.records import CHAT
from plugins.chat import models
from plugins.chat.api import create_chat_api
from plugins.chat.bodies import ChatMessage
from plugins.chat.tasks import task_reply
from tests.api.served import app_of, calling, engine_of, relevant, serving
from tests.plugins.chat import ROUTES
from tests.support.fakes import FakeGenerator, FakeGrader, FakeResources
from tests.support.gates import PATIENCE_S, Gate
from tests.support.people import EDITOR, signing_in
from tests.support.requests import no_engine, routes_of

QUESTION = "What is a power set?"
PICTURES = Path(__file__).parents[2] / "attachments" / "images"


@contextmanager
def served(folder: Path, resources: FakeResources | None = None, **settings: Any) -> Iterator[tuple[OpenAI, Engine]]:
    """OpenAI's client at an engine of fakes, with no key that is worth anything."""
    with engine_of(folder, resources, openai_api=True, **settings) as engine:
        app = app_of(engine, heartbeat_s=0.01)
        with (
            serving(app) as port,
            OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", timeout=PATIENCE_S) as client,
        ):
            yield client, engine


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OpenAI, Engine]]:
    with served(tmp_path_factory.mktemp("chat")) as found:
        yield found


def said(text: str, role: str = "user") -> Any:
    return {"role": role, "content": text}


def ask(client: OpenAI, *messages: Any, model: str = "default", **more: Any) -> Any:
    return client.chat.completions.create(model=model, messages=messages or [said(QUESTION)], **more)


def run_of(engine: Engine, completion: Any) -> RunRecord:
    return engine.record(completion.workbench["run"])


def streamed(client: OpenAI, *messages: Any, **more: Any) -> list[Any]:
    return list(ask(client, *messages, stream=True, **more))


def text_of(chunks: list[Any]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def test_saved_settings_are_models_whatever_their_names(shared: tuple[OpenAI, Engine]) -> None:
    """CH-01"""
    client, engine = shared
    names = ("strict", "für Ärzte", "严格/诊断 ü?", "a.b%20c")
    for place, name in enumerate(names, 2):
        engine.evaluation.save_settings(name, RunConfig(top_k=place))
    listed = {model.id: model for model in client.models.list()}
    assert {"default", *names} <= set(listed)
    for place, name in enumerate(names, 2):
        assert client.models.retrieve(name).id == name
        assert listed[name].created > 1_700_000_000
        assert run_of(engine, ask(client, model=name)).config == RunConfig(top_k=place)
    with pytest.raises(openai.NotFoundError, match="no model 'gpt-4o'"):
        ask(client, model="gpt-4o")
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-4o")


def test_settings_saved_as_default_take_the_place_of_the_machines_own(tmp_path: Path) -> None:
    with served(tmp_path) as (client, engine):
        engine.evaluation.save_settings("default", RunConfig(top_k=3))
        assert [model.id for model in client.models.list()] == ["default"]
        assert run_of(engine, ask(client)).config.top_k == 3


def test_an_answer_is_a_run_with_its_citations_as_annotations_and_footnotes(shared: tuple[OpenAI, Engine]) -> None:
    """CH-02"""
    client, engine = shared
    found = ask(client)
    record = run_of(engine, found)
    (choice,) = found.choices
    text, notes = choice.message.content, choice.message.annotations
    assert (choice.finish_reason, choice.message.role) == ("stop", "assistant")
    assert text.startswith(record.answer)
    assert [item.type for item in notes] == ["url_citation"] * len(record.citations)
    for item, citation in zip(notes, record.citations, strict=True):
        about = item.url_citation
        assert text[about.start_index : about.end_index] == f"[{citation.marker}]"
        assert about.url.endswith(f"/?run={record.id}&passage={citation.passage_id}")
        assert citation.source in about.title
    assert f"[1] {record.citations[0].source}" in text.replace("\\", "")
    assert text.endswith(f"/?run={record.id}")
    own = found.workbench
    assert (own["outcome"], own["question"], own["passed"]) == ("answered", QUESTION, 5)
    assert own["calls"] == record.calls
    assert engine.runs(tag=CHAT)[0].id == record.id


def test_a_chat_program_names_the_span_above_the_run(shared: tuple[OpenAI, Engine]) -> None:
    """TL-05"""
    client, engine = shared
    header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    below = ask(client, said("What is tea?"), extra_headers={"traceparent": header})
    assert run_of(engine, below).manifest["traceparent"] == header
    assert "traceparent" not in run_of(engine, ask(client, said("What is tea?"))).manifest


def test_footnotes_can_be_left_out(shared: tuple[OpenAI, Engine]) -> None:
    client, engine = shared
    found = ask(client, extra_body={"workbench": {"footnotes": False}})
    assert found.choices[0].message.content == run_of(engine, found).answer
    chunks = streamed(client, extra_body={"workbench": {"footnotes": False}})
    assert text_of(chunks) == run_of(engine, chunks[-1]).answer


def test_markers_are_numbered_in_their_order_and_the_run_keeps_its_own(tmp_path: Path) -> None:
    """CH-02"""
    answer = "So it is [4]. And so [2][4], not `row[1]`."
    with served(tmp_path, relevant(generator=FakeGenerator(text=answer))) as (client, engine):
        found = ask(client)
        text = found.choices[0].message.content
        assert text.startswith("So it is [1]. And so [2][1], not `row[1]`.")
        assert run_of(engine, found).answer == answer
        titles = [item.url_citation.title for item in found.choices[0].message.annotations]
        assert titles == ["p4.md [1]", "p2.md [2]", "p4.md [1]"]
        assert text_of(streamed(client)).startswith("So it is [1]. And so [2][1], not `row[1]`.")


def test_names_of_sources_are_text_and_never_markup(tmp_path: Path) -> None:
    from engine.model.values import Citation, PassageId
    from plugins.chat.citations import footnotes, in_chat

    hostile = "![x](https://evil.example/p.png) <b>*a*</b>"
    record = RunRecord("r", QUESTION, RunConfig(), "2026-01-01T00:00:00+00:00", answer="So [1].")  # type: ignore[arg-type]
    cited = (Citation(1, PassageId("p"), hostile, "a\nb"),)
    below = footnotes(_with(record, cited), in_chat(_with(record, cited)), "http://x/?run=r")
    assert "\\!\\[x\\](https://evil.example/p.png) \\<b\\>\\*a\\*\\</b\\>" in below
    assert "a b" in below


def _with(record: RunRecord, citations: Any) -> RunRecord:
    from dataclasses import replace

    return replace(record, citations=citations)


def test_a_stream_brings_the_same_in_pieces(shared: tuple[OpenAI, Engine]) -> None:
    """CH-03"""
    client, engine = shared
    chunks = streamed(client, stream_options={"include_usage": True})
    assert chunks[0].choices[0].delta.role == "assistant"
    whole = ask(client).choices[0].message
    last = chunks[-1]
    assert text_of(chunks).partition("http://")[0] == whole.content.partition("http://")[0]
    assert last.choices[0].finish_reason == "stop"
    assert [chunk.choices[0].finish_reason for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)
    assert len(last.choices[0].delta.annotations) == len(whole.annotations)
    assert len({chunk.id for chunk in chunks}) == 1
    assert run_of(engine, last).outcome == "answered"


def test_a_piece_is_sent_while_the_answer_is_being_written(tmp_path: Path) -> None:
    """CH-03"""
    gate = Gate()
    passing = [True, True, True, False]

    def gates() -> asyncio.Event:
        opened = asyncio.Event()
        opened.set()
        return opened if passing and passing.pop(0) else gate

    generator = FakeGenerator(text="So [1]. And then more.", gate=gates)
    with served(tmp_path, relevant(generator=generator)) as (client, _):
        arriving = iter(ask(client, stream=True))
        first = [next(arriving), next(arriving)]
        gate.wait_until_reached()
        assert text_of(first) == "So [1]. And"
        gate.open()
        assert text_of([*first, *arriving]).startswith("So [1]. And then more.")


def test_a_client_that_leaves_stops_its_run(tmp_path: Path) -> None:
    """CH-03"""
    gate = Gate()
    with served(tmp_path, relevant(generator=FakeGenerator(gate=lambda: gate))) as (client, engine):
        arriving = ask(client, stream=True)
        run_id = next(iter(arriving)).id.removeprefix("chatcmpl-")
        gate.wait_until_reached()
        arriving.close()
        assert engine.wait(run_id, PATIENCE_S)
        assert engine.record(run_id).outcome == "cancelled"


def test_settings_on_another_server_ask_for_no_collection_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CH-01"""

    def unknown(_: Engine, collection: str) -> None:
        raise UnknownCollection(name=collection)

    with served(tmp_path, milvus_addresses=("http://milvus:19530",)) as (client, engine):
        monkeypatch.setattr(Engine, "describe", unknown)
        there = RunConfig(collection="theirs", milvus_address="http://milvus:19530")
        engine.evaluation.save_settings("over there", there)
        assert run_of(engine, ask(client, model="over there")).config == there


def test_a_task_without_an_end_is_read_once() -> None:
    """Nothing else has its turn meanwhile: a pattern that began again at each tag took hours over a megabyte."""
    asked = ChatMessage(role="user", content='### Task: {"title": 1}' + "<chat_history>" * 100_000)
    assert task_reply([asked]) is None


def test_it_works_asynchronously_too(shared: tuple[OpenAI, Engine]) -> None:
    client, engine = shared

    async def both() -> tuple[Any, list[Any]]:
        async with AsyncOpenAI(base_url=str(client.base_url), api_key="none") as asking:
            create = asking.chat.completions.create
            whole = await create(model="default", messages=[said("什么是幂集？")])
            pieces = await create(model="default", messages=[said("什么是幂集？")], stream=True)
            return whole, [piece async for piece in pieces]

    whole, pieces = asyncio.run(both())
    assert run_of(engine, whole).question == "什么是幂集？"
    assert text_of(pieces).startswith(run_of(engine, whole).answer)


def test_an_abstention_is_an_answer_that_says_so(tmp_path: Path) -> None:
    """CH-02"""
    with served(tmp_path, relevant(grader=FakeGrader(relevant=frozenset()))) as (client, engine):
        for found in (ask(client), streamed(client)[-1]):
            assert (found.choices[0].finish_reason, found.workbench["outcome"]) == ("stop", "abstained")
            assert found.workbench["passed"] == 0
        chunks = streamed(client)
        assert text_of(chunks).startswith(run_of(engine, chunks[-1]).answer)
        assert not chunks[-1].choices[0].delta.annotations


def test_a_run_that_fails_is_an_error_and_is_not_asked_again(tmp_path: Path) -> None:
    """CH-04"""
    broken = relevant(generator=FakeGenerator(error=ModelError.ollama_unreachable(address="http://o")))
    with served(tmp_path, broken) as (client, engine):
        with pytest.raises(openai.InternalServerError) as failed:
            ask(client)
        body: Any = failed.value.body
        assert (failed.value.status_code, body["type"], body["code"]) == (
            503,
            "server_error",
            ModelError.ollama_unreachable.code,
        )
        assert failed.value.response.json()["workbench"]["run"] == engine.runs()[-1].id
        assert len(engine.runs()) == 1
        with pytest.raises(openai.APIError, match="http://o"):
            streamed(client)


def test_what_was_sent_before_a_failure_stays_and_the_error_follows(tmp_path: Path) -> None:
    """CH-04"""
    fault = ModelError.ollama_unreachable(address="http://o")
    broken = relevant(generator=FakeGenerator(text="So [1]. And more.", error=fault, error_after=3))
    pieces: list[Any] = []
    with served(tmp_path, broken) as (client, _), pytest.raises(openai.APIError, match="http://o"):
        pieces.extend(ask(client, stream=True))
    assert text_of(pieces) == "So [1]. And"


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"n": 2}, "n"),
    ({"logprobs": True}, "logprobs"),
    ({"response_format": {"type": "json_object"}}, "response_format"),
    ({"tool_choice": "required", "tools": [{"type": "function", "function": {"name": "f"}}]}, "tool_choice"),
    ({"functions": [{"name": "f"}]}, "functions"),
    ({"modalities": ["text", "audio"]}, "modalities"),
]


@pytest.mark.parametrize(("parameter", "name"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_parameter_that_asks_for_something_else_is_refused_by_name(
    shared: tuple[OpenAI, Engine], parameter: dict[str, Any], name: str
) -> None:
    """CH-05"""
    client, engine = shared
    before = len(engine.runs())
    with pytest.raises(openai.BadRequestError) as refused:
        ask(client, extra_body=parameter)
    body: Any = refused.value.body
    assert (body["param"], body["type"]) == (name, "invalid_request_error")
    assert len(engine.runs()) == before


def test_parameters_that_the_settings_decide_are_left_out(shared: tuple[OpenAI, Engine]) -> None:
    """CH-05"""
    client, engine = shared
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    harmless = {"temperature": 1.9, "max_tokens": 3, "seed": 1, "top_p": 0.1, "n": 1, "stop": [], "user": "u"}
    found = ask(client, extra_body={**harmless, "tools": tools, "tool_choice": "auto", "chat_id": "c", "store": True})
    assert run_of(engine, found).config == RunConfig()


@pytest.mark.parametrize("stop", ["\n", ["Observation:", "."], "</s>"], ids=repr)
@pytest.mark.parametrize("stream", [False, True])
def test_where_to_stop_is_ignored_with_a_note(shared: tuple[OpenAI, Engine], stop: object, stream: bool) -> None:
    """CH-05: clients send it with every request, and the answer that was checked is the answer."""
    client, engine = shared
    found = ask(client, stream=stream, stop=stop)
    last = list(found)[-1] if stream else found
    assert last.workbench["ignored"] == ["stop"]
    assert engine.record(last.workbench["run"]).outcome == "answered"


BAD: list[tuple[Any, int, str | None]] = [
    ([said("And?", "assistant")], 400, "messages"),
    ([{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}], 400, "messages"),
    (
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.example/i.png"}}]}],
        400,
        "messages",
    ),
    ([said("   ")], 422, "messages"),
    ([said("x" * 2001)], 422, "messages"),
    ([said("?", "wizard")], 422, "messages"),
    ([], 422, "messages"),
]


@pytest.mark.parametrize(("messages", "status", "param"), BAD)
def test_messages_that_hold_no_question_are_errors_in_openais_form(
    shared: tuple[OpenAI, Engine], messages: Any, status: int, param: str | None
) -> None:
    """CH-04"""
    client, _ = shared
    with pytest.raises(openai.APIStatusError) as refused:
        client.chat.completions.create(model="default", messages=messages)
    body: Any = refused.value.body
    assert (refused.value.status_code, body["param"]) == (status, param)
    assert body["message"]
    assert body["code"].startswith("WB")


def test_images_go_along_where_the_workflow_takes_them_and_are_refused_elsewhere(tmp_path: Path) -> None:
    """CH-02"""
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    asked = {"role": "user", "content": [{"type": "text", "text": QUESTION}, part]}
    with served(tmp_path) as (client, _):
        with pytest.raises(openai.UnprocessableEntityError, match="self_corrective"):
            ask(client, asked)
        # An image that was answered before is no matter of this question.
        assert ask(client, asked, said("Yes.", "assistant"), said(QUESTION)).choices


def test_an_image_is_read_and_stays_in_the_record_of_its_run(tmp_path: Path) -> None:
    """CH-02"""
    picture = base64.b64encode(next(PICTURES.glob("*.png")).read_bytes()).decode()
    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}", "detail": "low"}}
    with served(tmp_path) as (client, engine):
        engine.evaluation.save_settings("graph", RunConfig(workflow="graph_hybrid"))
        # Roles of fakes are none of this workflow, which is reported once the run has begun.
        with pytest.raises(openai.APIStatusError):
            ask(client, {"role": "user", "content": [{"type": "text", "text": QUESTION}, part]}, model="graph")
        (image,) = engine.record(engine.runs()[0].id).attachments
    assert (image.kind, image.name) == ("image", "image-1.png")
    assert image.text


def test_the_question_of_a_follow_up_is_written_out_and_the_chat_stays_in_the_record(
    shared: tuple[OpenAI, Engine],
) -> None:
    """CH-06"""
    client, engine = shared
    chat = [
        said("Be brief.", "system"),
        said("What is insulin?"),
        said("A hormone [1].", "assistant"),
        said("Who found it?"),
    ]
    found = ask(client, *chat)
    record = run_of(engine, found)
    assert record.question == found.workbench["question"] == "Who found it? (insulin)"
    assert record.chat is not None
    assert (record.chat.asked, record.chat.condensed_by, record.chat.model) == ("Who found it?", "builtin", "default")
    assert [item.content for item in record.chat.history] == ["What is insulin?", "A hormone [1]."]
    first = run_of(engine, ask(client, said("Who found it?")))
    assert first.question == "Who found it?"
    assert first.chat is not None
    assert first.chat.condensed_by == ""


def test_a_whole_long_chat_is_taken(shared: tuple[OpenAI, Engine]) -> None:
    client, _ = shared
    chat = [said(f"Question {place}?", ("user", "assistant")[place % 2]) for place in range(3000)]
    assert ask(client, *chat, said(QUESTION)).choices


def test_it_is_off_unless_it_is_turned_on(tmp_path: Path) -> None:
    """CH-01"""
    with calling(tmp_path) as (client, _):
        assert client.get("/v1/models").text == "Not Found"


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"host": "evil.example"}, 400), ({"origin": "https://evil.example"}, 403), ({"content-type": "text/plain"}, 415)],
)
def test_guards_answer_in_openais_form_too(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    """CH-04"""
    with calling(tmp_path, openai_api=True) as (client, engine):
        body = json.dumps({"model": "default", "messages": [said(QUESTION)]})
        usual = {"content-type": "application/json"}
        answer = client.post("/v1/chat/completions", content=body, headers={**usual, **headers})
        assert (answer.status_code, set(answer.json())) == (status, {"error"})
        assert answer.headers["content-security-policy"]
        assert answer.json()["error"]["message"]
        assert not engine.runs()
        # The other API keeps its own form.
        assert client.get("/api/nothing").json()["success"] is False
        for path in ("/v1/nothing", "/V1/models", "/v1/models/x"):
            missing = client.get(path)
            assert (missing.status_code, missing.json()["error"]["type"]) == (404, "invalid_request_error"), path


def test_it_is_found_below_the_base_of_the_app_too(tmp_path: Path) -> None:
    """CH-01"""
    with calling(tmp_path, openai_api=True, options={"base": "/rag"}) as (client, _):
        for base in ("", "/rag"):
            assert client.get(f"{base}/v1/models").json()["data"][0]["id"] == "default"
            assert client.get(f"{base}/api/ready").json()["ready"]
            missing = client.get(f"{base}/v1/models/x")
            assert (missing.status_code, set(missing.json())) == (404, {"error"})
        assert client.get("/rag/rag/v1/models").text == "Not Found"
        answer = client.post("/rag/v1/chat/completions", json={"model": "default", "messages": [said(QUESTION)]})
        assert "/rag/?run=" in answer.json()["workbench"]["link"]


def test_a_client_of_langchain_chats(shared: tuple[OpenAI, Engine]) -> None:
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    client, engine = shared
    asking = ChatOpenAI(model="default", base_url=str(client.base_url), api_key=SecretStr("none"))
    assert asking.invoke(QUESTION).text.startswith(engine.record(engine.runs()[0].id).answer)
    assert "".join(piece.text for piece in asking.stream(QUESTION)).startswith("It is so [1]")


def test_the_limits_of_a_person_count_and_no_model_is_asked_beyond_them(tmp_path: Path) -> None:
    """CH-04"""
    with calling(tmp_path, openai_api=True, runs_per_person_hour=1) as (client, engine):
        body = {"model": "default", "messages": [said(QUESTION)]}
        with signing_in(engine), acting_as(EDITOR):
            assert client.post("/v1/chat/completions", json=body).status_code == 200
            refused = client.post("/v1/chat/completions", json=body)
            assert len(engine.runs()) == 1
    assert (refused.status_code, refused.json()["error"]["type"]) == (429, "rate_limit_error")


def test_a_run_stands_below_the_span_that_the_request_names(shared: tuple[OpenAI, Engine]) -> None:
    client, engine = shared
    above = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    found = ask(client, extra_headers={"traceparent": above})
    assert run_of(engine, found).manifest["traceparent"] == above


def test_links_name_the_address_that_the_settings_give(tmp_path: Path) -> None:
    with served(tmp_path, public_url="https://rag.example/base/") as (client, _):
        assert ask(client).workbench["link"].startswith("https://rag.example/base/?run=")


def test_the_default_model_has_the_defaults_of_the_machine(tmp_path: Path) -> None:
    """BE-07"""
    (tmp_path / "defaults.json").write_text('{"top_k": 4}')
    with engine_of(tmp_path / "data", defaults=str(tmp_path / "defaults.json")) as engine:
        assert models.config_of(engine, models.DEFAULT).top_k == 4


def test_every_route_has_the_role_that_the_tests_of_all_routes_try() -> None:
    assert routes_of(create_chat_api(no_engine, heartbeat_s=1.0), "/v1") == ROUTES
