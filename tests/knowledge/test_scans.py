"""Pages that are pictures: recognised one by one, in place, and counted with how sure it was."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Sequence

import pypdfium2
import pytest

from engine.builtin.ocr import OcrReader
from engine.errors import SourceError
from engine.knowledge import scans
from engine.knowledge.load import load_bytes
from engine.knowledge.loaders.contents import Section, note
from tests.support import office_files as made
from tests.support.errors import raises


class Reader:
    """Reads what the test gave for each page; None for one that takes too long."""

    def __init__(self, pages: dict[int, tuple[str, float] | None]) -> None:
        self.pages = pages
        self.asked: list[int] = []

    def call(self, name: str, data: bytes, seconds: float, *, kind: str, page: int) -> Sequence[object]:
        assert kind == "page"
        self.asked.append(page)
        found = self.pages.get(page, ("", 0.0))
        if found is None:
            raise SourceError.timed_out(name=name, seconds=seconds)
        return found


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Reader:
    made_up = Reader({2: ("第一行", 0.9), 3: None})
    monkeypatch.setattr(scans, "READERS", made_up)
    return made_up


def test_recognised_pages_stand_in_their_places_and_the_account_says_which(reader: Reader) -> None:
    document = load_bytes("a.pdf", made.half_scanned_pdf([["正文。"]], scanned=3))
    assert document.sections == (Section(("p. 1",), "正文。"), Section(("p. 2",), "第一行"))
    assert document.notes == (
        note("pages_not_recognised", count=1, pages="3"),
        note("pages_recognised", count=1, pages="2", confidence="90"),
        note("pages_without_text", count=1, pages="4", of=4),
    )
    assert dict(document.read) == {"pages": 1, "recognised pages": 1}


def test_a_preview_counts_the_pages_and_knows_the_file_again(reader: Reader) -> None:
    data = made.half_scanned_pdf([["正文。"]], scanned=3)
    seen = load_bytes("a.pdf", data, recognise=False)
    assert (seen.sections, reader.asked) == ((Section(("p. 1",), "正文。"),), [])
    assert seen.notes[0] == note("pages_to_recognise", count=3, pages="2-4", minutes=1)
    assert load_bytes("a.pdf", data).content_hash != seen.content_hash, "a page failed: the next try is another"
    reader.pages[3] = ("好", 1.0)
    assert load_bytes("a.pdf", data).content_hash == seen.content_hash
    whole = load_bytes("scan.pdf", made.scanned_pdf(2), recognise=False)
    assert (whole.sections, whole.notes) == ((), (note("pages_to_recognise", count=2, pages="1-2", minutes=1),))


def test_pictures_without_words_hold_no_text(reader: Reader) -> None:
    with raises(SourceError.scanned, match=r"holds no text: all its pages \(1\) are pictures"):
        load_bytes("scan.pdf", made.scanned_pdf(1))
    with raises(SourceError.garbled, match="fonts"):
        load_bytes("a.pdf", made.pdf([["\ue010\ue011\ue012\ue013 ab"]]))


def test_pages_that_took_too_long_are_not_said_to_hold_no_text(reader: Reader) -> None:
    reader.pages = {1: None}
    with raises(SourceError.timed_out, match="given up after 60"):
        load_bytes("scan.pdf", made.scanned_pdf(1))


def test_nothing_is_recognised_where_the_packages_are_missing(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OcrReader, "available", staticmethod(lambda: False))
    document = load_bytes("a.pdf", made.half_scanned_pdf([["正文。"]], scanned=1), recognise=False)
    assert document.notes == (note("pages_without_text", count=1, pages="2", of=2),)
    for recognise in (True, False):
        with raises(SourceError.scanned):
            load_bytes("a.pdf", made.scanned_pdf(1), recognise=recognise)
    assert reader.asked == []


def test_lines_of_a_paragraph_are_joined_and_short_ones_stay(reader: Reader) -> None:
    reader.pages = {1: ("这一行一直写到右边没有结\n束这里才结束。\n\n名称 5\n价格 7", 1.0)}
    document = load_bytes("a.pdf", made.scanned_pdf(1))
    assert document.sections[0].text == "这一行一直写到右边没有结束这里才结束。\n\n名称 5\n价格 7"


def test_no_further_page_is_recognised_once_the_reading_is_cancelled(reader: Reader) -> None:
    began, go_on = threading.Event(), threading.Event()
    ended = threading.Event()

    def slow(name: str, data: bytes, seconds: float, *, kind: str, page: int) -> Sequence[object]:
        reader.asked.append(page)
        began.set()
        go_on.wait(60)
        return ("", 0.0)

    reader.call = slow  # type: ignore[method-assign]

    def reading() -> None:
        with raises(SourceError.timed_out):
            load_bytes("a.pdf", made.scanned_pdf(5))
        ended.set()

    async def cancelled() -> None:
        task = asyncio.create_task(scans.in_thread(reading))
        await asyncio.to_thread(began.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()
        await asyncio.to_thread(ended.wait, 60)

    asyncio.run(cancelled())
    assert (ended.is_set(), reader.asked) == (True, [1])


def test_a_page_that_was_scanned_is_really_read() -> None:
    """With the models of the installation, in a process of its own."""
    page = pypdfium2.PdfDocument(made.drawn_pdf(b"BT /F 30 Tf 60 700 Td " + made.hexed("Aspirin 500 mg") + b" ET"))[0]
    scan = io.BytesIO()
    page.render(scale=2).to_pil().save(scan, "PDF", resolution=144)
    document = load_bytes("scan.pdf", scan.getvalue())
    assert document.sections == (Section(("p. 1",), "Aspirin 500 mg"),)
    assert [item.code for item in document.notes] == ["pages_recognised"]
