"""Why a file could not become passages."""

from __future__ import annotations

from typing import Self

from engine.errors.base import WorkbenchError


class SourceError(WorkbenchError):
    """A file could not become passages; the other files of the batch still go in."""

    code = "WB300"


class SourceMissing(SourceError):
    code = "WB301"

    @classmethod
    def at(cls, name: str) -> Self:
        return cls(
            f"There is no file {name[:200]!r}.",
            remedy="Correct the path; relative paths start at the current folder.",
            params={"name": name[:200]},
        )


class SourceUnreadable(SourceError):
    code = "WB302"

    @classmethod
    def named(cls, name: str, why: str) -> Self:
        return cls(
            f"{name[:200]!r} cannot be read: {why[:200]}",
            remedy="Check its permissions, or copy it to a place that can be read.",
            params={"name": name[:200], "why": why[:200]},
        )


class SourcePassedOver(SourceError):
    """Something in a folder that is not opened, although its name says that it is a document."""

    code = "WB364"

    @classmethod
    def link(cls, name: str) -> Self:
        return cls(
            f"{name[:80]!r} is a link that leads outside the folder, to nothing, or to a folder; it is not followed.",
            remedy="Ingest what it leads to by its own path, or put a copy in its place.",
            params={"link": name[:80]},
        )

    @classmethod
    def special(cls, name: str) -> Self:
        return cls(
            f"{name[:80]!r} is no file with a content of its own, but a pipe, a socket or a device.",
            remedy="Save its content as a file, or leave it.",
            params={"name": name[:80]},
        )


class SourceEmpty(SourceError):
    code = "WB303"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"{name[:200]!r} holds no text.",
            remedy="Leave it out, or fill it and ingest it again.",
            params={"name": name[:200]},
        )


class SourceTooLarge(SourceError):
    code = "WB304"

    @classmethod
    def named(cls, name: str, size_mb: float, limit_mb: float) -> Self:
        return cls(
            f"{name[:200]!r} has {size_mb:.1f} MB; the limit is {limit_mb:g} MB.",
            remedy="Split it, or raise WORKBENCH_MAX_UPLOAD_MB.",
            params={"name": name[:200], "size_mb": f"{size_mb:.1f}", "limit_mb": f"{limit_mb:g}"},
        )


class SourceUnsupported(SourceError):
    """No loader is registered for the suffix."""

    code = "WB305"

    @classmethod
    def named(cls, name: str, suffixes: tuple[str, ...]) -> Self:
        known = ", ".join(suffixes)
        return cls(
            f"{name[:200]!r} is of a kind that cannot be ingested.",
            remedy=f"Convert it to one of: {known}.",
            params={"name": name[:200], "suffixes": known},
        )


class SourceMislabelled(SourceError):
    """The bytes are not what the suffix says."""

    code = "WB306"

    @classmethod
    def named(cls, name: str, found: str) -> Self:
        return cls(
            f"{name[:200]!r} is not what its name says: its content is {found}.",
            remedy="Give it the suffix of what it is, or save it in a current format and ingest that.",
            params={"name": name[:200], "found": found},
        )


class SourceEncoding(SourceError):
    code = "WB307"

    @classmethod
    def named(cls, name: str, tried: tuple[str, ...]) -> Self:
        encodings = ", ".join(tried)
        return cls(
            f"The text encoding of {name[:200]!r} is none of: {encodings}.",
            remedy="Save it as UTF-8 and ingest it again.",
            params={"name": name[:200], "tried": encodings},
        )


class SourceMisnamed(SourceError):
    """The store keeps a source by its name."""

    code = "WB308"

    @classmethod
    def named(cls, name: str, most_bytes: int) -> Self:
        shown = name[:80].encode(errors="replace").decode()
        return cls(
            f"The name {shown!r} is no text or has more than {most_bytes} bytes, so no source can be kept under it.",
            remedy="Rename the file, or ingest it from a folder nearer to it.",
            params={"name": shown, "most": str(most_bytes)},
        )


class SourceEncrypted(SourceError):
    """Only who knows the password can read it."""

    code = "WB309"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"{name[:200]!r} is encrypted and opens with a password only.",
            remedy="Save a copy without a password and ingest that.",
            params={"name": name[:200]},
        )


