"""Images and tables that come along with a question."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class AttachmentError(WorkbenchError):
    """An attachment cannot be used; the question itself can still be asked without it."""

    code = "WB350"


class AttachmentMissing(AttachmentError):
    code = "WB351"
    fact = N_("{name!r} cannot be read: {why}")
    remedy = N_("Correct the path, or check that the file may be read.")


class AttachmentTooLarge(AttachmentError):
    code = "WB352"
    status = 413
    fact = N_("{name!r} has {size_mb} MB; an attachment may have {limit_mb} MB.")
    remedy = N_("Make the image smaller, or attach the part of the table that the question is about.")


class AttachmentUnsupported(AttachmentError):
    """Neither an image nor a table, no matter what its name says."""

    code = "WB353"
    status = 415
    fact = N_("{name!r} is neither an image nor a table that can be read.")
    remedy = N_("Attach one of: {kinds}.")


class ImageTooLarge(AttachmentError):
    """More pixels than are ever decoded: a few kilobytes can stand for gigabytes of them."""

    code = "WB354"
    status = 413
    fact = N_("{name!r} has {width} × {height} pixels; the limit is {limit_mpx} million.")
    remedy = N_("Cut out the part that matters, or save it smaller.")


class AttachmentDamaged(AttachmentError):
    code = "WB355"
    status = 422
    fact = N_("{name!r} is damaged or incomplete.")
    remedy = N_("Fetch it again, or open it in its program and save a new copy.")


class AttachmentEmpty(AttachmentError):
    """Nothing was read, so there is nothing to search with and nothing to quote."""

    code = "WB356"
    status = 422
    table = Message(
        N_("No table was found in {table!r}."),
        N_("Attach a file with rows and columns."),
    )
    named = Message(
        N_("Nothing was read in {name!r}."),
        N_("Attach another file, or say in the question what it shows."),
    )


class TooManyAttachments(AttachmentError):
    code = "WB357"
    status = 422
    fact = N_("The question has {count} attachments; the limit is {most}.")
    remedy = N_("Remove those that it can do without.")


class AttachmentsNotTaken(AttachmentError):
    """Only graph + vector retrieval looks at attachments; another workflow would silently leave them out."""

    code = "WB358"
    status = 422
    by = Message(
        N_("The workflow {workflow} does not look at images and tables."),
        N_("Choose the workflow graph_hybrid, or ask without attachments."),
    )
    in_mode = Message(
        N_("The mode {mode!r} searches nothing, so images and tables were not looked at."),
        N_("Choose another mode, such as mix."),
    )
    """A warning: the answer was written without them."""
    beside_tables = Message(
        N_("The answer is from the attached tables alone, so {images} attached images were not looked at."),
        N_("Switch tables_only off to have images searched with the collection."),
    )
    """A warning: the answer was to be written from the tables alone."""


class ReaderMissing(AttachmentError):
    """No package for text recognition is installed."""

    code = "WB359"
    status = 503
    ocr = Message(
        N_("No package that recognises text in images is installed."),
        N_("Install it with `{command}`, or choose a vision model."),
        package="rapidocr onnxruntime",
    )


class ReadingTimedOut(AttachmentError):
    code = "WB360"
    status = 504
    fact = N_("Reading this attachment was given up after {seconds} seconds.")
    remedy = N_("Cut out the part that matters, or choose a vision model for images.")


class ReadingFailed(AttachmentError):
    """The reader broke down; it works in a process of its own, so nothing else was hurt."""

    code = "WB361"
    fact = N_("The reader of attachments broke down over this one.")
    remedy = N_("Save it again in another form, such as PNG or CSV, and attach that.")


class ModelCannotSee(AttachmentError):
    """Ollama itself would leave the image out without a word, and the model would make something up."""

    code = "WB363"
    status = 422
    fact = N_("The model {model} takes no images.")
    remedy = N_("Choose a vision model, such as `ollama:gemma3:4b`, or the built-in text recognition.")


class InvalidAttachment(AttachmentError):
    """A request describes an attachment in a way that cannot be used."""

    code = "WB362"
    status = 422
    not_base64 = Message(
        N_("The data of {encoded!r} is not base64."),
        N_("Encode the bytes of the file as base64."),
    )
    one_of = Message(
        N_("The attachment {name!r} must have exactly one of content_base64, text and rows."),
        N_("Send content_base64 for a file, text for what an image shows, or rows for a table."),
    )
