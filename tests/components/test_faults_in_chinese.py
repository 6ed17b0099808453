"""Faults in the language of the page: every message, pieces of sentences in it, and what older versions recorded."""

from __future__ import annotations

import re

import pytest

from components.common.i18n import words_for
from components.common.phrases import fault_text
from engine.errors import (
    EvaluationError,
    ModelError,
    ModelInterrupted,
    ModelRefused,
    RecordError,
    SourceMislabelled,
    WorkbenchError,
    classes,
)
from engine.model.values import Fault

EN, ZH = words_for("en"), words_for("zh")


def test_every_message_of_every_error_is_said_in_chinese_with_the_same_parameters() -> None:
    for kind in classes(WorkbenchError):
        for message in kind.messages():
            error = kind(message, **{name: f"<{name}>" for name in message.fields - message.fixed.keys()})
            said = fault_text(Fault.of(error), ZH)
            assert fault_text(Fault.of(error), EN) == (error.fact, error.remedy)
            for english, chinese in zip((error.fact, error.remedy), said, strict=True):
                assert re.search("[\u4e00-\u9fff]", chinese) or english == "<advice>.", english
                assert set(re.findall(r"<\w+>", chinese)) == set(re.findall(r"<\w+>", english)), english


@pytest.mark.parametrize(
    ("error", "fact", "remedy"),
    [
        (
            ModelError.not_pulled(model="qwen3:8b", command="ollama pull qwen3:8b"),
            "Ollama 里没有名为 qwen3:8b 的模型。",
            "请运行 `ollama pull qwen3:8b`，然后重试。",
        ),
        (
            ModelRefused(model="ollama:m", status=500, message="out of {memory}"),
            "ollama:m 被它的服务器拒绝（500）：out of {memory}",
            "请查看模型服务器的日志，或为这个角色换一个模型。",
        ),
        (RecordError.tag_blank(), "标签是空的。", "请输入文字后再添加。"),
        (
            SourceMislabelled(name="a.txt", found="a PDF document"),
            "“a.txt”的名字与内容不符，内容其实是 PDF 文档。",
            "请改成与内容相符的后缀，或另存为新的格式再入库。",
        ),
        (
            EvaluationError.unusable(
                path="e.db", cause="the disk is full", advice="Look at the disk and the system log"
            ),
            "评测数据“e.db”无法使用：磁盘已满。",
            "请检查磁盘和系统日志。",
        ),
        (
            EvaluationError.unusable(path="e.db", cause="Is a directory", advice="Look at the disk and the system log"),
            "评测数据“e.db”无法使用：Is a directory。",
            "请检查磁盘和系统日志。",
        ),
    ],
    ids=["command", "braces", "no parameter", "a piece of ours", "two pieces", "a piece of the system"],
)
def test_a_fault_is_said_in_chinese(error: WorkbenchError, fact: str, remedy: str) -> None:
    assert fault_text(Fault.of(error), ZH) == (fact, remedy)


@pytest.mark.parametrize(
    ("code", "english", "params", "chinese"),
    [
        (
            "WB601",
            "The answer rests on passages of low quality: their score is 0.41, below 0.5.",
            {"score": "0.41", "bar": "0.5"},
            "回答所依据的片段质量偏低：得分 0.41，低于 0.5。",
        ),
        (
            "WB421",
            "The limit of 3 answers is reached, and the last one still has 1 suggestion.",
            {"answers": "3", "suggestions": "1"},
            "已达到 3 次回答的上限，最后一次回答仍有 1 条修改建议。",
        ),
        (
            "WB216",
            "Long-term memory gave no answer within 0.5 s, so the run went on without it.",
            {"seconds": "0.5"},
            "长期记忆在 0.5 秒内没有应答，本次运行不再等它。",
        ),
        (
            "WB217",
            "Collection 'tea' was made without full text, so it cannot be searched by words.",
            {"collection": "tea"},
            "知识库 tea 建立时没有全文索引，不能按词检索。",
        ),
        (
            "WB306",
            "'a.txt' is named like text, but its content is a PDF document.",
            {"name": "a.txt", "found": "a PDF document"},
            "“a.txt”的名字与内容不符，内容其实是 PDF 文档。",
        ),
        (
            "WB417",
            "m answered with markers of passages alone, without a word, twice.",
            {"model": "m"},
            "m 两次都只写了片段编号或重复了问题，没有作答。",
        ),
        (
            "WB226",
            "Collection 'tea' has no field with text next to its vectors.",
            {"name": "tea", "textless": "tea"},
            "知识库 tea 的向量旁边没有文字字段。",
        ),
        (
            "WB401",
            "The server of openai models at http://127.0.0.1:1 does not answer.",
            {"openai_address": "http://127.0.0.1:1", "address": "http://127.0.0.1:1"},
            "http://127.0.0.1:1 的 openai 模型服务器没有响应。",
        ),
    ],
)
def test_what_an_earlier_version_recorded_is_said_in_chinese(
    code: str, english: str, params: dict[str, str], chinese: str
) -> None:
    fault = Fault(code, english, "Do it.", params)
    assert fault_text(fault, ZH)[0] == chinese
    assert fault_text(fault, EN) == (english, "Do it.")


@pytest.mark.parametrize(
    "fault",
    [
        Fault("WB999", "A later version worded this.", "Do it.", {"name": "a"}),
        Fault("WB402", "No such model.", "Pull it."),
        # Three messages of this code have a name alone, and an old wording does not say which one it was.
        Fault("WB226", "Collection 'a' is strange.", "Do it.", {"name": "a"}),
    ],
    ids=["an unknown code", "parameters missing", "several messages fit"],
)
def test_a_fault_of_unknown_words_stays_as_it_was_recorded(fault: Fault) -> None:
    assert fault_text(fault, ZH) == (fault.fact, fault.remedy)


def test_the_most_particular_message_is_taken_where_several_fit() -> None:
    fault = Fault("WB404", "m broke off: EOF", "Try again.", {"model": "m", "message": "EOF"})
    said = Fault.of(ModelInterrupted.with_reason(model="m", message="EOF"))
    assert fault_text(fault, ZH) == fault_text(said, ZH)
