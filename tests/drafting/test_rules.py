"""Which questions sentences, headings, entries and tables give, and which they must not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from engine.drafting import chinese, english
from engine.drafting.drafting import drafts_of
from engine.drafting.values import Draft, Found
from engine.model.values import PassageId
from tests.drafting.documents import LIMITS, passages

USAGE = english.Usage("You add a plugin. We build it with VS Code and Vite. Then Vite serves the file.")


def asked(found: list[Found]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(item.rule, item.question, item.gold) for item in found]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "`chain.keeper` is a background service that removes snapshots which no chain needs.",
            ("definition", "What is chain.keeper?", ()),
        ),
        (
            "Vite used Hot Module Replacement (HMR) over native modules to update the page.",
            ("definition", "What does HMR stand for?", ("Hot Module Replacement",)),
        ),
        ("Old snapshots are kept for 30 days.", ("figure", "For how long are old snapshots kept?", ("30 days",))),
        (
            "The certificates must be renewed every 90 days.",
            ("figure", "How often must the certificates be renewed?", ("90 days",)),
        ),
        (
            "A snapshot chain has at most 16 layers in it.",
            ("figure", "How many layers does a snapshot chain have at most?", ("16",)),
        ),
        (
            "To restore your disk from a snapshot, run the restore command.",
            ("way", "How do I restore my disk from a snapshot?", ()),
        ),
        (
            "You can use the `--no-wait` flag to return at once from a restore.",
            ("way", "What can I use to return at once from a restore?", ("--no-wait",)),
        ),
        (
            "If `server.port` is already in use, the server exits with code 3.",
            ("condition", "What happens if server.port is already in use?", ()),
        ),
        (
            "If your code requires a lock, you can call `chain.hold` before it.",
            ("condition", "What should I do if my code requires a lock?", ()),
        ),
    ],
)
def test_an_english_sentence_gives_its_question(sentence: str, expected: tuple[str, str, tuple[str, ...]]) -> None:
    assert expected in asked(list(english.of_sentence(sentence)))


@pytest.mark.parametrize(
    "sentence",
    [
        "This is a service that removes snapshots which no chain needs.",
        "If this is the case, the server exits with code 3 and says so.",
        "To do so, see the guide on restoring disks from snapshots.",
        "If you are using an older version, see the migration guide first.",
        "When it was first created, the server had only one disk to look after.",
        "The result is a list of snapshots that can be restored.",
    ],
)
def test_a_sentence_that_needs_what_stands_before_it_gives_none(sentence: str) -> None:
    assert list(english.of_sentence(sentence)) == []


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Adding a Plugin", "How do I add a plugin in Backups?"),
        ("Debugging the Server in VS Code", "How do I debug the server in VS Code?"),
        ("Why Is the Restore Slow?", "Why Is the Restore Slow?"),
        ("Limitations", "What are the limitations of Backups?"),
        ("Customizing the Behavior", "How do I customize the behavior in Backups?"),
    ],
)
def test_an_english_heading_gives_its_question(heading: str, expected: str) -> None:
    assert [item.question for item in english.of_heading(heading, "Backups", USAGE)] == [expected]


@pytest.mark.parametrize(
    "heading", ["Lightning CSS", "Chunking Strategy", "Build Optimizations", "Overview", "Fencing"]
)
def test_a_heading_that_only_names_something_gives_none(heading: str) -> None:
    assert list(english.of_heading(heading, "Backups", USAGE)) == []


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("快照链是一种按时间保存磁盘状态的记录方式。", ("definition", "什么是快照链？", ())),
        (
            "SNI（Server Name Indication）是一项特性。",
            ("definition", "SNI 的全称是什么？", ("Server Name Indication",)),
        ),
        ("快照最多保留 30 天。", ("figure", "快照最多保留多少天？", ("30 天",))),
        ("要从快照恢复磁盘，请运行恢复命令并给出快照名称。", ("way", "怎样从快照恢复磁盘？", ())),
        ("你可以通过修改配置文件来限制并发的恢复数量。", ("way", "怎样限制并发的恢复数量？", ())),
        ("如果磁盘空间严重不足，恢复命令会在写入之前退出。", ("condition", "如果磁盘空间严重不足，会怎样？", ())),
        ("当 `mode` 设置为 `full` 时，你需要重新启动服务。", ("condition", "当 mode 设置为 full 时，应该怎么做？", ())),
    ],
)
def test_a_chinese_sentence_gives_its_question(sentence: str, expected: tuple[str, str, tuple[str, ...]]) -> None:
    assert expected in asked(list(chinese.of_sentence(sentence)))


@pytest.mark.parametrize(
    "sentence",
    [
        "这是一种按时间保存磁盘状态的记录方式。",
        "如果是这样，恢复命令会在写入之前退出。",
        "允许 2 个并发请求。",
        "为了安全考虑，默认不支持旧的协议版本。",
    ],
)
def test_a_chinese_sentence_that_needs_what_stands_before_it_gives_none(sentence: str) -> None:
    assert list(chinese.of_sentence(sentence)) == []


def test_a_generic_chinese_heading_is_asked_of_its_document() -> None:
    (found,) = chinese.of_heading("禁用插件", "limit-conn")
    assert chinese.within(found.question, "limit-conn") == "怎样禁用 limit-conn 插件？"
    assert list(chinese.of_heading("使用示例", "limit-conn")) == []


def by_question(drafts: list[Draft]) -> dict[str, Draft]:
    return {item.question: item for item in drafts}


def test_a_tree_gives_drafts_of_several_kinds_with_the_passage_that_answers() -> None:
    stored = {item.id: item for item in passages()}
    drafts = drafts_of(list(stored.values()), "docs")
    found = by_question(drafts)
    port = found["What is the default of server.port?"]
    assert (port.rule, port.gold_answers, port.answerable) == ("figure", ("8123",), True)
    assert port.quote in stored[port.passages[0]].text
    assert found["In Limits: what is the default of max_chains?"].gold_answers == ("64",)
    assert "What is server.host for?" in found and "怎样恢复磁盘？" in found
    assert {item.rule for item in drafts} >= {"figure", "definition", "way", "condition", "heading", "cell", "entry"}
    assert all(item.passages and item.passages[0] in stored for item in drafts)
    assert {item.language for item in drafts} == {"en", "zh"}


def test_rows_of_a_table_that_was_cut_in_two_keep_its_head() -> None:
    head, rule, *rows = [line for line in LIMITS.split("\n") if line.startswith("|")]
    first, second = passages(
        one=f"# Limits\n\n{head}\n{rule}\n{rows[0]}\n", two="# Other\n\nNothing of that kind here.\n"
    )[:2]
    tail = replace(first, id=PassageId(f"{first.source}#2"), ordinal=first.ordinal + 1, text=rows[1])
    found = by_question(drafts_of([first, tail, second], "docs"))
    assert found["In Limits: what is the default of chunk_size?"].passages == (tail.id,)


def test_what_two_documents_would_answer_differently_is_not_asked() -> None:
    twice = drafts_of(
        passages(a="# A\n\nSnapshots are kept for 30 days.\n", b="# B\n\nSnapshots are kept for 9 days.\n"), "x"
    )
    assert all("Snapshots" not in item.question and "snapshots" not in item.question for item in twice)


def test_the_same_sentence_in_two_versions_of_a_document_is_expected_in_both() -> None:
    text = "## server.port\n\n- Type: `number`\n- Default: `8123`\n\nOld snapshots are kept for 30 days.\n"
    stored = passages(old=f"# Version 1\n\n{text}", new=f"# Version 2\n\n{text}")
    found = by_question(drafts_of(stored, "x"))
    assert set(found["For how long are old snapshots kept?"].passages) == {item.id for item in stored}
    assert len(found["What is the default of server.port?"].passages) == 2
    assert "What is server.port for?" not in found


def test_nothing_is_drafted_again_in_nearly_the_same_words() -> None:
    before = drafts_of(passages(), "docs")
    assert drafts_of(passages(), "docs", [item.question for item in before]) == []
    fewer = drafts_of(passages(), "docs", ["what's the default for server.port"])
    assert "What is the default of server.port?" not in by_question(fewer)


def test_kinds_take_turns_and_a_draft_says_how_much_it_copied() -> None:
    drafts = drafts_of(passages(), "docs")
    assert len({item.rule for item in drafts[:5]}) == 5
    assert max(Counter(item.rule for item in drafts[:7]).values()) <= 2
    copied = by_question(drafts)["What happens if server.port is already in use?"]
    assert copied.run >= 6 and 0 < copied.shared <= 1
