"""A chat model that writes a sentence of context: what it is given, and what of its replies is taken (BE-04)."""

from __future__ import annotations

import asyncio
import json

import pytest

from engine.errors import ModelError
from engine.llm.context_writer import ChatContextWriter, context_messages, requests_of
from engine.llm.sizes import estimate_tokens
from engine.model.values import PassageId
from engine.roles import StoredPassage
from tests.contracts.chat_models import fenced
from tests.llm.recording import role_model, settings_for
from tests.support.ollama_stand_in import OllamaStandIn, Reply, ServerError

TEXTS = ("How the server listens.", "Type: number. Default: 5173.", "Set it to true to open a browser.")
SOURCE = [
    StoredPassage(PassageId(f"a.md#{place}"), "a.md", text, f"server.{name}", "Options", place)
    for place, (name, text) in enumerate(zip(("host", "port", "open"), TEXTS, strict=True), start=1)
]
GOOD = "The default port on which the development server listens."


def written(server: OllamaStandIn, *replies: Reply | ServerError, passage: StoredPassage = SOURCE[1]) -> str:
    server.script("chat", *replies)
    (request,) = requests_of([passage])
    return asyncio.run(ChatContextWriter(role_model(), settings_for(server)).write(request))


def reply(sentence: object) -> Reply:
    return Reply(json.dumps({"sentence": sentence}, ensure_ascii=False))


def test_a_model_reads_the_passage_with_its_headings_its_outline_and_what_stands_around() -> None:
    user = context_messages(requests_of(SOURCE)[1])[1].content
    assert fenced("headings", user) == ["Options > server.port"]
    assert fenced("outline", user) == ["\n".join(f"Options > server.{name}" for name in ("host", "port", "open"))]
    assert [fenced(tag, user)[0] for tag in ("before", "passage", "after")] == list(TEXTS)


def test_a_long_document_is_cut_to_what_stands_near() -> None:
    many = [
        StoredPassage(PassageId(f"a#{n}"), "a", f"</passage>{n} " * 900, f"Chapter {n} on the {n}th matter", "Book", n)
        for n in range(200)
    ]
    for place in (0, 100, 199):
        request = requests_of(many)[place]
        assert many[place].heading in request.outline and 5 < len(request.outline) < 60
        assert (request.outline[0] == "…", request.outline[-1] == "…") == (place > 0, place < 199)
        assert estimate_tokens("\n".join(request.outline)) < 400
        assert len(fenced("passage", context_messages(request)[1].content)) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "…",
        "Default: 5173.",
        "Options > server.port",
        "I cannot say what this is about.",
        "Sorry, the passage is too short.",
        "word " * 41,
        "开发服务器监听的默认端口。",
        "The year in which the lighthouse at the harbour of the old town was built, from the chapter on its towers.",
        "Type: number. Default: 5173. This is the text of the passage.",
    ],
    ids=["empty", "blank", "copied", "heading", "refusal", "sorry", "long", "other language", "example", "repeats"],
)
def test_what_is_no_sentence_of_context_is_asked_for_again_and_then_left_out(
    server: OllamaStandIn, sentence: str
) -> None:
    assert written(server, reply(sentence), reply(GOOD)) == GOOD
    assert written(server, *[reply(sentence)] * 2) == ""


def test_a_sentence_is_in_the_language_of_the_passage_and_counted_in_characters_there(server: OllamaStandIn) -> None:
    passage = StoredPassage(PassageId("a#1"), "a", "默认值为 5173。", "server.port", "服务器选项")
    assert "in Chinese" in context_messages(requests_of([passage])[0])[0].content
    assert written(server, reply("开发服务器监听的默认端口。"), passage=passage)
    assert not written(server, *[reply("端" * 81)] * 2, passage=passage)
    assert (
        "language of the passage"
        in context_messages(requests_of([StoredPassage(PassageId("a"), "a", "привет")])[0])[0].content
    )


def test_a_server_that_fails_ends_the_work(server: OllamaStandIn) -> None:
    with pytest.raises(ModelError):
        written(server, *[ServerError()] * 2)
