"""``python -m engine ingest``: options, preview, an interrupt and going on after it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.engine import Engine
from engine.library.values import ChunkOptions, JobStatus
from engine.running.ingestions import Ingestions
from engine.settings import Settings
from tests.api.served import FakeCollections
from tests.cli.test_handing_over import handed_over, said

PARAGRAPH = "Green tea is brewed at 80 degrees for two minutes, and never longer. "


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(folder))
    monkeypatch.setenv("WORKBENCH_EMBEDDING_MODEL", "hashing")
    return folder


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "long.md").write_text("# Tea\n\n" + PARAGRAPH * 40)
    (folder / "copy.md").write_text("# Tea\n\n" + PARAGRAPH * 40)
    (folder / "bad.txt").write_bytes(b"\x00\x01\x02\x03")
    return folder


def test_a_preview_says_what_would_be_done_and_does_nothing(
    data_dir: Path, documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ingest", str(documents), "--collection", "tea", "--preview"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "copy.md: + new · md · utf-8 · 3 passages" in printed
    assert "long.md: = the same as copy.md" in printed
    assert "✗ bad.txt:" in printed
    assert "To embed: 3 passages, about 0 s on a common machine. Files that cannot be used: 1." in printed
    with Engine.open(Settings.load()) as engine:
        assert [item.name for item in engine.collections()] == ["samples"]
        assert engine.ingestions.jobs() == ()


def test_a_preview_says_what_sentences_of_context_would_cost(
    data_dir: Path, documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """BE-04"""
    wanted = ["ingest", str(documents / "long.md"), "--collection", "tea", "--context", "written", "--preview"]
    assert main([*wanted, "--context-model", "ollama:qwen3:8b"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert re.search(r"Context: 3 calls of ollama:qwen3:8b, about [12]\d{3} tokens\.", printed)
    assert main(wanted) != 0
    assert "'builtin' cannot write sentences of context" in said(capsys)


def test_a_size_out_of_range_is_bad_use_before_anything_is_opened(
    data_dir: Path, documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ingest", str(documents), "--collection", "tea", "--chunk-tokens", "5000"]) == 2
    assert "target_tokens must lie between 40 and 1000." in said(capsys)
    assert main(["ingest", str(documents), "--collection", "tea", "--overlap", "150"]) == 2
    assert list(data_dir.iterdir()) == []


def test_an_interrupt_stops_in_order_and_the_same_command_continues(
    data_dir: Path, documents: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Ingestions.wait

    def interrupted(self: Ingestions, job_id: str, timeout_s: float | None = None) -> JobStatus:
        raise KeyboardInterrupt

    command = ["ingest", str(documents), "--collection", "tea", "--chunk-tokens", "100", "--embedding-model", "hashing"]
    monkeypatch.setattr(Ingestions, "wait", interrupted)
    assert main(command) == 130
    assert "Run the same command once more to continue" in said(capsys)
    monkeypatch.setattr(Ingestions, "wait", honest)
    assert main(command) == 1
    printed = said(capsys)
    assert "bad.txt:" in printed
    assert "1 added, 0 replaced, 1 skipped, 1 failed; 8 passages" in printed
    with Engine.open(Settings.load()) as engine:
        assert engine.ingestions.jobs() == ()
        assert engine.describe("tea").passages == 8
        assert [item.chunks for item in engine.sources("tea")] == ["100/160/50"]


def test_options_are_handed_to_the_app_that_has_the_knowledge_base_open(
    data_dir: Path, documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    knowledge = FakeCollections()
    command = ["ingest", str(documents / "long.md"), "--collection", "tea", "--chunk-tokens", "300", "--overlap", "0"]
    with handed_over(data_dir, knowledge=knowledge):
        assert main([*command, "--embedding-model", "ollama:bge-m3"]) == 0
        assert main(command) == 0
    assert "1 added" in said(capsys)
    assert knowledge.options == [
        (ChunkOptions(300, 480, 0), "ollama:bge-m3"),
        (ChunkOptions(300, 480, 0), ""),
    ]


def test_a_preview_asks_the_app_what_the_collection_has(
    data_dir: Path, documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with handed_over(data_dir, knowledge=FakeCollections()):
        assert main(["ingest", str(documents / "long.md"), "--collection", "samples", "--preview"]) == 0
    assert "long.md: ↻ replaces its former version" in " ".join(capsys.readouterr().out.split())


def test_what_was_left_out_is_printed_with_a_preview_an_ingestion_and_the_sources(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """BE-02"""
    torn = tmp_path / "torn.jsonl"
    torn.write_text('{"a": "one"}\n{"b": \n{"c": "three"}\n')
    command = ["ingest", str(torn), "--collection", "tea"]
    line = "1 line is no JSON and was left out (line 2)"
    assert main([*command, "--preview"]) == 0
    assert f"! {line}" in capsys.readouterr().out
    assert main(command) == 0
    assert f"! torn.jsonl: {line}" in capsys.readouterr().err
    assert main(["sources", "tea"]) == 0
    printed = capsys.readouterr().out
    assert "Read: 2 sections" in printed and f"! {line}" in printed
    assert main(["sources", "tea", "--json"]) == 0
    (source,) = json.loads(capsys.readouterr().out)
    assert source["account"]["notes"] == [{"code": "lines_unreadable", "params": {"count": "1", "lines": "2"}}]


def test_sources_of_the_app_that_has_the_knowledge_base_open_say_where_nothing_was_recorded(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with handed_over(data_dir, knowledge=FakeCollections()):
        assert main(["sources", "samples"]) == 0
    assert "What was read of it, and what was left out, was not recorded." in capsys.readouterr().out


def test_a_file_that_is_too_large_for_the_app_is_named_without_being_sent(
    data_dir: Path, documents: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_MAX_UPLOAD_MB", "1")
    (documents / "huge.txt").write_bytes(b"tea " * 300_000)
    knowledge = FakeCollections()
    with handed_over(data_dir, knowledge=knowledge):
        assert main(["ingest", str(documents / "huge.txt"), str(documents / "long.md"), "--collection", "tea"]) == 1
    assert "'huge.txt' has 1.2 MB; the limit is 1 MB." in said(capsys)
    assert [item.name for _, [item] in knowledge.given] == ["long.md"]
