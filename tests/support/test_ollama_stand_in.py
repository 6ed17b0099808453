"""The stand-in speaks Ollama's protocol, checked through the real client and the real LangChain classes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import httpx
import ollama
import pytest
from langchain_ollama import ChatOllama, OllamaEmbeddings
from pydantic import BaseModel, Field

from tests.support.ollama_stand_in import (
    DiesMidStream,
    EndsEarly,
    ErrorMidStream,
    Garbage,
    ModelCard,
    NotFound,
    OllamaStandIn,
    RecordedRequest,
    Reply,
    ServerError,
    Vectors,
)

# LangChain's classes have no way to close their HTTP clients; without a pool no connection outlives its answer.
NO_POOL = {"limits": httpx.Limits(max_keepalive_connections=0)}
ASK = [{"role": "user", "content": "Who wrote it?"}]
NANOSECONDS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")


class Grade(BaseModel):
    relevant: bool
    confidence: float = Field(ge=0.25, le=1)
    reason: str


@pytest.fixture
def server() -> Iterator[OllamaStandIn]:
    models = ("qwen3:8b", "llama3.2:3b", "gemma3:4b", "nomic-embed-text")
    with OllamaStandIn(models, reply=lambda request: "Ada wrote it [1].") as running:
        yield running


@pytest.fixture
def client(server: OllamaStandIn) -> Iterator[ollama.Client]:
    with ollama.Client(server.url, timeout=10) as made:
        yield made


def chat(client: ollama.Client, model: str = "llama3.2:3b", **more: Any) -> list[ollama.ChatResponse]:
    return list(client.chat(model, ASK, stream=True, **more))


def post(server: OllamaStandIn, path: str, body: object) -> tuple[int, Any]:
    content = body if isinstance(body, str) else json.dumps(body)
    answer = httpx.post(server.url + path, content=content, timeout=10)
    return answer.status_code, answer.json()["error"]


def dot(left: list[float], right: list[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


def test_root_and_version_answer_get_and_head(server: OllamaStandIn) -> None:
    assert httpx.get(server.url).text == "Ollama is running"
    head = httpx.head(server.url)
    assert (head.status_code, head.text, head.headers["content-length"]) == (200, "", "17")
    assert httpx.get(f"{server.url}/api/version").json() == {"version": "0.34.2"}
    assert httpx.get(f"{server.url}/api/nothing").text == "404 page not found"
    assert httpx.get(f"{server.url}/api/chat").status_code == 405


def test_tags_list_full_names_digests_and_details(client: ollama.Client) -> None:
    listed = {model.model: model for model in client.list().models}
    assert set(listed) == {"qwen3:8b", "llama3.2:3b", "gemma3:4b", "nomic-embed-text:latest"}
    embedder = listed["nomic-embed-text:latest"]
    assert embedder.details is not None
    assert embedder.details.family == "nomic-bert"
    assert embedder.digest is not None
    assert len(embedder.digest) == 64
    assert embedder.digest != listed["qwen3:8b"].digest
    assert embedder.modified_at is not None
    assert embedder.modified_at.year == 2025


def test_show_gives_capabilities_and_lengths_and_accepts_a_name_without_tag(client: ollama.Client) -> None:
    thinker, embedder = client.show("qwen3:8b"), client.show("Nomic-Embed-Text")
    assert thinker.capabilities == ["completion", "tools", "thinking"]
    assert thinker.modelinfo is not None
    assert thinker.modelinfo["qwen3.context_length"] == 40_960
    assert embedder.capabilities == ["embedding"]
    assert embedder.modelinfo is not None
    assert embedder.modelinfo["nomic-bert.embedding_length"] == 768


def test_a_model_added_while_it_runs_is_found(server: OllamaStandIn, client: ollama.Client) -> None:
    server.models.append(ModelCard("mine", ("completion",), context_length=8_192))
    assert client.show("mine:latest").capabilities == ["completion"]


def test_a_stream_is_ndjson_with_one_piece_a_line_and_the_figures_in_the_last(server: OllamaStandIn) -> None:
    answer = httpx.post(f"{server.url}/api/chat", json={"model": "llama3.2:3b", "messages": ASK})
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert [line["message"]["content"] for line in lines] == ["Ada", " wrote", " it", " [1].", ""]
    assert [line["done"] for line in lines] == [False] * 4 + [True]
    assert all(line["model"] == "llama3.2:3b" and line["created_at"].endswith("Z") for line in lines)
    last = lines[-1]
    assert (last["done_reason"], last["eval_count"], last["prompt_eval_count"]) == ("stop", 4, 4)
    assert all(isinstance(last[name], int) and last[name] > 0 for name in NANOSECONDS)


def test_without_stream_the_answer_is_one_object(client: ollama.Client) -> None:
    answer = client.chat("llama3.2:3b", ASK, stream=False)
    assert (answer.message.content, answer.done, answer.done_reason) == ("Ada wrote it [1].", True, "stop")
    assert answer.eval_count == 4


def test_a_thinking_model_thinks_unless_told_not_to(client: ollama.Client) -> None:
    thought = [part.message.thinking or "" for part in chat(client, "qwen3:8b")]
    assert "".join(thought) == "Let me look at this."
    assert not any(part.message.thinking for part in chat(client, "qwen3:8b", think=False))
    assert client.chat("qwen3:8b", ASK, think=True).message.thinking == "Let me look at this."


def test_num_predict_cuts_the_answer_and_says_length(client: ollama.Client) -> None:
    parts = chat(client, options={"num_predict": 2})
    assert "".join(part.message.content or "" for part in parts) == "Ada wrote"
    assert parts[-1].done_reason == "length"


def test_a_prompt_longer_than_num_ctx_is_cut_in_silence(client: ollama.Client) -> None:
    answer = client.chat("llama3.2:3b", [{"role": "user", "content": "word " * 90}], options={"num_ctx": 64})
    assert answer.prompt_eval_count == 64


def test_no_messages_load_the_model_and_keep_alive_zero_unloads_it(client: ollama.Client) -> None:
    assert client.chat("llama3.2:3b", []).done_reason == "load"
    assert client.chat("llama3.2:3b", [], keep_alive=0).done_reason == "unload"


def test_a_format_is_honoured_by_the_default_reply() -> None:
    with OllamaStandIn() as server, ollama.Client(server.url) as client:
        content = client.chat("qwen3:8b", ASK, format=Grade.model_json_schema()).message.content
        assert Grade.model_validate_json(content or "") == Grade(relevant=False, confidence=0.5, reason="reason")
        assert client.chat("qwen3:8b", ASK, format="json").message.content == "{}"


def test_the_reply_function_sees_prompt_schema_and_options() -> None:
    seen: list[RecordedRequest] = []

    def reply(request: RecordedRequest) -> Reply:
        seen.append(request)
        return Reply("yes", thinking="hmm")

    with OllamaStandIn(reply=reply) as server:
        model = ChatOllama(
            model="qwen3:8b", base_url=server.url, client_kwargs=NO_POOL, num_ctx=2048, reasoning=True, keep_alive="5m"
        )
        said = model.bind(format=Grade.model_json_schema()).invoke([("system", "Grade."), ("human", "Is it?")])
    assert (said.content, said.additional_kwargs["reasoning_content"]) == ("yes", "hmm")
    assert (seen[0].prompt, seen[0].options, seen[0].body["keep_alive"]) == (
        "Grade.\n\nIs it?",
        {"num_ctx": 2048},
        "5m",
    )
    assert seen[0].schema == Grade.model_json_schema()


def test_chat_ollama_streams_and_counts_tokens(server: OllamaStandIn) -> None:
    parts = list(
        ChatOllama(model="llama3.2:3b", base_url=server.url, client_kwargs=NO_POOL, validate_model_on_init=True).stream(
            "Who?"
        )
    )
    assert "".join(str(part.content) for part in parts) == "Ada wrote it [1]."
    assert sum(part.usage_metadata["output_tokens"] for part in parts if part.usage_metadata) == 4


def test_embeddings_are_unit_vectors_fixed_by_the_text_and_near_for_similar_texts(server: OllamaStandIn) -> None:
    embedder = OllamaEmbeddings(model="nomic-embed-text", base_url=server.url, client_kwargs=NO_POOL)
    near, far = embedder.embed_documents(["search_document: Retry a failed upload", "Bananas ripen in paper bags"])
    query = embedder.embed_query("search_query: how to retry failed uploads")
    assert len(query) == 768
    assert math.isclose(math.hypot(*query), 1, abs_tol=1e-5)
    assert dot(query, near) > 0.4
    assert dot(query, far) < 0.2
    assert embedder.embed_query("search_query: how to retry failed uploads") == query


def test_embed_takes_one_text_fewer_dimensions_and_nothing_at_all(client: ollama.Client) -> None:
    answer = client.embed("nomic-embed-text", "some words", dimensions=64)
    assert len(answer.embeddings) == 1
    assert len(answer.embeddings[0]) == 64
    assert math.isclose(math.hypot(*answer.embeddings[0]), 1, abs_tol=1e-5)
    assert answer.prompt_eval_count == 2
    assert client.embed("nomic-embed-text", []).embeddings == []


def test_over_long_texts_are_cut_unless_truncate_is_false(client: ollama.Client) -> None:
    long = "word " * 2_049
    assert client.embed("nomic-embed-text", long).prompt_eval_count == 2_048
    with pytest.raises(ollama.ResponseError, match="the input length exceeds the context length") as refused:
        client.embed("nomic-embed-text", ["short", long], truncate=False)
    assert refused.value.status_code == 400


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/api/chat", "", 400, "missing request body"),
        ("/api/chat", "{", 400, "unexpected EOF"),
        ("/api/chat", "nope", 400, "invalid character 'n' looking for beginning of value"),
        ("/api/chat", [], 400, "json: cannot unmarshal array into Go value of type api.ChatRequest"),
        ("/api/chat", {"messages": ASK}, 400, "model is required"),
        ("/api/show", {}, 400, "model is required"),
        ("/api/embed", {"input": "a"}, 404, "model '' not found"),
        ("/api/chat", {"model": "a b"}, 400, "invalid model name"),
        ("/api/chat", {"model": "x", "messages": ASK}, 404, "model 'x' not found"),
        ("/api/show", {"model": "x"}, 404, "model 'x' not found"),
        ("/api/embed", {"model": "x", "input": "a"}, 404, 'model "x" not found, try pulling it first'),
        ("/api/embed", {"model": "nomic-embed-text", "input": [1]}, 400, "invalid input type"),
        (
            "/api/embed",
            {"model": "qwen3:8b", "input": "a"},
            501,
            "This server does not support embeddings. Start it with `--embeddings`",
        ),
        ("/api/chat", {"model": "nomic-embed-text", "messages": ASK}, 400, '"nomic-embed-text" does not support chat'),
        (
            "/api/chat",
            {"model": "llama3.2:3b", "messages": ASK, "think": True},
            400,
            '"llama3.2:3b" does not support thinking',
        ),
        (
            "/api/chat",
            {"model": "qwen3:8b", "messages": ASK, "think": "deep"},
            400,
            'invalid think value: "deep" (must be "high", "medium", "low", "max", true, or false)',
        ),
        (
            "/api/chat",
            {"model": "gemma3:4b", "messages": ASK, "tools": [{}]},
            400,
            "registry.ollama.ai/library/gemma3:4b does not support tools",
        ),
        (
            "/api/chat",
            {"model": "llama3.2:3b", "messages": "hi"},
            400,
            "json: cannot unmarshal string into Go struct field ChatRequest.messages of type []api.Message",
        ),
        (
            "/api/chat",
            {"model": "llama3.2:3b", "messages": ASK, "format": "yaml"},
            500,
            'invalid format: "\\"yaml\\""; expected "json" or a valid JSON Schema object',
        ),
        (
            "/api/chat",
            {"model": "llama3.2:3b", "messages": [{"role": "user", "content": "?", "images": ["aGk="]}]},
            500,
            "this model is missing data required for image input",
        ),
    ],
)
def test_refusals_have_ollamas_status_and_wording(
    server: OllamaStandIn, path: str, body: object, status: int, words: str
) -> None:
    assert post(server, path, body) == (status, words)


def test_scripted_faults_are_met_in_order_and_then_answers_are_normal(
    server: OllamaStandIn, client: ollama.Client
) -> None:
    server.script("chat", NotFound(), ServerError(503, "server busy, please try again."), Reply("scripted"))
    with pytest.raises(ollama.ResponseError, match=r"model 'llama3.2:3b' not found \(status code: 404\)"):
        chat(client)
    with pytest.raises(ollama.ResponseError, match=r"server busy, please try again\. \(status code: 503\)"):
        chat(client)
    assert client.chat("llama3.2:3b", ASK).message.content == "scripted"
    assert client.chat("llama3.2:3b", ASK).message.content == "Ada wrote it [1]."
    assert [request.status for request in server.requests_to("chat")] == [404, 503, 200, 200]


@pytest.mark.parametrize("reset", [False, True])
def test_a_server_that_dies_mid_stream_breaks_the_connection(
    server: OllamaStandIn, client: ollama.Client, reset: bool
) -> None:
    server.script("chat", DiesMidStream(after_tokens=2, reset=reset))
    with pytest.raises(httpx.TransportError):
        chat(client)
    dead = server.requests_to("chat")[0]
    assert (dead.pieces_sent, dead.aborted) == (2, False)
    assert chat(client)[-1].done


def test_a_server_that_dies_before_the_first_piece_sends_not_even_a_status(
    server: OllamaStandIn, client: ollama.Client
) -> None:
    server.script("chat", DiesMidStream(after_tokens=0), DiesMidStream())
    server.script("embed", DiesMidStream())
    for attempt in (
        lambda: chat(client),
        lambda: client.chat("llama3.2:3b", ASK),
        lambda: client.embed("nomic-embed-text", "a"),
    ):
        with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
            attempt()
    assert [request.status for request in server.requests] == [None] * 3


def test_an_error_mid_stream_is_a_line_of_the_stream(server: OllamaStandIn, client: ollama.Client) -> None:
    server.script("chat", ErrorMidStream(after_tokens=1), ErrorMidStream(after_tokens=0), ErrorMidStream())
    parts: list[str | None] = []
    with pytest.raises(ollama.ResponseError, match=r"running the model: unexpected EOF \(status code: -1\)"):
        parts.extend(part.message.content for part in client.chat("llama3.2:3b", ASK, stream=True))
    assert parts == ["Ada"]
    with pytest.raises(ollama.ResponseError, match=r"status code: 500"):
        chat(client)
    with pytest.raises(ollama.ResponseError, match=r"status code: 500"):
        client.chat("llama3.2:3b", ASK, stream=False)


def test_a_stream_that_ends_early_has_no_done_line(server: OllamaStandIn, client: ollama.Client) -> None:
    server.script("chat", EndsEarly(after_tokens=3))
    parts = chat(client)
    assert [part.message.content for part in parts] == ["Ada", " wrote", " it"]
    assert not any(part.done for part in parts)


def test_garbage_breaks_the_wire_format(server: OllamaStandIn, client: ollama.Client) -> None:
    server.script("chat", Garbage("<html>"), Garbage('{"mess', after_tokens=2), Garbage("<html>"))
    server.script("tags", Garbage("<html>Bad gateway</html>", status=502))
    for stream in (True, True, False):
        with pytest.raises(json.JSONDecodeError):
            list(client.chat("llama3.2:3b", ASK, stream=stream))
    with pytest.raises(ollama.ResponseError, match=r"<html>Bad gateway</html> \(status code: 502\)"):
        client.list()
    assert [request.pieces_sent for request in server.requests] == [0, 3, 0, 0]


def test_a_load_reply_gives_langchain_nothing(server: OllamaStandIn) -> None:
    server.script("chat", Reply("", done_reason="load"))
    with pytest.raises(ValueError, match="No data received"):
        ChatOllama(model="llama3.2:3b", base_url=server.url, client_kwargs=NO_POOL).invoke("Who?")


def test_vectors_can_be_of_another_dimension(server: OllamaStandIn, client: ollama.Client) -> None:
    server.script("embed", Vectors(((1.0, 0.0),)))
    assert client.embed("nomic-embed-text", "a").embeddings == [[1.0, 0.0]]


def test_a_script_that_an_endpoint_cannot_follow_is_refused(server: OllamaStandIn) -> None:
    with pytest.raises(ValueError, match="for chat, not for embed"):
        server.script("embed", Reply("x"))
    with pytest.raises(ValueError, match="for embed, not for chat"):
        server.script("chat", Vectors(()))
