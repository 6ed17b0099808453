"""Files by what their bytes are: real type, size, pixels, and the tables in them (GH-05)."""

from __future__ import annotations

import asyncio
import io
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image

from engine.attachments.admission import MOST_ROWS
from engine.attachments.reading import LARGEST_MB, checked, file_bytes, read_attachment, thumbnail
from engine.attachments.table_rows import table_of
from engine.builtin.image_header import MOST_PIXELS, image_header
from engine.builtin.ocr import OcrReader
from engine.builtin.pictures import jpeg
from engine.errors import AttachmentDamaged, AttachmentError, SourceEmpty, SourceError
from engine.model.values import Attachment
from engine.workflows.graph_hybrid.attached import attached_query, attachment_passages, tables_of
from tests.support.errors import Expected, raises
from tests.support.office_files import xlsx

ROWS = [["drug", "dose"], ["metformin", "500 mg"], ["二甲双胍", "0.5 g"]]
FILES: dict[str, bytes] = {
    "a.csv": "drug,dose\nmetformin,500 mg\n二甲双胍,0.5 g\n".encode("gb18030"),
    "a.tsv": "drug\tdose\nmetformin\t500 mg\n二甲双胍\t0.5 g\n".encode(),
    "a.md": "Doses\n\n|**drug**|dose|\n|:---|---:|\n| metformin | 500 mg |\n| 二甲双胍 | `0.5 g` |\n\nEnd.\n".encode(),
    "a.html": (
        "<html><body><h1>x</h1><table><tr><th>drug<th>dose</tr><tr><td>metformin<td>500 mg</tr>"
        "<tr><td>二甲双胍<td>0.5 g</tr></table></body></html>"
    ).encode(),
    "a.xlsx": xlsx({"Doses": ROWS}),
}


def image_of(size: tuple[int, int], form: str, **options: object) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, "white").save(out, form, **options)
    return out.getvalue()


def bomb(width: int, height: int) -> bytes:
    """A thousand bytes of PNG that say they are this large."""

    def part(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = part(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + part(b"IDAT", zlib.compress(bytes(10**6))) + part(b"IEND", b"")


@pytest.mark.parametrize(
    ("form", "options"),
    [("PNG", {}), ("JPEG", {}), ("JPEG", {"progressive": True}), ("WEBP", {}), ("WEBP", {"lossless": True})],
)
def test_the_size_of_an_image_is_read_from_its_first_bytes(form: str, options: dict[str, bool]) -> None:
    header = image_header(image_of((321, 123), form, **options))
    assert header is not None
    assert (header.media_type, header.width, header.height) == (f"image/{form.lower()}", 321, 123)


def test_an_animated_or_transparent_webp_tells_its_size_too() -> None:
    out = io.BytesIO()
    Image.new("RGBA", (50, 60)).save(out, "WEBP", exif=b"Exif\x00\x00II*\x00\x08\x00\x00\x00\x00\x00")
    header = image_header(out.getvalue())
    assert header is not None and (header.width, header.height) == (50, 60)


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("bomb.png", bomb(60_000, 60_000), AttachmentError.image_too_large),
        ("wide.png", bomb(MOST_PIXELS + 1, 1), AttachmentError.image_too_large),
        ("big.csv", bytes(int(LARGEST_MB * 1e6) + 1), AttachmentError.too_large),
        ("empty.csv", b"", AttachmentError.empty),
        ("cut.png", bomb(9, 9)[:20], AttachmentDamaged),
        ("nothing.webp", b"RIFF\x00\x00\x00\x00WEBPVP8?" + bytes(20), AttachmentDamaged),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_must_not_be_unpacked_is_refused_by_its_header(name: str, data: bytes, kind: Expected) -> None:
    """GH-05"""
    with raises(kind) as caught:
        checked(name, data)
    assert name in caught.value.fact


@pytest.mark.parametrize("name", FILES)
def test_a_table_keeps_its_rows_and_columns_whatever_its_form(name: str) -> None:
    """GH-05"""
    found = table_of(name, FILES[name])
    assert [list(row) for row in found.rows] == ROWS
    assert (found.headed, found.caption, found.others) == (True, "", False)
    assert table_of("table.txt", FILES[name]).form == found.form


def test_a_line_above_the_header_is_kept_next_to_the_name() -> None:
    rows = [["Sales 2023 (million USD)"], ["Region", "Q1"], ["North", "1.5"], ["South", "2"]]
    found = table_of("s.xlsx", xlsx({"One": rows, "Two": ROWS}))
    assert found.caption == "Sales 2023 (million USD)"
    assert list(found.rows[0]) == ["Region", "Q1"]
    assert found.others


def test_the_largest_table_of_a_page_is_taken_and_cells_over_several_places_count_in_each() -> None:
    page = (
        b"<table><tr><td>a<td>b</tr></table><table><tr><th colspan=2>A<th>B</tr>"
        b"<tr><td rowspan=2>1<td>2<td>3</tr><tr><td>4<td>5</tr></table>"
    )
    found = table_of("p.html", page)
    assert [list(row) for row in found.rows] == [["A", "A", "B"], ["1", "2", "3"], ["1", "4", "5"]]
    assert found.others


@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [
        (
            "p.html",
            "<table><tr><th rowspan=2>Plan<th colspan=2>Price<tr><th>EU<th>US"
            "<tr><td>Basic<td><p>5<p>7<td>10<sup>9</sup></table>",
            [["Plan", "Price · EU", "Price · US"], ["Basic", "5 7", "10^9"]],
        ),
        ("p.md", "| a | b |\n|--|--|\n| x<br>y | ~~5~~ [7](z) |\n", [["a", "b"], ["x y", "~~5~~ 7"]]),
        ("p.md", "Words\n\n<table><tr><th>a<th>b<tr><td>1<td>2</table>\n", [["a", "b"], ["1", "2"]]),
    ],
)  # fmt: skip
def test_tables_of_pages_and_markdown_read_as_in_documents(name: str, text: str, rows: list[list[str]]) -> None:
    found = table_of(name, text.encode())
    assert ([list(row) for row in found.rows], found.headed) == (rows, True)


def test_a_bar_inside_a_cell_of_markdown_divides_nothing() -> None:
    found = table_of("t.md", b"a | b\n--|--\n1 \\| 2 | 3\n")
    assert list(found.rows[1]) == ["1 | 2", "3"]


@pytest.mark.parametrize("text", ["Just a sentence, with commas.\n\nAnd another.", "# Heading\n\nText | with a bar.\n"])
def test_prose_is_no_table(text: str) -> None:
    with pytest.raises(SourceEmpty):
        table_of("notes.txt", text.encode())


def test_no_more_rows_are_handed_over_than_are_needed_to_see_that_there_are_more() -> None:
    found = table_of("l.csv", b"a,b\n" + b"1,2\n" * 5000)
    assert len(found.rows) == MOST_ROWS + 1


def read(name: str, data: bytes) -> Attachment:
    return asyncio.run(read_attachment(name, data, OcrReader()))


def test_a_table_is_read_in_a_process_of_its_own_under_the_last_part_of_its_name() -> None:
    """GH-05"""
    made = read("../../etc/a.csv", FILES["a.csv"])
    assert (made.kind, made.name, made.read_by, made.header) == ("table", "a.csv", "csv", True)
    assert [list(row) for row in made.rows] == ROWS
    assert len(made.digest) == 64
    assert read("b.csv", b"a,b\n" + b"1,2\n" * 300).cut == "rows"


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.csv", b"%PDF-1.7 ...", AttachmentError.unsupported),
        ("a.png", b"GIF89a" + bytes(40), AttachmentError.unsupported),
        ("a.txt", b"No table here.", AttachmentError.no_table),
        ("a.xlsx", FILES["a.xlsx"][:900], AttachmentDamaged),
    ],
)
def test_what_is_no_table_is_distinguished_from_a_broken_one(name: str, data: bytes, kind: Expected) -> None:
    with raises(kind) as caught:
        read(name, data)
    assert name in caught.value.fact


