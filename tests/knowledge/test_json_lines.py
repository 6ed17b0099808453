"""Lines of JSON end at their newline: every reader takes what stands within a text for a part of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.evaluation.formats.common import json_lines
from engine.knowledge.load import load_bytes
from engine.knowledge.vector_files import _lines

TEXT = "first words of a text\u2028second words of it\u2029third words of it\u0085fourth words of it"


def _documents(data: bytes, _: Path) -> list[str]:
    return [section.text for section in load_bytes("a.jsonl", data).sections]


def _sets(data: bytes, _: Path) -> list[str]:
    return [str(row["text"]) for _, row in json_lines(data.decode()) if not isinstance(row, str)]


def _vectors(data: bytes, folder: Path) -> list[str]:
    (folder / "a.jsonl").write_bytes(data)
    return [str(row["text"]) for row in _lines(folder / "a.jsonl")]


@pytest.mark.parametrize("read", [_documents, _sets, _vectors])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_separators_inside_a_text_end_no_line(
    tmp_path: Path, read: Callable[[bytes, Path], list[str]], ending: str
) -> None:
    lines = [json.dumps({"text": f"{TEXT} {n}"}, ensure_ascii=False) for n in range(3)]
    found = read((ending.join(lines) + ending).encode(), tmp_path)
    assert len(found) == 3
    assert all("second" in text and "fourth" in text for text in found)
