"""A chat model that translates queries: into which language, and which replies are refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from engine.llm.translator import ChatTranslator, language_for
from engine.model.values import Language, Translation
from tests.llm.recording import RecordingTrace, role_model, settings_for
from tests.support.ollama_stand_in import OllamaStandIn

ASKED = "CORSMiddleware 的 `max_age` 默认值是多少？"
WANTED = "What is the default of `max_age` in CORSMiddleware?"
ENGLISH: Mapping[Language, int] = {"en": 48, "zh": 2}


class Counted:
    """A collection that is asked for its languages alone."""

    def __init__(self) -> None:
        self.asked = 0

    async def languages(self) -> Mapping[Language, int]:
        self.asked += 1
        return ENGLISH

    async def search_both(self, query: str, translated: str, limit: int, main: str) -> str:
        return main


def translated(*replies: str, query: str = ASKED) -> tuple[Translation | None, RecordingTrace]:
    said, trace, retriever = list(replies), RecordingTrace(), Counted()
    with OllamaStandIn(["qwen3:8b"], reply=lambda _: said.pop(0)) as server:
        translator = ChatTranslator(role_model(), settings_for(server), retriever.languages, retriever.search_both)  # type: ignore[arg-type]
        found = asyncio.run(translator.translate(query, trace))
        again = asyncio.run(translator.translate("max_age", trace))
        mains = [asyncio.run(translator.search_both(*both, 5)) for both in ((ASKED, WANTED), (WANTED, ASKED))]
    assert mains == ["translated", "asked"], "by what most passages are in"  # type: ignore[comparison-overlap]
    assert again is None and retriever.asked == 1, "names alone are in no language, and passages are counted once"
    return found, trace


def written(query: Any) -> str:
    return json.dumps({"query": query}, ensure_ascii=False)


def test_a_query_is_put_into_the_language_of_the_collection() -> None:
    found, trace = translated(written(WANTED))
    assert found == Translation("en", WANTED, ENGLISH)
    (call,) = trace.calls
    assert (call.role, call.parsed) == ("rewriter", {"query": WANTED})
    assert ASKED in call.messages[-1].content and "English" in call.messages[0].content


@pytest.mark.parametrize("reply", ["no JSON", written(""), written(ASKED), written("CORS 的默认值"), written(7)])
def test_what_is_no_translation_gets_one_more_try_and_is_then_left_out(reply: str) -> None:
    assert translated(reply, written(WANTED))[0] == Translation("en", WANTED, ENGLISH)
    found, trace = translated(reply, reply)
    assert found == Translation("en", "", ENGLISH) and len(trace.calls) == 2


@pytest.mark.parametrize(
    ("query", "counted", "language"),
    [
        (ASKED, {"en": 48, "zh": 2}, "en"),
        (ASKED, {"zh": 46, "en": 4}, None),
        (ASKED, {"zh": 45, "en": 5}, "en"),
        (ASKED, {"zh": 50}, None),
        (ASKED, {"other": 50}, None),
        (ASKED, {}, None),
        (WANTED, {"en": 30, "zh": 20}, "zh"),
        ("`--max-age`?", {"en": 50}, None),
        ("これは何ですか。", {"en": 50}, None),
    ],
)
def test_the_commonest_other_language_counts_unless_it_is_that_of_a_few_quotations(
    query: str, counted: Mapping[Language, int], language: Language | None
) -> None:
    assert language_for(query, counted) == language
