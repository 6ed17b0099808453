"""A chat model as refiner: what it is shown, and what is made of replies that are not what was asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.llm.parsing import read_reply
from engine.llm.refiner import ChatRefiner, PickedReply
from engine.model.config import RoleModel
from engine.model.values import Passage, PassageId, Sentence
from engine.roles import RefineRequest
from engine.settings import Settings
from tests.support.listening import Listening
from tests.support.ollama_stand_in import OllamaStandIn, Reply, ServerError

TEXT = "# Doses\nTen units at noon. Parking is free.\n| Drug | Dose |\n|---|---|\n| A | 1 |\n| B | 2 |\n"


@pytest.fixture(scope="module")
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(models=["qwen3:8b"]) as opened:
        yield opened


def refined(
    server: OllamaStandIn, *replies: str | ServerError, trace: Listening | None = None
) -> Mapping[PassageId, tuple[Sentence, ...] | None]:
    server.forget_script("chat")
    server.script("chat", *[Reply(item) if isinstance(item, str) else item for item in replies])
    settings = Settings.load(ollama_url=server.url, data_dir=Path("unused"))
    passage = Passage(PassageId("p"), "a.md", TEXT, 0.5, 0.5, title="Insulin")
    role = ChatRefiner(RoleModel("ollama:qwen3:8b"), settings)
    return asyncio.run(role.refine(RefineRequest("How many units?", (passage,), 0.3), trace or Listening()))


def kept(said: Mapping[PassageId, tuple[Sentence, ...] | None]) -> list[int]:
    return [number for number, item in enumerate(said[PassageId("p")] or (), start=1) if item.kept]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"keep": [2, 3]}', (2, 3)),
        ('```json\n{"Keep": ["[3]", "２"]}\n```', (2, 3)),
        ('{"keep": "1, 3-5"}', (1, 3, 4, 5)),
        ('{"保留": [1]}', (1,)),
        ('{"keep": []}', ()),
        ('{"keep": 4}', (4,)),
        ('{"keep": ["the second"]}', None),
        ('{"keep": null}', None),
        ('{"keep": [1]} {"keep": [2]}', None),
        ("Ten units at noon.", None),
    ],
)
def test_numbers_are_read_however_small_models_write_them(reply: str, expected: tuple[int, ...] | None) -> None:
    found = read_reply(reply, PickedReply)
    assert (found.keep if found else None) == expected


def test_headings_and_headers_stay_with_what_is_picked_under_them(server: OllamaStandIn) -> None:
    assert kept(refined(server, '{"keep": [6]}')) == [1, 4, 6]
    assert kept(refined(server, '{"keep": [2, 99]}')) == [1, 2]


def test_it_sees_numbers_headings_and_what_stands_above(server: OllamaStandIn) -> None:
    trace = Listening()
    refined(server, '{"keep": [2]}', trace=trace)
    (call,) = trace.calls
    assert (call.role, call.passage_id, call.parsed) == ("refiner", "p", {"keep": [2]})
    asked = call.messages[1].content
    assert "<headings>\nInsulin\n</headings>" in asked
    assert "[1] # Doses\n[2] Ten units at noon.\n[3] Parking is free.\n[4] | Drug" in asked


def test_a_second_try_follows_numbers_that_were_not_given(server: OllamaStandIn) -> None:
    assert kept(refined(server, '{"keep": [70]}', '{"keep": [3]}')) == [1, 3]


def test_a_passage_is_whole_where_no_reply_is_readable_or_nothing_is_picked(server: OllamaStandIn) -> None:
    assert refined(server, "No.", "I keep all.") == {PassageId("p"): None}
    assert kept(refined(server, '{"keep": []}')) == [1, 2, 3, 4, 5, 6]


def test_a_server_that_fails_is_a_model_error(server: OllamaStandIn) -> None:
    with pytest.raises(ModelError):
        refined(server, ServerError(), ServerError())
