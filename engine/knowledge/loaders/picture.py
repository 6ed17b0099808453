"""Pictures of text: like the only page of a scan, whose text is recognised afterwards."""

from __future__ import annotations

from engine.builtin.image_header import MOST_PIXELS, image_header
from engine.errors import SourceError, SourceMislabelled
from engine.knowledge.loaders.contents import Contents, Section, note
from engine.knowledge.loaders.encoding import kind_of


def load_picture(name: str, data: bytes, _hidden: bool = False) -> Contents:
    """One page without text (see :mod:`engine.knowledge.scans`); nothing is decoded here."""
    header = image_header(data)
    if header is None:
        raise SourceMislabelled(name=name, found=kind_of(data))
    if not 0 < header.pixels <= MOST_PIXELS:
        raise SourceError.too_demanding(name=name)
    page = note("pages_without_text", count=1, pages=1, of=1)
    return Contents("", (Section(("p. 1",), ""),), notes=(page,), read={"pictures": 1})
