"""A folder of mixed real files, some of them broken, as anyone's own documents are."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.support import office_files as made

_TOPICS = "糖尿病 哈密顿回路 泰山日出 青花瓷 光合作用 高速铁路 茶叶发酵 季风气候 区块链 免疫细胞".split()
_PLACES = "北京 上海 成都 西安 杭州 昆明 哈尔滨".split()


@dataclass(frozen=True, slots=True)
class MixedFolder:
    """Names are relative to ``path``, with ``/`` between folders; no two good files have the same content."""

    path: Path
    good: tuple[str, ...]
    broken: dict[str, str]
    """Name and the code of the error that it must be reported with."""


def make_mixed_folder(path: Path, count: int) -> MixedFolder:
    """Write ``count`` (at least 40) files into a few folders, 26 of them broken."""
    path.mkdir(parents=True, exist_ok=True)
    bad = _broken_files()
    broken = {f"broken/{name}": code for name, (code, _) in bad.items()}
    for name, (_, data) in bad.items():
        _write(path / "broken" / name, data)
    makers = tuple(_GOOD.items())
    good = []
    for number in range(count - len(bad)):
        suffix, maker = makers[number % len(makers)]
        name = f"folder {number % 3}/文件 {number:03d}.{suffix.split()[0]}"
        _write(path / name, maker(number))
        good.append(name)
    return MixedFolder(path, tuple(good), broken)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def sentence(number: int, part: int = 0) -> str:
    """A Chinese sentence that no other file holds."""
    topic, place = _TOPICS[number % len(_TOPICS)], _PLACES[(number + part) % len(_PLACES)]
    found = f"{place}的研究者在{1900 + number}年记录了{number * 7 + part}个样本"
    return f"关于{topic}的第{number}份资料第{part}段：{found}。"


def _table(number: int) -> list[list[object]]:
    cities = enumerate(_PLACES[:3])
    rows = [[f"{place}{number}", 100 + number + index, sentence(number, index)] for index, place in cities]
    return [["城市", "样本数", "说明"], *rows]


def _text(number: int) -> bytes:
    return f"{sentence(number)}\n{sentence(number, 1)}\n".encode()


def _text_gb18030(number: int) -> bytes:
    return f"{sentence(number)}\n{sentence(number, 1)}\n".encode("gb18030")


def _markdown(number: int) -> bytes:
    return f"# 资料 {number}\n\n{sentence(number)}\n\n## 细节\n\n{sentence(number, 1)}\n".encode()


def _page(number: int) -> str:
    return (
        f"<title>资料 {number}</title></head><body><nav>首页 关于</nav><main><h1>资料 {number}</h1>"
        f"<p>{sentence(number)}</p><h2>细节</h2><ul><li>{sentence(number, 1)}</li></ul></main></body></html>"
    )


def _html(number: int) -> bytes:
    return f"<!doctype html><html><head><meta charset=utf-8>{_page(number)}".encode()


def _html_gb2312(number: int) -> bytes:
    return f"<html><head><meta charset=gb2312>{_page(number)}".encode("gb18030")


def _pdf(number: int) -> bytes:
    return made.pdf([[sentence(number)], [sentence(number, 1)]])


def _docx(number: int) -> bytes:
    return made.docx([("Heading 1", f"资料 {number}"), ("Normal", sentence(number))])


def _pptx(number: int) -> bytes:
    return made.pptx([(f"资料 {number}", sentence(number))])


def _csv(number: int) -> bytes:
    return "\n".join(",".join(map(str, row)) for row in _table(number)).encode()


def _tsv_gb18030(number: int) -> bytes:
    return "\r\n".join("\t".join(map(str, row)) for row in _table(number)).encode("gb18030")


def _xlsx(number: int) -> bytes:
    return made.xlsx({"城市": _table(number)})


def _json(number: int) -> bytes:
    records = [{"title": f"第{part}条", "text": sentence(number, part), "year": 1900 + number} for part in range(2)]
    return json.dumps(records, ensure_ascii=False).encode()


def _jsonl(number: int) -> bytes:
    records = [{"id": part, "text": sentence(number, part)} for part in range(2)]
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records).encode()


_GOOD: dict[str, Callable[[int], bytes]] = {
    "txt": _text,
    "md": _markdown,
    "html": _html,
    "pdf": _pdf,
    "docx": _docx,
    "csv": _csv,
    "xlsx": _xlsx,
    "json": _json,
    "jsonl": _jsonl,
    "txt in GB 18030": _text_gb18030,
    "htm in GB 2312": _html_gb2312,
    "tsv in GB 18030": _tsv_gb18030,
    "pptx": _pptx,
}


def _broken_files() -> dict[str, tuple[str, bytes]]:
    word, deck, book = _docx(900), _pptx(901), _xlsx(902)
    pages = _pdf(903)
    return {
        "empty.txt": ("WB303", b""),
        "blank.md": ("WB303", b"  \n\n"),
        "picture.txt": ("WB306", b"\x89PNG\r\n\x1a\n" + bytes(40)),
        "noise.md": ("WB306", bytes(range(256)) * 4),
        "latin.txt": ("WB307", bytes([0x81, 0x20, 0x8D, 0x21, 0xFE, 0x20]) * 20),
        "encrypted.pdf": ("WB309", made.encrypted_pdf()),
        "encrypted.docx": ("WB309", made.encrypted_office()),
        "encrypted.xlsx": ("WB309", made.encrypted_office()),
        "zip bomb.docx": ("WB310", made.zip_bomb(word, 400)),
        "xml bomb.docx": ("WB310", made.xml_bomb(word)),
        "xml bomb.xlsx": ("WB310", made.xml_bomb(book, "xl/workbook.xml")),
        "scanned.pdf": ("WB312", made.scanned_pdf()),
        "cut.pdf": ("WB313", pages[: len(pages) // 2]),
        "cut.docx": ("WB313", word[: len(word) // 2]),
        "cut.pptx": ("WB313", deck[: len(deck) // 2]),
        "cut.xlsx": ("WB313", book[:-40]),
        "cut.json": ("WB313", '[{"text": "开头在，结尾'.encode()),
        "no document.docx": ("WB313", made.with_parts(word, {"word/document.xml": b"<not closed"})),
        "pdf inside.docx": ("WB306", pages),
        "sheet inside.docx": ("WB306", book),
        "old.docx": ("WB306", made.old_office()),
        "words.pdf": ("WB306", "这不是 PDF，只是文字。".encode()),
        "no lines.jsonl": ("WB313", b"{broken\nlines\nonly"),
        "no text.html": ("WB303", b"<html><script>var x = 1</script></html>"),
        "no text.pptx": ("WB303", made.pptx([("", "")])),
        "no cells.xlsx": ("WB303", made.xlsx({"Sheet": []})),
    }
