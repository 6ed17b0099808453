"""Shared base of Office files and books: a ZIP archive of XML, checked before it is parsed."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from engine.errors import SourceDamaged, SourceError, SourceMislabelled
from engine.knowledge.loaders.encoding import kind_of, without_control
from engine.messages import N_

MOST_UNPACKED_MB = 256
MOST_RATIO = 150
"""How many times its own size a file may unpack to; text in XML packs to about a twentieth."""
ALWAYS_ALLOWED_MB = 32
"""Small files may unpack to this, regardless of the ratio."""
MOST_PARTS = 10_000

RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_OLD = b"\xd0\xcf\x11\xe0"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_FOLDERS = {".docx": "word/", ".pptx": "ppt/", ".xlsx": "xl/"}
_MAIN = {".docx": "word/document.xml", ".pptx": "ppt/presentation.xml", ".xlsx": "xl/workbook.xml"}
_KINDS = {"word/": N_("a Word document"), "ppt/": N_("a PowerPoint presentation"), "xl/": N_("an Excel workbook")}
_ENCODINGS = frozenset({"utf-8", "utf-16", "us-ascii", "ascii", "iso-8859-1", "windows-1252"})
_ENCODING = re.compile(rb"^[\xef\xbb\xbf\s]*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([^\"']{1,40})[\"']")
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
"""Namespaces of Strict Open XML, which name the same elements as the usual ones."""
_XML_NO_MEMORY = 2
"""libxml2's XML_ERR_NO_MEMORY."""
_ZIP_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError)
PART_FAULTS = (*_ZIP_FAULTS, KeyError, SyntaxError, SourceDamaged)
"""What reading a part raises where it is missing or broken; the XML parser's errors are errors of syntax."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A link from one part of a package to another; ``kind`` is the last word of its type."""

    kind: str
    target: str
    """Path of the part, or an address outside the file where ``external``."""
    external: bool


def addresses_unsaid(links: Mapping[str, Relation], text: str) -> int:
    """Count the links whose address is missing from the text."""
    there = {link.target for link in links.values() if link.kind == "hyperlink" and link.external}
    return sum(address.removeprefix("mailto:").rstrip("/") not in text for address in there)


class Container:
    """Parts of an archive, each checked and parsed when it is asked for: a broken one costs itself alone."""

    def __init__(self, name: str, data: bytes) -> None:
        """Raises ``SourceDamaged``, or ``SourceError`` where it would unpack to too much, by the sizes that it states.

        A part that holds more than it states is broken.
        """
        self.name = name
        self.lost, self.read = Counter[str](), Counter[str]()
        """How much of each kind was left out, by the code of its note, and how much was read."""
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except _ZIP_FAULTS as error:
            raise SourceDamaged.named(name=name, found=N_("its archive is cut short or broken")) from error
        entries = self._archive.infolist()
        check_sizes(name, len(data), entries)
        # Some programs write other letters and slashes into the archive than into the links.
        self._entries = {_key(entry.filename): entry for entry in entries}

    def __contains__(self, path: str) -> bool:
        return _key(path) in self._entries

    def paths(self) -> list[str]:
        return list(self._entries)

    def stored(self, path: str) -> bytes:
        """The bytes of a part as they are; raises one of ``PART_FAULTS`` or ``SourceError.encrypted``."""
        try:
            return self._archive.read(self._entries[_key(path)])
        except RuntimeError as error:  # how zipfile tells of a part with a password
            raise SourceError.encrypted(name=self.name) from error

    def part(self, path: str) -> bytes:
        """Likewise of a part that is to be parsed; raises ``SourceError`` where it declares entities."""
        data = self.stored(path)
        if b"<!ENTITY" in data.replace(b"\x00", b""):
            raise SourceError.xml_entities(name=self.name)
        return data

    def tree(self, path: str, recover: bool = False) -> Any:
        """The root of a part; ``recover``: as far as it goes. Raises like :func:`part`."""
        from lxml import etree

        # Beyond 250 levels the parser gives up, before anything that walks through the tree does.
        parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, recover=recover)
        try:
            return etree.fromstring(self.part(path), parser)
        except etree.XMLSyntaxError as error:
            check_memory(error)
            raise

    def xml(self, path: str) -> Any:
        """The root of a part, as far as it can be read; None, counted, for one that cannot be."""
        for recover in (False, True):
            try:
                return self.tree(path, recover)
            except PART_FAULTS:
                self.lost["parts_broken"] += not recover
        return None

    @contextmanager
    def guarded(self, code: str) -> Iterator[None]:
        """Let what goes wrong inside cost itself alone, counted under ``code``."""
        try:
            yield
        except (SourceError, MemoryError, RecursionError):
            raise
        except Exception:  # a file may hold anything; where one part breaks, the rest of it is read
            self.lost[code] += 1


