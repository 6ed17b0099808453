"""Controls that several pages draw: choices and texts that the address holds, pages of a list, files in and out."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from components.common.url_state import put_into_url, take_from_url
from engine.people.current_user import with_current_user

_Item = TypeVar("_Item")
_Value = TypeVar("_Value", bound=str)

_MIME = {
    "csv": "text/csv",
    "html": "text/html",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "md": "text/markdown",
    "toml": "application/toml",
    "txt": "text/plain",
    "zip": "application/zip",
}
# Excel in Chinese and Japanese reads the wide signs as the narrow ones.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def pick(label: str, shown: Mapping[_Value, str], *, key: str, usual: _Value | None = None, **more: Any) -> _Value:
    """A choice among few, side by side; ``shown`` labels each value, the first is the ``usual``."""
    usual = next(iter(shown)) if usual is None else usual
    if st.session_state.get(key) not in shown:
        st.session_state[key] = usual
    chosen = st.segmented_control(
        label,
        list(shown),
        required=True,
        format_func=lambda value: shown[value],
        key=key,
        persist_state="session",
        **{"label_visibility": "collapsed", **more},
    )
    return chosen or usual


def choice(
    name: str, label: str, shown: Mapping[_Value, str], *, key: str = "", usual: _Value | None = None, **more: Any
) -> _Value:
    """The same, held by the address under ``name``; an empty address stands for the ``usual`` one."""
    usual = next(iter(shown)) if usual is None else usual
    take_from_url(name, usual, lambda given: given in shown, key=key)
    chosen = pick(label, shown, key=key or name, usual=usual, **more)
    put_into_url(name, chosen, usual, key=key)
    return chosen


def listed(name: str, label: str, shown: Mapping[str, str], **more: Any) -> str:
    """A choice among many, one below the other, held by the address; without one the first value, the empty one."""
    if take_from_url(name, "", lambda given: given in shown) not in shown:
        st.session_state[name] = ""
    chosen = str(st.selectbox(label, list(shown), format_func=lambda value: shown[value], key=name, **more) or "")
    put_into_url(name, chosen, "")
    return chosen


def typed(name: str, label: str, longest: int, **more: Any) -> str:
    """A text to look for, held by the address under ``name``, without the spaces around it."""
    take_from_url(name, "", lambda text: len(text) <= longest)
    icon = ":material/search:"
    text = st.text_input(label, key=name, icon=icon, max_chars=longest, persist_state="session", **more)
    put_into_url(name, str(text or "").strip(), "")
    return str(text or "").strip()


def narrowing(label: str, *, key: str, placeholder: str | None = None, width: int = 320, **more: Any) -> str:
    """A text that narrows a list with every letter typed; without a ``placeholder`` the label stands in the box."""
    text = st.text_input(
        label,
        key=key,
        placeholder=label if placeholder is None else placeholder,
        label_visibility="collapsed" if placeholder is None else "visible",
        icon=":material/search:",
        max_chars=200,
        live=True,
        width=width,
        **more,
    )
    return str(text or "")


def page_of(items: Sequence[_Item], size: int, *, key: str) -> Sequence[_Item]:
    """Draw the choice of a page where there are several, and return what is on the chosen one."""
    pages = -(-len(items) // size)
    # A key of its own for every number of pages: the place of a longer list may not exist in a shorter one.
    number = st.pagination(pages, key=f"{key}_{pages}") if pages > 1 else 1
    return items[(number - 1) * size : number * size]


def download(
    label: str, content: bytes | Callable[[], bytes], file_name: str, *, icon: str = "download", **more: Any
) -> None:
    """A button that saves a file, which a function makes only when it is asked for."""
    if callable(content):
        # Streamlit calls it in a thread of its own.
        content = with_current_user(content)
    mime = _MIME[file_name.rsplit(".", 1)[-1]]
    st.download_button(
        label, content, file_name=file_name, mime=mime, icon=f":material/{icon}:", on_click="ignore", **more
    )


def uploader_words(place: str, choose: str, limits: str) -> None:
    """``place``: key of the container around the box; what its button says, and what may be put in."""
    box = f".st-key-{place} [data-testid='stFileUploaderDropzone']"
    button, limit = (json.dumps(text, ensure_ascii=False) for text in (choose, limits))
    st.html(
        f"<style>{box} [data-testid='stFileUploaderDropzoneInstructions'] {{ font-size: 0; }}"
        f"{box} [data-testid='stFileUploaderDropzoneInstructions'] * {{ display: none; }}"
        f"{box} [data-testid='stFileUploaderDropzoneInstructions']::after"
        f" {{ content: {limit}; font-size: 0.875rem; }}"
        f"{box} button [data-testid='stMarkdownContainer'] {{ font-size: 0; }}"
        f"{box} button [data-testid='stMarkdownContainer']::after {{ content: {button}; font-size: 0.875rem; }}</style>"
    )


def table_csv(head: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """UTF-8 with a byte order mark; cells that begin like a formula are defused."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(head)
    for row in rows:
        table.writerow([_inert(cell) for cell in row])
    # Half a surrogate pair, as broken PDFs bring it, has no UTF-8 form.
    return written.getvalue().encode("utf-8-sig", "replace")


def _inert(cell: str) -> str:
    # Numbers of our own may begin with a minus sign.
    number = cell[1:].replace(".", "", 1).isdigit()
    return f"'{cell}" if cell.startswith(_FORMULA) and not number else cell
