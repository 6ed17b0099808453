"""Regardless of the bytes, loading gives a document or an error of ours that names the file."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import SourceError
from engine.knowledge.load import load_bytes, suffixes
from engine.knowledge.loaders.encoding import MAGIC
from tests.knowledge.loaders.test_kinds import CORPUS
from tests.support import office_files as made

SUFFIXES = [suffix for suffix in suffixes() if "test" not in suffix]
HEADS = [b"", *(magic for magic, _ in MAGIC), b"<html><body>", b"[{", b"a,b\n", b"\xff\xfe"]
WHOLE = {
    ".pdf": made.pdf([["正文。", "第二行"], ["第二页"]], outline=[("章", 1, 0)], title="题"),
    ".docx": made.docx([("Heading 1", "章"), ("Normal", "正文"), ("table", [["a", "b", "c"], ["1", "2", "3"]])]),
    ".pptx": made.pptx([("题", "字")]),
    ".xlsx": made.xlsx({"S": [["a", "b"], [1, 2.5]]}),
    ".html": "<html><h1>题</h1><table><tr><td>a<td>b</table><ul><li>x</ul></html>".encode(),
    ".json": '[{"text": "文", "n": [1, {"a": null}]}]'.encode(),
    ".csv": b'a,b\n"x, y",2\n',
    **{f".{name.rpartition('.')[2]}": data for name, data, *_ in CORPUS.values() if name.startswith("a.")},
}


def is_sound(name: str, data: bytes) -> bool:
    """Whether it loads with text in every section, or is refused by name and with a remedy; raises anything else."""
    try:
        found = load_bytes(name, data)
    except SourceError as error:
        return name in error.fact and bool(error.remedy)
    return bool(found.sections) and all(section.text.strip() for section in found.sections)


@settings(max_examples=100)
@given(data=st.binary(min_size=1, max_size=300), head=st.sampled_from(HEADS), suffix=st.sampled_from(SUFFIXES))
def test_random_bytes_under_any_suffix(data: bytes, head: bytes, suffix: str) -> None:
    assert is_sound(f"some{suffix}", head + data)


@settings(max_examples=80)
@given(
    suffix=st.sampled_from(sorted(WHOLE)),
    place=st.floats(0, 1, exclude_max=True),
    noise=st.binary(min_size=1, max_size=40),
    cut=st.booleans(),
)
def test_real_files_with_a_piece_overwritten_or_cut_off(suffix: str, place: float, noise: bytes, cut: bool) -> None:
    whole = WHOLE[suffix]
    start = int(place * len(whole))
    assert is_sound(f"some{suffix}", whole[:start] + noise + (b"" if cut else whole[start + len(noise) :]))
