"""Why an image or a table could not come along with a question."""

from __future__ import annotations

from typing import Self

from engine.errors.base import WorkbenchError

OCR_COMMAND = 'pip install "rapidocr>=3.10,<4" "onnxruntime>=1.20,<2"'


class AttachmentError(WorkbenchError):
    """An attachment cannot be used; the question itself can still be asked without it."""

    code = "WB350"


class AttachmentMissing(AttachmentError):
    code = "WB351"

    @classmethod
    def at(cls, name: str, why: str) -> Self:
        return cls(
            f"{name[:200]!r} cannot be read: {why[:200]}",
            remedy="Correct the path, or check that the file may be read.",
            params={"name": name[:200], "why": why[:200]},
        )


class AttachmentTooLarge(AttachmentError):
    code = "WB352"

    @classmethod
    def named(cls, name: str, size_mb: float, limit_mb: float) -> Self:
        return cls(
            f"{name[:200]!r} has {size_mb:.1f} MB; an attachment may have {limit_mb:g} MB.",
            remedy="Make the image smaller, or attach the part of the table that the question is about.",
            params={"name": name[:200], "size_mb": f"{size_mb:.1f}", "limit_mb": f"{limit_mb:g}"},
        )


class AttachmentUnsupported(AttachmentError):
    """Neither an image nor a table, no matter what its name says."""

    code = "WB353"

    @classmethod
    def named(cls, name: str, kinds: tuple[str, ...]) -> Self:
        known = ", ".join(kinds)
        return cls(
            f"{name[:200]!r} is neither an image nor a table that can be read.",
            remedy=f"Attach one of: {known}.",
            params={"name": name[:200], "kinds": known},
        )


class ImageTooLarge(AttachmentError):
    """More pixels than are ever decoded: a few kilobytes can stand for gigabytes of them."""

    code = "WB354"

    @classmethod
    def pixels(cls, name: str, width: int, height: int, limit_mpx: int) -> Self:
        return cls(
            f"{name[:200]!r} has {width} × {height} pixels; the limit is {limit_mpx} million.",
            remedy="Cut out the part that matters, or save it smaller.",
            params={
                "name": name[:200],
                "width": str(width),
                "height": str(height),
                "limit_mpx": str(limit_mpx),
                "limit_wan": str(100 * limit_mpx),
            },
        )


class AttachmentDamaged(AttachmentError):
    code = "WB355"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"{name[:200]!r} is damaged or incomplete.",
            remedy="Fetch it again, or open it in its program and save a new copy.",
            params={"name": name[:200]},
        )


class AttachmentEmpty(AttachmentError):
    """Nothing was read, so there is nothing to search with and nothing to quote."""

    code = "WB356"

    @classmethod
    def table(cls, name: str) -> Self:
        return cls(
            f"No table was found in {name[:200]!r}.",
            remedy="Attach a file with rows and columns.",
            params={"table": name[:200]},
        )

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"Nothing was read in {name[:200]!r}.",
            remedy="Attach another file, or say in the question what it shows.",
            params={"name": name[:200]},
        )


class TooManyAttachments(AttachmentError):
    code = "WB357"

    @classmethod
    def limit(cls, count: int, most: int) -> Self:
        return cls(
            f"The question has {count} attachments; the limit is {most}.",
            remedy="Remove those that it can do without.",
            params={"count": str(count), "most": str(most)},
        )


class AttachmentsNotTaken(AttachmentError):
    """Only graph + vector retrieval looks at attachments; another workflow would silently leave them out."""

    code = "WB358"

    @classmethod
    def by(cls, workflow: str) -> Self:
        return cls(
            f"The workflow {workflow} does not look at images and tables.",
            remedy="Choose the workflow graph_hybrid, or ask without attachments.",
            params={"workflow": workflow},
        )

    @classmethod
    def in_mode(cls, mode: str) -> Self:
        """A warning: the answer was written without them."""
        return cls(
            f"The mode {mode!r} searches nothing, so images and tables were not looked at.",
            remedy="Choose another mode, such as mix.",
            params={"mode": mode},
        )

    @classmethod
    def beside_tables(cls, images: int) -> Self:
        """A warning: the answer was to be written from the tables alone."""
        return cls(
            f"The answer is from the attached tables alone, so {images} attached images were not looked at.",
            remedy="Switch tables_only off to have images searched with the collection.",
            params={"images": str(images)},
        )


class ReaderMissing(AttachmentError):
    """No package for text recognition is installed."""

    code = "WB359"

    @classmethod
    def ocr(cls) -> Self:
        return cls(
            "No package that recognises text in images is installed.",
            remedy=f"Install it with `{OCR_COMMAND}`, or choose a vision model.",
            params={"command": OCR_COMMAND},
        )


class ReadingTimedOut(AttachmentError):
    code = "WB360"

    @classmethod
    def after(cls, seconds: float) -> Self:
        return cls(
            f"Reading this attachment was given up after {seconds:g} seconds.",
            remedy="Cut out the part that matters, or choose a vision model for images.",
            params={"seconds": f"{seconds:g}"},
        )


class ReadingFailed(AttachmentError):
    """The reader broke down; it works in a process of its own, so nothing else was hurt."""

    code = "WB361"

    @classmethod
    def now(cls) -> Self:
        return cls(
            "The reader of attachments broke down over this one.",
            remedy="Save it again in another form, such as PNG or CSV, and attach that.",
        )


class ModelCannotSee(AttachmentError):
    """Ollama itself would leave the image out without a word, and the model would make something up."""

    code = "WB363"

    @classmethod
    def named(cls, model: str) -> Self:
        return cls(
            f"The model {model} takes no images.",
            remedy="Choose a vision model, such as `ollama:gemma3:4b`, or the built-in text recognition.",
            params={"model": model},
        )


class InvalidAttachment(AttachmentError):
    """A request describes an attachment in a way that cannot be used."""

    code = "WB362"

    @classmethod
    def not_base64(cls, name: str) -> Self:
        return cls(
            f"The data of {name[:200]!r} is not base64.",
            remedy="Encode the bytes of the file as base64.",
            params={"encoded": name[:200]},
        )

    @classmethod
    def one_of(cls, name: str) -> Self:
        return cls(
            f"The attachment {name[:200]!r} must have exactly one of content_base64, text and rows.",
            remedy="Send content_base64 for a file, text for what an image shows, or rows for a table.",
            params={"name": name[:200]},
        )
