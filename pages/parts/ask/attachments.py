"""The question box's images and tables: attach, read next to the page, correct, remove."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import pandas as pd
import streamlit as st

from components.ask.attachments import facts, title
from components.common.controls import uploader_words
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import chip, draw, node
from engine.attachments.admission import LONGEST_TEXT, MOST_ATTACHMENTS, fitted
from engine.attachments.reading import LARGEST_MB, thumbnail
from engine.builtin.cells import column_letters
from engine.builtin.image_header import MOST_PIXELS
from engine.engine import Engine
from engine.errors import AttachmentError, InvalidConfig
from engine.model.config import BUILTIN, RoleModel, RoleModels, RunConfig
from engine.model.values import Attachment, Fault, RunRecord
from engine.people.current_user import with_current_user

_LIST = "attached"
_UPLOADS = "attach_uploads"
_READER = "attach_reader"
_TYPES = ("png", "jpg", "jpeg", "webp", "csv", "tsv", "xlsx", "md", "markdown", "html", "htm", "txt")
_EDITS = "attach_edits"
_WATCH_S = 0.3
_TEXT_HEIGHT = 190
_GRID_HEIGHT = 280
_LONGEST_NAME = 60
_pool = ThreadPoolExecutor(2, thread_name_prefix="attach")


@dataclass(frozen=True, slots=True)
class Read:
    """Result of reading a file."""

    attachment: Attachment
    thumbnail: bytes = b""


@dataclass(frozen=True, slots=True)
class Attached:
    """One attachment of the box, under way or read; a new id makes widgets of its own."""

    name: str
    future: Future[Read]
    retry: Callable[[], Future[Read]] | None = None
    """Reads the file once more; None where only what was read is known."""
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    begun: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Box:
    """State of the question box: attachments, and why it cannot be run, if it cannot."""

    attachments: tuple[Attachment, ...] = ()
    waiting: bool = False
    failed: bool = False

    def problem(self, words: Words) -> str:
        """Explain why a run has to wait; empty if it need not."""
        return (
            words("An attachment is still being read. Look at what was read, then run.")
            if self.waiting
            else words("An attachment could not be used: correct or remove it, then run.")
            if self.failed
            else ""
        )


def attachments_box(engine: Engine, config: RunConfig, record: RunRecord | None, question: str, words: Words) -> Box:
    """Draw what is attached and the way to attach more; what the run that is open was asked with comes back."""
    _take_over(record)
    _uploader(engine, config, question, words)
    if not _attached():
        return Box()
    # Once a run was asked with them, its answer is what is looked at.
    asked = record is not None and bool(record.attachments)
    label = words.count("1 attachment", "{n} attachments", len(_attached()))
    with st.expander(label, expanded=not asked, key=f"attach_cards_{record.id if asked and record else ''}"):
        return _cards(words)


def _cards(words: Words) -> Box:
    """Every attachment as it stands: under way, failed, or read and to be corrected."""
    attachments: list[Attachment] = []
    waiting = failed = False
    tables = 0
    for item in _attached():
        if not item.future.done():
            waiting = True
            _watched(item, words)
        elif (error := item.future.exception()) is not None:
            failed = True
            _failed(item, error, words)
        else:
            read = item.future.result()
            tables += read.attachment.kind == "table"
            edited = _editor(item, read, tables, words)
            st.session_state[_EDITS][item.id] = edited
            made = fitted(edited)
            failed = failed or not (made.text or made.rows)
            attachments.append(made)
    return Box(tuple(attachments), waiting, failed)


def _attached() -> tuple[Attached, ...]:
    kept: tuple[Attached, ...] = st.session_state.get(_LIST, ())
    return kept


def _keep(attached: Sequence[Attached]) -> None:
    st.session_state[_LIST] = tuple(attached)


def _remove(item_id: str) -> None:
    _keep([item for item in _attached() if item.id != item_id])


def _take_over(record: RunRecord | None) -> None:
    """Attach what a run had that was just opened, unless it is what the box holds already."""
    if record is None or st.session_state.get("attached_of") == record.id:
        return
    st.session_state["attached_of"] = record.id
    asked: tuple[Attachment, ...] | None = st.session_state.get("attached_asked")
    if record.attachments and record.attachments != asked:
        _keep([Attached(item.name, _known(item)) for item in record.attachments])


def asked_with(attachments: tuple[Attachment, ...]) -> None:
    """Remember the inputs of a run, so that the box keeps its pictures when the run opens."""
    st.session_state["attached_asked"] = attachments


def _known(attachment: Attachment) -> Future[Read]:
    future: Future[Read] = Future()
    future.set_result(Read(attachment))
    return future


def _uploader(engine: Engine, config: RunConfig, question: str, words: Words) -> None:
    count = len(_attached())
    label = words.count("1 attachment", "{n} attachments", count) if count else words("Attach an image or a table")
    # A new key empties the box for files once they are on their way, and closes what it stands in.
    generation = st.session_state.setdefault(_UPLOADS, 0)
    more = st.popover(label, icon=":material/attach_file:", key=f"attach_more_{generation}")
    with more, st.container(key="attach_upload"):
        st.caption(
            words(
                "What is read in an image is searched together with the question; the cells of a table can be quoted "
                "in the answer. You see what was read before anything is searched, and can correct it."
            )
        )
        reader = _reader(engine, config, words)
        key = f"attach_files_{generation}"
        st.file_uploader(
            words("Choose files"),
            type=list(_TYPES),
            accept_multiple_files=True,
            key=key,
            label_visibility="collapsed",
            on_change=_take,
            args=(engine, reader, question, key),
        )
        uploader_words("attach_upload", words("Choose files"), words("or drop them here"))
        # Chinese counts in ten thousands.
        pixels = words("{n} million", n=MOST_PIXELS // (10_000 if words.language == "zh" else 1_000_000))
        st.caption(
            words(
                "PNG, JPEG, WebP; CSV, Excel, Markdown, HTML. At most {mb} MB and {pixels} pixels each, {n} in all.",
                mb=f"{LARGEST_MB:g}",
                pixels=pixels,
                n=MOST_ATTACHMENTS,
            )
        )


def _reader(engine: Engine, config: RunConfig, words: Words) -> RoleModel:
    """Name the reader of images: text recognition, or a vision model."""
    seeing = [f"ollama:{item.name}" for item in engine.ollama().models if "vision" in item.capabilities]
    usual = engine.settings.models.vision.model
    names = list(dict.fromkeys([usual, BUILTIN, config.models.vision.model, *seeing]))
    chosen = st.selectbox(
        words("Images are read by"),
        names,
        key=_READER,
        format_func=lambda name: words("Built-in text recognition") if name == BUILTIN else name,
        help=words(
            "Text recognition reads what is written, in Chinese and English, on this machine. A vision model also "
            "says what is pictured: choose one of Ollama's, or write `provider:model`."
        ),
        accept_new_options=True,
        persist_state="session",
    )
    try:
        return RoleModel(chosen or BUILTIN)
    except InvalidConfig as error:
        st.session_state["ask_fault"] = Fault.of(error)
        return RoleModel()


def _take(engine: Engine, reader: RoleModel, question: str, key: str) -> None:
    """Begin to read the files that were chosen, and empty the box for the next ones."""
    files = st.session_state.get(key) or ()
    st.session_state[_UPLOADS] = st.session_state.get(_UPLOADS, 0) + 1
    room = MOST_ATTACHMENTS - len(_attached())
    if len(files) > room:
        error = AttachmentError.too_many(count=len(_attached()) + len(files), most=MOST_ATTACHMENTS)
        st.session_state["ask_fault"] = Fault.of(error)
    config = RunConfig(models=RoleModels(vision=reader))
    made = [_begun(engine, config, item.name, item.getvalue(), question) for item in files[: max(0, room)]]
    _keep([*_attached(), *made])


def _begun(engine: Engine, config: RunConfig, name: str, data: bytes, question: str) -> Attached:
    def read() -> Read:
        attachment = engine.read_attachment(name, data, config, question=question)
        return Read(attachment, thumbnail(name, data) if attachment.kind == "image" else b"")

    def begin() -> Future[Read]:
        return _pool.submit(with_current_user(read))

    return Attached(name, begin(), begin)


def _watched(item: Attached, words: Words) -> None:
    """Say that it is being read, and draw the page again once it was."""

    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        if item.future.done():
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center", key=f"attach_wait_{item.id}"):
            # A file's name is untrusted text: never Markdown.
            waited = time.monotonic() - item.begun
            st.text(f"⏳ {words('Reading {name} …', name=item.name[:_LONGEST_NAME])} {waited:.0f} s")
            if st.button(words("Stop"), key=f"attach_stop_{item.id}"):
                item.future.cancel()
                _remove(item.id)
                st.rerun()

    watch()


def _failed(item: Attached, error: BaseException, words: Words) -> None:
    actions = [("remove", words("Remove"))]
    if item.retry is not None:
        actions.append(("again", words("Try again")))
    pressed = fault_box(Fault.of(error), words, key=f"attach_fault_{item.id}", actions=actions)
    if pressed == "remove":
        _remove(item.id)
        st.rerun()
    if pressed == "again" and item.retry is not None:
        again = replace(item, future=item.retry(), id=uuid.uuid4().hex[:12], begun=time.monotonic())
        _keep([again if other.id == item.id else other for other in _attached()])
        st.rerun()


def _as_left(item: Attached, read: Read, key: str) -> Attachment:
    """Return the initial values of an attachment's widgets: as read, or as edited before leaving the page.

    It stays the same while the widgets live, for they hold what is changed now.
    """
    edits: dict[str, Attachment] = st.session_state.setdefault(_EDITS, {})
    begun: dict[str, Attachment] = st.session_state.setdefault("attach_begun", {})
    if f"{key}_text" not in st.session_state and f"{key}_grid" not in st.session_state:
        begun[item.id] = edits.get(item.id, read.attachment)
    return begun[item.id]


def _editor(item: Attached, read: Read, table: int, words: Words) -> Attachment:
    """Show the text read for corrections, with the picture next to it and a remove button."""
    key = f"attach_{item.id}"
    attachment = _as_left(item, read, key)
    with st.container(border=True, key=f"attach_card_{item.id}"):
        if _head(attachment, table, words, key=f"{key}_head"):
            _remove(item.id)
            st.rerun()
        if attachment.kind == "table":
            return table_editor(attachment, table, words, key=key)
        if not read.thumbnail:
            return image_editor(attachment, words, key=key)
        picture, text = st.columns([1, 2], gap="small")
        with picture:
            st.image(read.thumbnail, alt=attachment.name[:_LONGEST_NAME])
        with text:
            return image_editor(attachment, words, key=key)


def _head(item: Attachment, table: int, words: Words, *, key: str) -> bool:
    """Draw kind, name and facts on one line; return whether the remove button was pressed."""
    name = node("span", "own-name", item.name)
    about = node("span", "muted small grow", facts(item, words))
    named = words("Remove {name}", name=item.name[:_LONGEST_NAME])
    remove = node("button", "button quiet", f"✕ {words('Remove')}", data_action="remove", aria_label=named)
    head = node("div", "head", chip("plain", title(item, table, words)), name, about, remove)
    return draw((node("div", "attached-to", head),), words, key=key) == "remove"


def image_editor(item: Attachment, words: Words, *, key: str) -> Attachment:
    """Show the text read from an image in a box for corrections."""
    if not item.text and not item.edited:
        st.caption(words("No text was found in this image. Say in a few words what it shows, or remove it."))
    text = st.text_area(
        words("What was read; correct it before you run"),
        item.text,
        key=f"{key}_text",
        height=_TEXT_HEIGHT,
        max_chars=LONGEST_TEXT,
    )
    return item if text == item.text else replace(item, text=text or "", edited=True)


def table_editor(item: Attachment, number: int, words: Words, *, key: str) -> Attachment:
    """The cells of a table as a grid to correct them, named as they are quoted: letters and numbers."""
    width = len(item.rows[0]) if item.rows else 0
    letters = [column_letters(number) for number in range(1, width + 1)]
    frame = pd.DataFrame(item.rows, index=range(1, len(item.rows) + 1), columns=letters, dtype=str)
    st.caption(words("Cells are quoted as [T{n}:B2]", n=number))
    edited = st.data_editor(
        frame,
        key=f"{key}_grid",
        height=min(_GRID_HEIGHT, 37 * (len(item.rows) + 1)),
        column_config={letter: st.column_config.TextColumn(letter) for letter in letters},
    )
    header = (
        st.checkbox(words("The first row names the columns"), item.header, key=f"{key}_header")
        if len(item.rows) > 1
        else False
    )
    rows = tuple(tuple("" if pd.isna(cell) else str(cell) for cell in row) for row in edited.itertuples(index=False))
    if rows == item.rows and header == item.header:
        return item
    return replace(item, rows=rows, header=header, edited=True)
