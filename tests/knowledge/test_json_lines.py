"""Lines of JSON end at their newline: every reader takes what stands within a text for a part of it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from engine.evaluation.formats.common import json_lines
from engine.knowledge.load import load_bytes

TEXT = "first words of a text\u2028second words of it\u2029third words of it\u0085fourth words of it"


def _documents(data: bytes) -> list[str]:
    return [section.text for section in load_bytes("a.jsonl", data).sections]


def _sets(data: bytes) -> list[str]:
    return [str(row["text"]) for _, row in json_lines(data.decode()) if not isinstance(row, str)]


@pytest.mark.parametrize("read", [_documents, _sets])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_separators_inside_a_text_end_no_line(read: Callable[[bytes], list[str]], ending: str) -> None:
    lines = [json.dumps({"text": f"{TEXT} {n}"}, ensure_ascii=False) for n in range(3)]
    found = read((ending.join(lines) + ending).encode())
    assert len(found) == 3
    assert all("second" in text and "fourth" in text for text in found)
