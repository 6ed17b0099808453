"""Real files of every kind, made on the fly: good, encrypted, scanned, cut short and hostile ones."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence

OutlineEntry = tuple[str, int, int]
"""Title, page from 1, level from 0."""


def docx(blocks: Sequence[tuple[str, str | Sequence[Sequence[str]]]], title: str = "") -> bytes:
    """A Word document; a block is a style (``Heading 1``, ``Normal``, ``List Bullet``) and its text, or ``table``."""
    from docx import Document

    document = Document()
    document.core_properties.title = title
    for style, content in blocks:
        if isinstance(content, str):
            document.add_paragraph(content, style=style)
            continue
        table = document.add_table(rows=0, cols=len(content[0]))
        for row in content:
            for cell, text in zip(table.add_row().cells, row, strict=True):
                cell.text = text
    return _saved(document)


def pptx(slides: Sequence[tuple[str, str]], notes: str = "") -> bytes:
    """A presentation of titled slides with one text box each; ``notes`` are those of the last slide."""
    from pptx import Presentation

    deck = Presentation()
    slide = None
    for title, body in slides:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = body
    if slide is not None and notes:
        slide.notes_slide.notes_text_frame.text = notes
    return _saved(deck)


def xlsx(sheets: Mapping[str, Iterable[Sequence[object]]], formats: Mapping[str, str] | None = None) -> bytes:
    """A workbook; ``formats`` gives cells of the first sheet (``B2``) a number format."""
    from openpyxl import Workbook

    book = Workbook()
    del book[book.sheetnames[0]]
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    for place, code in (formats or {}).items():
        book.worksheets[0][place].number_format = code
    return _saved(book)


def _saved(document: object) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()


def pdf(
    pages: Sequence[Sequence[str]], outline: Sequence[OutlineEntry] = (), title: str = "", leading: int = 20
) -> bytes:
    """A PDF of lines per page, Chinese or Latin, in the fonts that every reader brings (Adobe-GB1).

    An empty line leaves a gap, as between paragraphs.
    """
    streams = [_page_stream(lines, leading) for lines in pages]
    return _pdf(streams, outline=outline, title=title)


def scanned_pdf(pages: int = 2) -> bytes:
    """Pages that hold one picture and no text."""
    return _pdf([b"q 500 0 0 700 40 60 cm /Im Do Q"] * pages, picture=True)


def half_scanned_pdf(texts: Sequence[Sequence[str]], scanned: int) -> bytes:
    """Pages of text, then pages of pictures."""
    streams = [_page_stream(lines, 20) for lines in texts]
    return _pdf([*streams, *[b"q 500 0 0 700 40 60 cm /Im Do Q"] * scanned], picture=True)


def encrypted_pdf() -> bytes:
    """A PDF whose password is not the empty one."""
    locked = b"<< /Filter /Standard /V 1 /R 2 /P -44 /O <%s> /U <%s> >>" % (b"4f" * 32, b"a5" * 32)
    return _pdf([_page_stream(["secret"], 20)], encrypt=locked)


def _page_stream(lines: Sequence[str], leading: int) -> bytes:
    parts = [b"BT /F 12 Tf 60 780 Td"]
    for line in lines:
        drawn = b"<%s> Tj " % line.encode("utf-16-be").hex().encode() if line else b""
        parts.append(drawn + b"0 -%d Td" % (leading if line else leading // 2))
    return b"\n".join([*parts, b"ET"])


def _pdf(
    streams: Sequence[bytes],
    outline: Sequence[OutlineEntry] = (),
    title: str = "",
    picture: bool = False,
    encrypt: bytes = b"",
    on_page: bytes = b"",
    in_catalog: bytes = b"",
    more: Mapping[int, bytes] | None = None,
) -> bytes:
    first = 10 + len(outline)
    kids = b" ".join(b"%d 0 R" % (first + 2 * number) for number in range(len(streams)))
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R /Outlines 8 0 R %s >>" % in_catalog,
        2: b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(streams)),
        3: b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H"
        b" /DescendantFonts [4 0 R] >>",
        4: b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /FontDescriptor 5 0 R /DW 1000 /W [1 95 500]"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> >>",
        5: b"<< /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880] /ItalicAngle 0"
        b" /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>",
        6: _stream(b"\x40" * 64, b"/Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray"
                   b" /BitsPerComponent 8"),
        7: b"<< /Title <feff%s> >>" % title.encode("utf-16-be").hex().encode(),
        8: b"<< /Type /Outlines >>",
    }  # fmt: skip
    objects |= _outline(outline, first)
    drawn = b"/XObject << /Im 6 0 R >>" if picture else b""
    for number, stream in enumerate(streams):
        page = first + 2 * number
        objects[page] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R %s"
            b" /Resources << /Font << /F 3 0 R >> %s >> >>" % (page + 1, on_page, drawn)
        )
        objects[page + 1] = _stream(stream)
    return _file({**objects, **(more or {})}, encrypt)


def drawn_pdf(*streams: bytes, picture: bool = False) -> bytes:
    """A PDF of pages that are drawn by these instructions, in the font ``/F``, with the picture ``/Im`` if wished."""
    return _pdf(streams, picture=picture)


def hexed(text: str) -> bytes:
    """A text as instructions of a page draw it: ``<4f60> Tj``."""
    return b"<%s> Tj" % text.encode("utf-16-be").hex().encode()


def annotated_pdf(lines: Sequence[str], annotations: Sequence[bytes], files: bytes = b"") -> bytes:
    """A page of lines with annotations; those that are ``/Widget`` are fields of its form."""
    numbers = range(900, 900 + len(annotations))
    fields = [number for number, item in zip(numbers, annotations, strict=True) if b"/Widget" in item]
    references = b" ".join(b"%d 0 R" % number for number in numbers)
    form = b"/AcroForm << /Fields [%s] >>" % b" ".join(b"%d 0 R" % number for number in fields) if fields else b""
    return _pdf(
        [_page_stream(lines, 20)],
        on_page=b"/Annots [%s]" % references,
        in_catalog=form + files,
        more={number: b"<< /Type /Annot %s >>" % item for number, item in zip(numbers, annotations, strict=True)},
    )


def _outline(outline: Sequence[OutlineEntry], first: int) -> dict[int, bytes]:
    """The outline as one chain below its root at 8, deeper entries below the last one of the level above."""
    if not outline:
        return {}
    parents, last, children = list[int](), dict[int, int](), dict[int, list[int]]()
    stack = [8]
    for number, (_, _, level) in enumerate(outline):
        stack = stack[: level + 1]
        parents.append(stack[-1])
        children.setdefault(stack[-1], []).append(9 + number)
        stack.append(9 + number)
    objects = {}
    for number, (title, page, _) in enumerate(outline):
        parent, own = parents[number], 9 + number
        links = b" /Parent %d 0 R /Dest [%d 0 R /XYZ 0 842 0]" % (parent, first + 2 * (page - 1))
        if parent in last:
            links += b" /Prev %d 0 R" % last[parent]
        later = [other for other in children[parent] if other > own]
        links += b" /Next %d 0 R" % later[0] if later else b""
        links += _ends(children.get(own))
        objects[own] = b"<< /Title <feff%s>%s >>" % (title.encode("utf-16-be").hex().encode(), links)
        last[parent] = own
    objects[8] = b"<< /Type /Outlines%s >>" % _ends(children[8])
    return objects


def _ends(children: Sequence[int] | None) -> bytes:
    if not children:
        return b""
    return b" /First %d 0 R /Last %d 0 R /Count %d" % (children[0], children[-1], len(children))


def _stream(data: bytes, entries: bytes = b"") -> bytes:
    packed = zlib.compress(data)
    return b"<< /Length %d /Filter /FlateDecode %s >>\nstream\n%s\nendstream" % (len(packed), entries, packed)


def _file(objects: Mapping[int, bytes], encrypt: bytes = b"") -> bytes:
    if encrypt:
        objects = {**objects, max(objects) + 1: encrypt}
    out = io.BytesIO()
    out.write(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    places = {}
    for number in sorted(objects):
        places[number] = out.tell()
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, objects[number]))
    start, size = out.tell(), max(objects) + 1
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % size)
    for number in range(1, size):
        out.write(b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 65535 f \n")
    locked = b" /Encrypt %d 0 R" % max(objects) if encrypt else b""
    identity = b"/ID [<%s> <%s>]" % (b"31" * 16, b"31" * 16)
    out.write(b"trailer\n<< /Size %d /Root 1 0 R /Info 7 0 R %s%s >>\n" % (size, identity, locked))
    out.write(b"startxref\n%d\n%%%%EOF\n" % start)
    return out.getvalue()


def encrypted_office() -> bytes:
    """What Word writes for a document with a password: a compound file that holds the encrypted package."""
    names = ("Root Entry", "EncryptionInfo", "EncryptedPackage", "")
    directory = b"".join(_compound_entry(name, kind) for name, kind in zip(names, (5, 2, 2, 0), strict=True))
    allocation = struct.pack("<128I", 0xFFFFFFFD, 0xFFFFFFFE, *[0xFFFFFFFF] * 126)
    return _compound_header() + allocation + directory + b"\x07" * 4096


def old_office() -> bytes:
    """The beginning of a Word 97 document."""
    entries = zip(("Root Entry", "WordDocument", "1Table", ""), (5, 2, 2, 0), strict=True)
    return _compound_header() + b"\xff" * 512 + b"".join(_compound_entry(name, kind) for name, kind in entries)


def _compound_header() -> bytes:
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 16
    head += struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + b"\x00" * 6
    head += struct.pack("<9I", 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    return head + struct.pack("<109I", 0, *[0xFFFFFFFF] * 108)


def _compound_entry(name: str, kind: int) -> bytes:
    text = name.encode("utf-16-le").ljust(64, b"\x00")
    size = 2 * len(name) + 2 if name else 0
    return (text + struct.pack("<HBBIII", size, kind, 1, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF)).ljust(128, b"\x00")


def with_parts(package: bytes, parts: Mapping[str, bytes]) -> bytes:
    """An Office file with parts replaced or added."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name not in parts:
                new.writestr(name, old.read(name))
        for name, data in parts.items():
            new.writestr(name, data)
    return out.getvalue()


def part(package: bytes, name: str) -> bytes:
    """One part of an Office file."""
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        return archive.read(name)


def names(package: bytes) -> list[str]:
    """The paths of all parts of an Office file."""
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        return archive.namelist()


def zip_bomb(package: bytes, megabytes: int = 1000) -> bytes:
    """An Office file with one more part that unpacks to ``megabytes`` of zeros; takes a thousandth of that."""
    out = io.BytesIO(package)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("media/big.bin", "w") as part:
        block = bytes(1_000_000)
        for _ in range(megabytes):
            part.write(block)
    return out.getvalue()


def xml_bomb(package: bytes, part: str = "word/document.xml") -> bytes:
    """A billion laughs in place of the main part."""
    levels = "".join(
        f'<!ENTITY a{number} "{f"&a{number - 1};" * 10}">' if number else '<!ENTITY a0 "ha">' for number in range(10)
    )
    bomb = f'<?xml version="1.0"?><!DOCTYPE x [{levels}]><x>&a9;</x>'
    return with_parts(package, {part: bomb.encode()})
