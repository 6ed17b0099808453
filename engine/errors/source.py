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
            f"{name[:200]!r} is named like text, but its content is {found}.",
            remedy="Give it the suffix of what it is, or export it as text and ingest that.",
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
