"""What Word, PowerPoint and Excel files share: a ZIP archive of XML, checked before anything parses it."""

from __future__ import annotations

import io
import re
import zipfile
import zlib

from engine.errors import SourceBomb, SourceDamaged, SourceEncrypted, SourceMislabelled
from engine.knowledge.loaders.encoding import kind_of
from engine.messages import N_

MOST_UNPACKED_MB = 256
MOST_RATIO = 150
"""How many times its own size a file may unpack to; text in XML packs to about a twentieth."""
ALWAYS_ALLOWED_MB = 32
"""Small files may unpack to this, regardless of the ratio."""
MOST_PARTS = 10_000

_OLD = b"\xd0\xcf\x11\xe0"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_FOLDERS = {".docx": "word/", ".pptx": "ppt/", ".xlsx": "xl/"}
_KINDS = {"word/": N_("a Word document"), "ppt/": N_("a PowerPoint presentation"), "xl/": N_("an Excel workbook")}
_ENCODINGS = frozenset({"utf-8", "utf-16", "us-ascii", "ascii", "iso-8859-1", "windows-1252"})
_ENCODING = re.compile(rb"^[\xef\xbb\xbf\s]*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([^\"']{1,40})[\"']")


def checked_package(name: str, data: bytes, suffix: str) -> io.BytesIO:
    """The file, safe to hand to a parser.

    Raises ``SourceEncrypted``, ``SourceMislabelled``, ``SourceDamaged``, or ``SourceBomb`` for what would unpack to too
    much or declares entities. Sizes are those that the archive states; what holds more than it states is damaged.
    """
    if data.startswith(_OLD):
        if _ENCRYPTED in data:
            raise SourceEncrypted(name=name)
        raise SourceMislabelled(name=name, found=N_("an old Office document"))
    if not data.startswith(b"PK"):
        raise SourceMislabelled(name=name, found=kind_of(data))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_sizes(name, len(data), archive.infolist())
            _check_kind(name, suffix, archive.namelist())
            for entry in archive.infolist():
                if entry.filename.lower().endswith((".xml", ".rels", ".vml")):
                    _check_xml(name, archive.read(entry))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise SourceDamaged.named(name=name, found=N_("its archive is cut short or broken")) from error
    except RuntimeError as error:  # how zipfile tells of a part with a password
        raise SourceEncrypted(name=name) from error
    return io.BytesIO(data)


def _check_sizes(name: str, size: int, entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MOST_PARTS:
        raise SourceBomb.parts(name=name, count=len(entries), limit=MOST_PARTS)
    unpacked = sum(entry.file_size for entry in entries) / 1e6
    limit = min(MOST_UNPACKED_MB, max(ALWAYS_ALLOWED_MB, MOST_RATIO * size / 1e6))
    if unpacked > limit:
        raise SourceBomb.unpacked(name=name, size_mb=f"{unpacked:.0f}", limit_mb=round(limit))


def _check_kind(name: str, suffix: str, parts: list[str]) -> None:
    wanted = _FOLDERS[suffix]
    held = [kind for folder, kind in _KINDS.items() if any(part.startswith(folder) for part in parts)]
    if _KINDS[wanted] not in held:
        raise SourceMislabelled(name=name, found=held[0] if held else N_("a ZIP archive"))
    if "[Content_Types].xml" not in parts:
        raise SourceDamaged.named(name=name, found=N_("its list of parts is missing"))


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
        raise SourceBomb.entities(name=name)
