"""What asks for no knowledge is answered without a search, and nothing else is (GH-01)."""

from __future__ import annotations

import asyncio

import pytest

from engine.builtin.query_analyst import BuiltinQueryAnalyst
from engine.roles import AnalysisRequest


def simple(query: str) -> bool:
    analysis = asyncio.run(BuiltinQueryAnalyst().analyse(AnalysisRequest(query)))
    assert analysis.direct == (analysis.complexity == "simple")
    return analysis.direct


@pytest.mark.parametrize(
    "query",
    ["Hello!", "Thanks a lot.", "What is this workbench?", "What can this tool do?", "How does this workbench work?",
     "你好", "谢谢", "这个工作台是做什么的？", "这个工具能做什么？", "怎么用这个工作台？", "这个系统怎么用？"],
)  # fmt: skip
def test_greetings_thanks_and_questions_about_the_workbench_are_simple(query: str) -> None:
    assert simple(query)


@pytest.mark.parametrize(
    "query",
    ["What is diabetes?", "What can insulin do?", "How does the pancreas work?", "Hello, what is a tree?",
     "糖尿病是什么？", "胰岛素怎么用？", "这个公式怎么用？", "你好，什么是树？"],
)  # fmt: skip
def test_an_easy_question_of_fact_is_not(query: str) -> None:
    assert not simple(query)
