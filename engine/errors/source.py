"""Files that could not become passages, and images and tables that come along with a question."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class SourceError(WorkbenchError):
    """A file could not become passages; the other files of the batch still go in."""

    code = "WB300"
    missing = Message(
        N_("There is no file {name!r}."),
        N_("Correct the path; relative paths start at the current folder."),
        code="WB301",
    )
    # Something that is not put in, although its name says that it is a document.
    link = Message(
        N_("{link!r} is a link that leads outside the folder, to nothing, or to a folder; it is not followed."),
        N_("Ingest what it leads to by its own path, or put a copy in its place."),
        code="WB364",
    )
    twice = Message(
        N_("{name!r} comes again later in this batch, with other content; the later file went in."),
        N_("Rename one of the two, or put their folder in as a whole: sources are then named with their folders."),
        code="WB364",
    )
    special = Message(
        N_("{name!r} is no file with a content of its own, but a pipe, a socket or a device."),
        N_("Save its content as a file, or leave it."),
        code="WB364",
    )
    hidden_files = Message(
        N_("Hidden files and folders in {name!r} were left out ({count}): {files}."),
        N_("To ingest one of them, name it by its own path."),
        code="WB364",
    )
    made_by_programs = Message(
        N_("Files and folders in {name!r} that programs made were left out ({count}): {files}."),
        N_("To ingest one of them, name it by its own path."),
        code="WB364",
    )
    secret = Message(
        N_("Files in {name!r} that may hold keys or passwords were left out ({count}): {files}."),
        N_("To ingest one of them, name it by its own path."),
        code="WB364",
    )
    picture = Message(
        N_("Pictures in {name!r} were left out ({count}): {files}."),
        N_("To have the text in one of them read, name it by its own path."),
        code="WB364",
    )
    no_text = Message(
        N_("Files in {name!r} that hold no text were left out ({count}): {files}."),
        N_("Save what they say as one of these: {kinds}."),
        code="WB364",
    )
    too_large = Message(
        N_("{name!r} has {size_mb} MB; the limit is {limit_mb} MB."),
        N_("Split it, or raise WORKBENCH_MAX_UPLOAD_MB."),
        code="WB304",
    )
    misnamed = Message(
        N_("The name {name!r} is no text or has more than {most} bytes, so no source can be kept under it."),
        N_("Rename the file, or ingest it from a folder nearer to it."),
        code="WB308",
    )
    """The store keeps a source by its name."""
    encrypted = Message(
        N_("{name!r} is encrypted and opens with a password only."),
        N_("Save a copy without a password and ingest that."),
        code="WB309",
        status=422,
    )
    # Small on disk, huge or endless once unpacked: never opened.
    unpacks_too_large = Message(
        N_("{name!r} would unpack to {size_mb} MB; the limit is {limit_mb} MB."),
        N_("Split it or take out its pictures, if it comes from a person you trust."),
        code="WB310",
        status=413,
    )
    too_many_parts = Message(
        N_("{name!r} holds {count} parts; the limit is {limit}."),
        N_("Split it, if it comes from a person you trust."),
        code="WB310",
        status=413,
    )
    too_much_text = Message(
        N_("{name!r} would give more than {limit_mb} million characters of text."),
        N_("Split it, or take out columns and fields that no one asks for."),
        code="WB310",
        status=413,
    )
    xml_entities = Message(
        N_("{name!r} declares XML entities, which no Office document needs."),
        N_("Save it again with an office program, if it comes from a person you trust."),
        code="WB310",
        status=413,
    )
    too_many_pages = Message(
        N_("{name!r} has {pages} pages; the limit is {limit}."),
        N_("Split it and ingest the parts."),
        code="WB311",
    )
    scanned = Message(
        N_("{name!r} holds no text: all its pages ({pages}) are pictures."),
        N_("Scan it larger and with more contrast, or run another text recognition (OCR) on it."),
        code="WB312",
    )
    garbled = Message(
        N_("The fonts of {name!r} do not say which characters they draw, so its text comes out as signs."),
        N_("Scan it larger and with more contrast, or run another text recognition (OCR) on it."),
        code="WB316",
    )
    timed_out = Message(
        N_("Reading {name!r} was given up after {seconds} seconds."),
        N_("Split it, or save it as text and ingest that."),
        code="WB314",
    )
    too_demanding = Message(
        N_("The reader broke down over {name!r}: it needs too much memory or is malformed."),
        N_("Split it, or save it as text and ingest that."),
        code="WB315",
    )
    """The reader ran out of memory or crashed; it works in a process of its own, so nothing else was hurt."""
    unreadable = Message(
        N_("{name!r} cannot be read: {why}"),
        N_("Check its permissions, or copy it to a place that can be read."),
        code="WB302",
    )


class SourceEmpty(SourceError):
    code = "WB303"
    fact = N_("{name!r} holds no text.")
    remedy = N_("Leave it out, or fill it and ingest it again.")
    hidden = Message(
        N_("Everything that could be read of {name!r} is hidden."),
        N_("Choose to read hidden content, or leave it out."),
    )


class SourceUnsupported(SourceError):
    """No loader reads such files."""

    code = "WB305"
    fact = N_("{name!r} is of a kind that cannot be ingested.")
    remedy = N_("Save it as one of these: {kinds}.")
    save_as = Message(
        N_("{name!r} is of a kind that cannot be ingested."),
        N_("Save it as {suffix} in the program that made it, and ingest that."),
    )
    archive = Message(
        N_("{name!r} is an archive inside another file, and is not opened."),
        N_("Unpack it, and ingest what is in it."),
    )


class SourceMislabelled(SourceError):
    """The bytes are not what the suffix says."""

    code = "WB306"
    fact = N_("{name!r} is not what its name says: its content is {found}.")
    remedy = N_("Give it the suffix of what it is, or save it in a current format and ingest that.")


class SourceEncoding(SourceError):
    code = "WB307"
    fact = N_("The text encoding of {name!r} is not certain. Tried: {tried}.")
    remedy = N_("Save it as UTF-8 and ingest it again.")


class SourceDamaged(SourceError):
    """A document is of the right kind, but cut short or with broken parts."""

    code = "WB313"
    at_line = Message(
        N_("{name!r} is damaged or incomplete: its line {line} is no JSON."),
        N_("Correct that line, or fetch the file again."),
    )
    named = Message(
        N_("{name!r} is damaged or incomplete: {found}."),
        N_("Fetch it again, or open it in its program and save a new copy."),
    )


class AttachmentError(WorkbenchError):
    """An attachment cannot be used; the question itself can still be asked without it."""

    code = "WB350"
    status = 422
    missing = Message(
        N_("{name!r} cannot be read: {why}"),
        N_("Correct the path, or check that the file may be read."),
        code="WB351",
        status=502,
    )
    too_large = Message(
        N_("{name!r} has {size_mb} MB; an attachment may have {limit_mb} MB."),
        N_("Make the image smaller, or attach the part of the table that the question is about."),
        code="WB352",
        status=413,
    )
    unsupported = Message(
        N_("{name!r} is neither an image nor a table that can be read."),
        N_("Attach one of: {kinds}."),
        code="WB353",
        status=415,
    )
    image_too_large = Message(
        N_("{name!r} has {width} × {height} pixels; the limit is {limit_mpx} million."),
        N_("Cut out the part that matters, or save it smaller."),
        code="WB354",
        status=413,
    )
    """More pixels than are ever decoded: a few kilobytes can stand for gigabytes of them."""
    # Nothing was read, so there is nothing to search with and nothing to quote.
    no_table = Message(
        N_("No table was found in {table!r}."),
        N_("Attach a file with rows and columns."),
        code="WB356",
    )
    empty = Message(
        N_("Nothing was read in {name!r}."),
        N_("Attach another file, or say in the question what it shows."),
        code="WB356",
    )
    too_many = Message(
        N_("The question has {count} attachments; the limit is {most}."),
        N_("Remove those that it can do without."),
        code="WB357",
    )
    # Only graph + vector retrieval looks at attachments; another workflow would silently leave them out.
    not_looked_at = Message(
        N_("The workflow {workflow} does not look at images and tables."),
        N_("Choose the workflow graph_hybrid, or ask without attachments."),
        code="WB358",
    )
    not_looked_at_in_mode = Message(
        N_("The mode {mode!r} searches nothing, so images and tables were not looked at."),
        N_("Choose another mode, such as mix."),
        code="WB358",
    )
    """A warning: the answer was written without them."""
    images_not_looked_at = Message(
        N_("The answer is from the attached tables alone, so {images} attached images were not looked at."),
        N_("Switch tables_only off to have images searched with the collection."),
        code="WB358",
    )
    """A warning: the answer was to be written from the tables alone."""
    reader_missing = Message(
        N_("No package that recognises text in images is installed."),
        N_("Install it with `{command}`, or choose a vision model."),
        code="WB359",
        status=503,
        package="rapidocr onnxruntime",
    )
    reading_timed_out = Message(
        N_("Reading this attachment was given up after {seconds} seconds."),
        N_("Cut out the part that matters, or choose a vision model for images."),
        code="WB360",
        status=504,
    )
    reading_failed = Message(
        N_("The reader of attachments broke down over this one."),
        N_("Save it again in another form, such as PNG or CSV, and attach that."),
        code="WB361",
        status=502,
    )
    """The reader broke down; it works in a process of its own, so nothing else was hurt."""
    model_cannot_see = Message(
        N_("The model {model} takes no images."),
        N_("Choose a vision model, such as `ollama:gemma3:4b`, or the built-in text recognition."),
        code="WB363",
    )
    """Ollama itself would leave the image out without a word, and the model would make something up."""
    not_base64 = Message(
        N_("The data of {encoded!r} is not base64."),
        N_("Encode the bytes of the file as base64."),
        code="WB362",
    )
    not_exactly_one_of = Message(
        N_("The attachment {name!r} must have exactly one of content_base64, text and rows."),
        N_("Send content_base64 for a file, text for what an image shows, or rows for a table."),
        code="WB362",
    )


class AttachmentDamaged(AttachmentError):
    code = "WB355"
    fact = N_("{name!r} is damaged or incomplete.")
    remedy = N_("Fetch it again, or open it in its program and save a new copy.")