class SourceBomb(SourceError):
    """Small on disk, huge or endless once unpacked: never opened."""

    code = "WB310"

    @classmethod
    def unpacked(cls, name: str, size_mb: float, limit_mb: float) -> Self:
        return cls(
            f"{name[:200]!r} would unpack to {size_mb:.0f} MB; the limit is {limit_mb:g} MB.",
            remedy="Split it or take out its pictures, if it comes from a person you trust.",
            params={"name": name[:200], "size_mb": f"{size_mb:.0f}", "limit_mb": f"{limit_mb:g}"},
        )

    @classmethod
    def parts(cls, name: str, count: int, limit: int) -> Self:
        return cls(
            f"{name[:200]!r} holds {count} parts; the limit is {limit}.",
            remedy="Split it, if it comes from a person you trust.",
            params={"name": name[:200], "count": str(count), "limit": str(limit)},
        )

    @classmethod
    def text(cls, name: str, limit_mb: float) -> Self:
        return cls(
            f"{name[:200]!r} would give more than {limit_mb:g} million characters of text.",
            remedy="Split it, or take out columns and fields that no one asks for.",
            params={"name": name[:200], "limit_mb": f"{limit_mb:g}"},
        )

    @classmethod
    def entities(cls, name: str) -> Self:
        return cls(
            f"{name[:200]!r} declares XML entities, which no Office document needs.",
            remedy="Save it again with an office program, if it comes from a person you trust.",
            params={"name": name[:200]},
        )


class SourceTooManyPages(SourceError):
    code = "WB311"

    @classmethod
    def named(cls, name: str, pages: int, limit: int) -> Self:
        return cls(
            f"{name[:200]!r} has {pages} pages; the limit is {limit}.",
            remedy="Split it and ingest the parts.",
            params={"name": name[:200], "pages": str(pages), "limit": str(limit)},
        )


class SourceScanned(SourceError):
    """Pictures of pages: there is nothing to search."""

    code = "WB312"

    @classmethod
    def named(cls, name: str, pages: int) -> Self:
        return cls(
            f"{name[:200]!r} holds no text: all its pages ({pages}) are pictures.",
            remedy="Run text recognition (OCR) on it and ingest the result.",
            params={"name": name[:200], "pages": str(pages)},
        )


class SourceDamaged(SourceError):
    """Of the right kind, but cut short or with broken parts."""

    code = "WB313"

    @classmethod
    def at_line(cls, name: str, line: int) -> Self:
        return cls(
            f"{name[:200]!r} is damaged or incomplete: its line {line} is no JSON.",
            remedy="Correct that line, or fetch the file again.",
            params={"name": name[:200], "line": str(line)},
        )

    @classmethod
    def named(cls, name: str, found: str) -> Self:
        return cls(
            f"{name[:200]!r} is damaged or incomplete: {found[:200]}.",
            remedy="Fetch it again, or open it in its program and save a new copy.",
            params={"name": name[:200], "found": found[:200]},
        )


class SourceTimedOut(SourceError):
    code = "WB314"

    @classmethod
    def after(cls, name: str, seconds: float) -> Self:
        return cls(
            f"Reading {name[:200]!r} was given up after {seconds:g} seconds.",
            remedy="Split it, or save it as text and ingest that.",
            params={"name": name[:200], "seconds": f"{seconds:g}"},
        )


class SourceTooDemanding(SourceError):
    """The reader ran out of memory or crashed; it works in a process of its own, so nothing else was hurt."""

    code = "WB315"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"The reader broke down over {name[:200]!r}: it needs too much memory or is malformed.",
            remedy="Split it, or save it as text and ingest that.",
            params={"name": name[:200]},
        )


class SourceGarbled(SourceError):
    """A PDF whose fonts do not say which characters they draw."""

    code = "WB316"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"The fonts of {name[:200]!r} do not say which characters they draw, so its text comes out as signs.",
            remedy="Run text recognition (OCR) on it and ingest the result.",
            params={"name": name[:200]},
        )
