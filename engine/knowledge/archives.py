"""ZIP archives: the files in one, under names that a person can read, and their bytes."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import SourceDamaged, SourceError
from engine.knowledge.loaders.encoding import read_text
from engine.knowledge.loaders.office import check_sizes
from engine.messages import N_

Archive = bytes | Path | None
"""The bytes or the place of one."""
MOST_MEMBERS = 2_000
"""Of one archive, which is opened again for each of them."""
_HEAD = 4096
_UTF_8 = 0x800
"""The flag of a name that is written in UTF-8; any other is in the encoding of the machine that wrote it."""


def members(name: str, archive: Archive) -> Iterator[tuple[str, str, bytes]]:
    """Each file: its path in words, its name in the archive, and how it begins (empty where it cannot be read).

    Raises ``SourceError`` for what unpacks to too much or is encrypted, ``SourceDamaged``.
    """
    with opened_archive(name, archive) as (opened, size):
        entries = [entry for entry in opened.infolist() if not entry.is_dir()]
        if len(entries) > MOST_MEMBERS:
            raise SourceError.too_many_parts(name=name, count=len(entries), limit=MOST_MEMBERS)
        check_sizes(name, size, entries)
        for entry, words in zip(entries, _names(entries), strict=True):
            try:
                with opened.open(entry) as file:
                    head = file.read(_HEAD)
            except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError):
                head = b""  # said where it is read
            parts = words.replace("\\", "/").split("/")
            yield "/".join(part for part in parts if part not in ("", ".", "..")), entry.filename, head


def member_of(name: str, archive: Archive, member: str) -> bytes:
    """The bytes of one file, no more than its entry states; raises as :func:`members`."""
    with opened_archive(name, archive) as (opened, _):
        return opened.read(member)


@contextmanager
def opened_archive(name: str, archive: Archive) -> Iterator[tuple[zipfile.ZipFile, int]]:
    try:
        if archive is None:
            raise SourceError.missing(name=name)
        size = archive.stat().st_size if isinstance(archive, Path) else len(archive)
        with zipfile.ZipFile(io.BytesIO(archive) if isinstance(archive, bytes) else archive) as opened:
            yield opened, size
    except FileNotFoundError as error:
        raise SourceError.missing(name=name) from error
    except PermissionError as error:
        raise SourceError.unreadable(name=name, why=error.strerror or type(error).__name__) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, NotImplementedError) as error:
        raise SourceDamaged.named(name=name, found=N_("its archive is cut short or broken")) from error
    except RuntimeError as error:  # how zipfile states that a file has a password
        raise SourceError.encrypted(name=name) from error


def _names(entries: list[zipfile.ZipInfo]) -> list[str]:
    """Names as their writer saw them: zipfile reads those without the flag as of an American PC."""
    old = [entry.filename.encode("cp437") for entry in entries if not entry.flag_bits & _UTF_8]
    try:
        read = iter(read_text("", b"\n".join(old)).text.split("\n")) if any(map(bool, old)) else iter(())
    except SourceError:
        read = iter([])
    return [entry.filename if entry.flag_bits & _UTF_8 else next(read, entry.filename) for entry in entries]