class Package(Container):
    """A Word, PowerPoint or Excel file, whose parts link to each other."""

    def __init__(self, name: str, data: bytes, suffix: str) -> None:
        """Raises ``SourceMislabelled``, ``SourceDamaged``, or ``SourceError`` for what is encrypted or too large."""
        self.drawn: set[str] = set()
        """Parts with charts and diagrams that were read."""
        _check_begin(name, data)
        super().__init__(name, data)
        _check_kind(name, suffix, self.paths())
        try:
            named = [link.target for link in self.relations("").values() if link.kind == "officeDocument"]
            self.main = next((target for target in named if target in self), _MAIN[suffix])
            if suffix != ".xlsx":  # whose sheets can be found without it
                self.part(self.main)
        except _ZIP_FAULTS as error:
            raise SourceDamaged.named(name=name, found=N_("its archive is cut short or broken")) from error
        except KeyError as error:
            raise SourceDamaged.named(name=name, found=N_("its main part is missing or broken")) from error

    def part(self, path: str) -> bytes:
        data = self.stored(path)
        _check_xml(self.name, data)
        return _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", data)

    def relations(self, path: str) -> dict[str, Relation]:
        """The links of a part by their id; what one points at may be missing."""
        folder, file = posixpath.split(path)
        links = posixpath.join(folder, "_rels", f"{file}.rels")
        found: dict[str, Relation] = {}
        if links not in self:
            return found
        root = self.xml(links)
        for link in () if root is None else root.iter("{*}Relationship"):
            target, kind = link.get("Target") or "", (link.get("Type") or "").rpartition("/")[2]
            external = link.get("TargetMode") == "External"
            if not external:
                target = posixpath.normpath(posixpath.join("/", folder, unquote(target.replace("\\", "/")))).lstrip("/")
            found[link.get("Id") or ""] = Relation(kind, target, external)
        return found

    def related(self, path: str, *kinds: str) -> Iterator[Any]:
        """Roots of the parts that a part links to, of these kinds."""
        for link in self.relations(path).values():
            if link.kind in kinds and not link.external and (root := self.xml(link.target)) is not None:
                yield root

    def title(self) -> str:
        """The title that the file's properties give."""
        for root in self.related("", "core-properties"):
            return without_control(root.findtext("{http://purl.org/dc/elements/1.1/}title") or "")
        return ""


def check_memory(error: SyntaxError) -> None:
    """Raise ``MemoryError`` where that is what the XML parser tells of as of a mistake in the file."""
    if getattr(error, "code", None) == _XML_NO_MEMORY:
        raise MemoryError from error


def _key(path: str) -> str:
    return path.replace("\\", "/").lstrip("/").lower()


def _check_begin(name: str, data: bytes) -> None:
    if data.startswith(_OLD):
        if _ENCRYPTED in data:
            raise SourceError.encrypted(name=name)
        raise SourceMislabelled(name=name, found=N_("an old Office document"))
    if not data.startswith(b"PK"):
        raise SourceMislabelled(name=name, found=kind_of(data))


def check_sizes(name: str, size: int, entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MOST_PARTS:
        raise SourceError.too_many_parts(name=name, count=len(entries), limit=MOST_PARTS)
    unpacked = sum(entry.file_size for entry in entries) / 1e6
    limit = min(MOST_UNPACKED_MB, max(ALWAYS_ALLOWED_MB, MOST_RATIO * size / 1e6))
    if unpacked > limit:
        raise SourceError.unpacks_too_large(name=name, size_mb=f"{unpacked:.0f}", limit_mb=round(limit))


def _check_kind(name: str, suffix: str, parts: list[str]) -> None:
    wanted = _FOLDERS[suffix]
    held = [kind for folder, kind in _KINDS.items() if any(_key(part).startswith(folder) for part in parts)]
    if _KINDS[wanted] not in held:
        raise SourceMislabelled(name=name, found=held[0] if held else N_("a ZIP archive"))


def _check_xml(name: str, data: bytes) -> None:
    """Refuse entities in every encoding a parser would read them in."""
    named = _ENCODING.match(data)
    if named and named.group(1).decode("latin-1").lower() not in _ENCODINGS:
        raise SourceDamaged.named(name=name, found=N_("a part is in an encoding that no Office program writes"))
    head = data[:4].lstrip(b"\xef\xbb\xbf")
    if b"\x00" in head or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.replace(b"\x00", b"")
    elif head and head.lstrip()[:1] not in (b"<", b""):
        raise SourceDamaged.named(name=name, found=N_("a part is no XML"))
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise SourceError.xml_entities(name=name)
