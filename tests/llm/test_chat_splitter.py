"""A chat model that splits a question: replies that add to it or are in another language are refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable

import pytest

from engine.errors import UnreadableReply
from engine.llm.grader import ChatGrader
from engine.llm.splitter import ChatSplitter, added
from tests.llm.recording import RecordingTrace, passage, role_model, settings_for, verdict_json
from tests.support.ollama_stand_in import OllamaStandIn

QUESTION = "When was insulin discovered, and by whom was it purified in 1922?"
PARTS = ("When was insulin discovered?", "Who purified insulin in 1922?")


def split(*replies: str) -> tuple[tuple[str, ...], RecordingTrace]:
    said = list(replies)
    trace = RecordingTrace()
    with OllamaStandIn(["qwen3:8b"], reply=lambda _: said.pop(0)) as server:
        found = asyncio.run(ChatSplitter(role_model(), settings_for(server)).split(QUESTION, trace))
    return found, trace


def written(parts: Iterable[str]) -> str:
    return json.dumps({"parts": list(parts)}, ensure_ascii=False)


@pytest.mark.parametrize("reply", [written(PARTS), f"Sure:\n```json\n{written([*PARTS, *PARTS, ''])}\n```"])
def test_it_reads_the_parts_once_each(reply: str) -> None:
    assert split(reply)[0] == PARTS


@pytest.mark.parametrize("reply", [written([]), written([QUESTION])])
def test_no_part_or_one_is_a_question_that_asks_one_thing(reply: str) -> None:
    assert split(reply)[0] == ()


@pytest.mark.parametrize(
    "reply",
    [
        "no JSON",
        written(["When did Banting discover insulin?", PARTS[1]]),
        written([PARTS[0], "Who purified insulin in 1921?"]),
        written(["胰岛素是什么时候发现的？", "谁提纯了胰岛素？"]),
        written(f"What is thing {number}?" for number in range(9)),
    ],
)
def test_what_cannot_be_used_gets_one_more_try(reply: str) -> None:
    found, trace = split(reply, written(PARTS))
    assert found == PARTS and len(trace.calls) == 2
    with pytest.raises(UnreadableReply):
        split(reply, reply)


@pytest.mark.parametrize(
    ("part", "question", "names"),
    [
        ("FastAPI 怎样启动？", "怎样启动它？", {"fastapi"}),
        ("FastAPI 怎样启动？", "fastapi 怎样启动，怎样停止？", set()),
        ("What is HbA1c?", "What is hba1c, and who needs it?", set()),
        ("Which law is it?", "Which law is it, and whose?", set()),
    ],
)
def test_names_and_numbers_are_compared_without_case(part: str, question: str, names: set[str]) -> None:
    assert added(part, question) == names


def test_a_grader_says_in_the_same_call_which_parts_a_passage_answers() -> None:
    reply = json.dumps({**json.loads(verdict_json(True, 0.8, "so")), "parts": ["2", 7]})
    with OllamaStandIn(["qwen3:8b"], reply=lambda _: reply) as server:
        grader, trace = ChatGrader(role_model(), settings_for(server)), RecordingTrace()
        (verdict,) = asyncio.run(grader.grade(QUESTION, [passage(1)], trace, PARTS))
        (plain,) = asyncio.run(grader.grade(QUESTION, [passage(1)], trace))
        asked, usual = (str(item.messages[-1]["content"]) for item in server.requests_to("chat"))
    assert verdict.parts == (0.0, 0.8) and plain.parts == ()
    assert [verdict.covers(place, 0.5) for place in range(2)] == [False, True]
    assert all(part in asked and part not in usual for part in PARTS) and len(trace.calls) == 2