def test_a_workbook_that_would_unpack_without_end_is_never_opened() -> None:
    """GH-05"""
    import zipfile

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<x/>")
        archive.writestr("xl/workbook.xml", bytes(60_000_000))
    with raises(SourceError.unpacks_too_large):
        read("bomb.xlsx", out.getvalue())


def test_a_thumbnail_is_small_whatever_the_picture_and_a_table_has_none() -> None:
    small = image_header(thumbnail("a.png", image_of((3000, 200), "PNG")))
    assert small is not None and small.width == 640
    assert thumbnail("a.csv", FILES["a.csv"]) == b""


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
def test_a_photograph_is_turned_upright_though_what_the_camera_wrote_next_to_it_is_damaged() -> None:
    """GH-05"""
    # Orientation 6, and a description that says it is a number: writing it again would fail.
    entries = struct.pack("<HHII", 0x0112, 3, 1, 6) + struct.pack("<HHII", 0x010E, 12, 1, 8)
    exif = b"Exif\0\0II*\0" + struct.pack("<IH", 8, 2) + entries + bytes(4)
    upright = image_header(jpeg("a.jpg", image_of((40, 20), "JPEG", exif=exif)))
    assert upright is not None and (upright.width, upright.height) == (20, 40)
    for nonsense in (b"Exif\0\0", b"Exif\0\0MM\0*\xff\xff\xff\xff", exif[:20]):
        assert image_header(jpeg("a.jpg", image_of((40, 20), "JPEG", exif=nonsense))) is not None


def test_a_file_that_is_not_there_is_reported_with_its_path(tmp_path: Path) -> None:
    with raises(AttachmentError.missing):
        file_bytes(str(tmp_path / "absent.png"))
    with raises(AttachmentError.missing):
        file_bytes(str(tmp_path))


def test_text_of_images_becomes_passages_and_joins_the_query_and_tables_are_counted_apart() -> None:
    """GH-05"""
    long = Attachment("image", "scan.png", text="\n".join(f"Line {n} of a long page of notes." for n in range(120)))
    table = Attachment("table", "t.csv", rows=(("a", "b"), ("1", "2")))
    note = Attachment("image", "note.png", text="Check kidney\nfunction.")
    attachments = (table, long, note)
    passages = attachment_passages(attachments)
    assert [item.id for item in passages][:2] == ["attachment:2#1", "attachment:2#2"]
    assert passages[-1].id == "attachment:3#1" and passages[-1].source == "note.png"
    assert "".join("".join(item.text.split()) for item in passages[:-1]) >= "Line0"
    query = attached_query("What first?", attachments)
    assert query.startswith("What first? Line 0") and query.endswith("Check kidney function.")
    assert len(query) < 800
    assert attached_query("What first?", (table,)) == "What first?"
    assert tables_of(attachments) == (table,)
