"""EPUB books: their chapters in reading order, each as the page that it is."""

from __future__ import annotations

import posixpath
import re
from typing import Any
from urllib.parse import unquote

from engine.errors import SourceDamaged, SourceError
from engine.knowledge.loaders.contents import Contents, Section, counted, heading, merged, named
from engine.knowledge.loaders.office import PART_FAULTS, Container
from engine.knowledge.loaders.web_page import load_html
from engine.messages import N_
from engine.model.values import SourceNote

_OF_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""How fonts are scrambled, which hides no word."""
_TITLE = re.compile(rb"<title\b[^>]*/>|<title\b.*?</title\s*>", re.IGNORECASE | re.DOTALL)
"""In a chapter that of the book, which must not stand for the chapter's own heading."""
_ASIDE = re.compile(rb"<(/?)(?:aside|header|footer)\b", re.IGNORECASE)
"""In a book notes and text, where a page on the web has them around its text."""


def load_book(name: str, data: bytes, hidden: bool = False) -> Contents:
    """A section for each heading of each chapter; raises ``SourceError.encrypted`` for a book with copy protection."""
    archive = Container(name, data)
    place = _package(archive)
    package = _parsed(archive, place)
    title = heading(next((item.text or "" for item in package.iter("{*}title")), ""))
    manifest = {item.get("id"): item for item in package.iter("{*}item")}
    # Each once: a list that names one without end is none of a book.
    order = dict.fromkeys(item.get("idref") for item in package.iter("{*}itemref"))
    chapters = [manifest.get(name) for name in order]
    if not chapters:
        raise SourceDamaged.named(name=name, found=N_("it names no chapters"))
    locked = _locked(archive)
    sections, notes, unread = list[Section](), list[SourceNote](), list[str]()
    for number, item in enumerate(chapters, 1):
        file = "" if item is None else unquote(item.get("href") or "")
        where = posixpath.normpath(posixpath.join(posixpath.dirname(place), file))
        if where in locked:
            raise SourceError.encrypted(name=name)
        try:
            page = _ASIDE.sub(rb"<\1div", _TITLE.sub(b"", archive.stored(where)))
            found = load_html(name, page, hidden)
        except (*PART_FAULTS, SourceError):
            unread.append(file or f"#{number}")
            continue
        above = (found.title,) if found.title else ()
        sections += [Section((*above, *section.path), section.text) for section in found.sections]
        notes += found.notes
    pictures = sum((item.get("media-type") or "").startswith("image/") for item in manifest.values())
    archive.lost["pictures_not_read"] += pictures
    notes += [*counted(archive.lost), *named({"chapters_unreadable": unread})]
    return Contents(title, tuple(sections), notes=merged(notes), read={"chapters": len(chapters) - len(unread)})


def _package(archive: Container) -> str:
    """The place of the table of contents: where the container says, else in the usual place."""
    if "META-INF/container.xml" in archive:
        for item in _parsed(archive, "META-INF/container.xml").iter("{*}rootfile"):
            if (item.get("full-path") or "") in archive:
                return str(item.get("full-path"))
    found = next((file for file in archive.paths() if file.endswith(".opf")), "")
    if not found:
        raise SourceDamaged.named(name=archive.name, found=N_("it names no chapters"))
    return found


def _locked(archive: Container) -> set[str]:
    """Files that are encrypted."""
    if "META-INF/encryption.xml" not in archive:
        return set()
    found = set()
    for item in _parsed(archive, "META-INF/encryption.xml").iter("{*}EncryptedData"):
        method = next(item.iter("{*}EncryptionMethod"), None)
        if method is None or method.get("Algorithm") not in _OF_FONTS:
            found |= {unquote(file.get("URI") or "") for file in item.iter("{*}CipherReference")}
    return found


def _parsed(archive: Container, file: str) -> Any:
    root = archive.xml(file)
    if root is None:
        raise SourceDamaged.named(name=archive.name, found=N_("it names no chapters"))
    return root
