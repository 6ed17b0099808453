"""Reading in processes of their own: no matter what happens in one, the next file is read."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.errors import SourceDamaged, SourceError, rows
from engine.knowledge.load import load_bytes
from engine.knowledge.loaders import apart
from engine.knowledge.loaders.apart import read_apart
from engine.knowledge.loaders.kinds import loader_of
from engine.model import subprocesses
from engine.model.subprocesses import Subprocess, Subprocesses, reply_of
from tests.support import office_files as made
from tests.support.errors import raises

ROOT = Path(__file__).resolve().parents[3]
PAGE = made.pdf([["正文。"]])


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Subprocesses]:
    made_here = Subprocesses(
        "engine.knowledge.loaders.apart:read",
        most=apart.MOST_READERS,
        most_memory=2_000_000_000,
        kept_memory=apart.KEPT_MEMORY,
        idle_s=30,
    )
    monkeypatch.setattr(apart, "READERS", made_here)
    yield made_here
    made_here.close()


def test_one_process_reads_many_files_and_errors_come_over_whole(readers: Subprocesses) -> None:
    read = [read_apart(".pdf", f"{number}.pdf", made.pdf([[f"第{number}份"]])) for number in range(3)]
    assert [contents.sections[0].text for contents in read] == [f"第{number}份" for number in range(3)]
    with raises(SourceError.encrypted) as raised:
        read_apart(".pdf", "locked.pdf", made.encrypted_pdf())
    assert raised.value.params == {"name": "locked.pdf"}
    with pytest.raises(SourceDamaged):
        read_apart(".docx", "cut.docx", made.docx([])[:500])
    data = made.docx([("Heading 1", "题"), ("Normal", "文")])
    assert read_apart(".docx", "a.docx", data) == loader_of("a.docx")("a.docx", data, False)
    assert [reader.calls for reader in readers.idle()] == [6]


def test_a_file_that_takes_too_long_is_given_up_and_the_next_one_is_read(readers: Subprocesses) -> None:
    with raises(SourceError.timed_out, match=r"endless\.pdf.*given up after 0\.01 seconds"):
        read_apart(".pdf", "endless.pdf", made.pdf([["字" * 40] * 30] * 200), seconds=0.01)
    assert read_apart(".pdf", "a.pdf", PAGE).sections[0].text == "正文。"


def test_a_reader_that_breaks_down_is_replaced(readers: Subprocesses) -> None:
    read_apart(".pdf", "a.pdf", PAGE)
    (reader,) = readers.idle()
    reader.end()
    with raises(SourceError.too_demanding, match=r"b\.pdf"):
        reader.call("b.pdf", PAGE, 20, suffix=".pdf")
    assert read_apart(".pdf", "c.pdf", PAGE).sections[0].text == "正文。"


def test_threads_share_a_few_processes(readers: Subprocesses) -> None:
    with ThreadPoolExecutor(8) as pool:
        read = pool.map(lambda number: read_apart(".pdf", f"{number}.pdf", made.pdf([[f"第{number}份"]])), range(16))
        assert [contents.sections[0].text for contents in read] == [f"第{number}份" for number in range(16)]
    assert len(readers.idle()) <= apart.MOST_READERS


def test_a_reader_that_has_read_enough_is_ended(monkeypatch: pytest.MonkeyPatch, readers: Subprocesses) -> None:
    monkeypatch.setattr(subprocesses, "MOST_CALLS", 2)
    for _ in range(3):
        read_apart(".html", "a.html", b"<p>x</p>")
    assert [reader.calls for reader in readers.idle()] == [1]


@pytest.mark.skipif(sys.platform != "linux", reason="no other system limits the memory of a process")
def test_a_file_that_needs_too_much_memory_is_named_for_it() -> None:
    """In a process with little memory, for filling the usual limit takes half a minute."""
    program = (
        "import resource, docx\n"
        "from engine.knowledge.loaders.apart import read\n"
        "from engine.model.subprocesses import reply_of\n"
        "from tests.support import office_files as made\n"
        "w = 'xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"'\n"
        "body = '<w:p><w:r><w:t>x</w:t></w:r></w:p>' * 200_000\n"
        "parts = {'word/document.xml': f'<w:document {w}><w:body>{body}</w:body></w:document>'.encode()}\n"
        "data = made.with_parts(made.docx([]), parts)\n"
        "now = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (now + 30_000_000,) * 2)\n"
        "print(reply_of(read, 'a.docx', data, suffix='.docx')['error']['code'])\n"
    )
    shown = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == SourceError.too_demanding.code


def test_a_reader_that_has_grown_large_is_not_kept(monkeypatch: pytest.MonkeyPatch, readers: Subprocesses) -> None:
    call = Subprocess.call

    def grows(self: Subprocess, name: str, data: bytes, seconds: float, **arguments: object) -> object:
        value = call(self, name, data, seconds, **arguments)
        assert not self.grown
        self.grown = True
        return value

    monkeypatch.setattr(Subprocess, "call", grows)
    read_apart(".html", "a.html", b"<p>x</p>")
    assert readers.idle() == ()


def test_a_reader_of_a_large_app_is_kept_as_that_of_a_small_one() -> None:
    program = (
        "from engine.knowledge.loaders.apart import KEPT_MEMORY, READERS, read_apart\n"
        "held = b'x' * (KEPT_MEMORY + 20_000_000)\n"
        "read_apart('.html', 'a.html', b'<p>x</p>')\n"
        "print(len(READERS.idle()))\n"
    )
    shown = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "1"


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs a handle that tells of the end of a process")
def test_no_process_stays_behind_when_the_app_is_killed() -> None:
    program = (
        "import sys\n"
        "from engine.knowledge.loaders.apart import READERS, read_apart\n"
        "read_apart('.html', 'a.html', b'<p>x</p>')\n"
        "print(READERS.idle()[0].pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as app:
        assert app.stdout is not None
        reader = os.pidfd_open(int(app.stdout.readline()))
        app.kill()
    ended = select.poll()
    ended.register(reader, select.POLLIN)
    assert ended.poll(30_000), "the reader still runs"
    os.close(reader)


def test_the_app_starts_without_the_libraries_that_read_documents() -> None:
    heavy = "['pypdfium2', 'lxml']"
    program = f"import sys, engine.knowledge.ingest; print([name for name in {heavy} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_errors_come_out_of_the_process_as_they_went_in() -> None:
    for row in rows(SourceError):
        stated = row.restored("Fact.", "Remedy.", {"a": "b"})

        def raises(name: str, data: bytes, stated: SourceError = stated) -> None:
            raise stated

        assert reply_of(raises, "a", b"") == {
            "error": {"code": row.code, "fact": "Fact.", "remedy": "Remedy.", "params": {"a": "b"}}
        }


def test_a_loader_that_meets_what_it_does_not_know_says_so_and_the_process_lives() -> None:
    def odd(name: str, data: bytes) -> None:
        raise KeyError("w:odd")

    error = reply_of(odd, "a.docx", b"")["error"]
    assert (error["code"], error["params"]["why"]) == (SourceError.unreadable.code, "KeyError: 'w:odd'")


def test_a_document_is_the_same_read_here_or_apart() -> None:
    from engine.knowledge.loaders.pdf import load_pdf

    assert load_bytes("a.pdf", PAGE).sections == load_pdf("a.pdf", PAGE).sections
