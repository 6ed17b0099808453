"""Jupyter notebooks: text, code and the text that the code printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from engine.errors import SourceDamaged
from engine.knowledge.loaders.contents import Contents, counted
from engine.knowledge.loaders.encoding import read_text, without_control
from engine.knowledge.loaders.markdown import load_markdown
from engine.messages import N_

_TERMINAL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
"""Colours of an error's trace."""
_OBJECT = re.compile(r"<[\w.]+ (object|at)\b.*>")
"""What stands as plain text for something that is shown otherwise."""


def load_notebook(name: str, data: bytes, hidden: bool = False) -> Contents:
    """Sections by the headings of its text cells; code and outputs stand between fences. Pictures are counted."""
    try:
        book = json.loads(read_text(name, data).text)
        cells = book["cells"] if "cells" in book else [cell for sheet in book["worksheets"] for cell in sheet["cells"]]
        if not all(isinstance(cell, dict) for cell in cells):
            raise TypeError
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise SourceDamaged.named(name=name, found=N_("it holds no cells of a notebook")) from error
    metadata = book.get("metadata")
    kernel = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    language = str(kernel.get("language") or "") if isinstance(kernel, dict) else ""
    parts, read, pictures, unread = list[str](), {"cells": 0, "outputs": 0}, 0, 0
    for cell in cells:
        source, kind = _text(cell.get("source", cell.get("input"))), cell.get("cell_type")
        read["cells"] += bool(source.strip())
        if kind == "code":
            parts.append(_fenced(source, language))
        elif kind == "heading":  # of the third version of the format
            parts.append(f"{'#' * min(6, max(1, int(cell.get('level') or 1)))} {source}")
        else:
            parts.append(source if kind == "markdown" else _fenced(source))
        pictures += len(cell.get("attachments") or {})
        for text, picture in _outputs(cell.get("outputs")):
            pictures += picture
            read["outputs"] += bool(text)
            unread += not text and not picture
            parts.append(text)
    whole = load_markdown(name, "\n\n".join(filter(str.strip, parts)).encode(errors="replace"), hidden)
    notes = (*whole.notes, *counted({"pictures_not_read": pictures, "outputs_not_read": unread}))
    # Lines of the text made here are not those of the file.
    sections = tuple(replace(section, lines=()) for section in whole.sections)
    return replace(whole, sections=sections, notes=notes, read=read)


def _outputs(outputs: Any) -> Iterator[tuple[str, bool]]:
    """Each output as Markdown, and whether it is a picture, whose text is only the name of its object."""
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, dict):
            continue
        given = output.get("data") if isinstance(output.get("data"), dict) else output
        assert isinstance(given, dict)
        plain = _text(given.get("text", given.get("text/plain")))
        if output.get("output_type") in ("error", "pyerr"):
            plain = f"{output.get('ename')}: {_text(output.get('evalue'))}"
        rich = next((_text(given[kind]) for kind in ("text/markdown", "text/html", "text/latex") if kind in given), "")
        picture = any(kind.startswith("image/") or kind in ("png", "jpeg", "svg") for kind in given)
        shown = rich if not plain.strip() or _OBJECT.fullmatch(plain.strip()) else _fenced(_TERMINAL.sub("", plain))
        empty = output.get("output_type") == "stream" and not plain.strip()
        if not empty:
            yield "" if picture else shown, picture


def _fenced(text: str, language: str = "") -> str:
    words = without_control(text).strip("\n")
    if not words.strip():
        return ""
    fence = max(["```", *(f"{ticks}`" for ticks in re.findall(r"`{3,}", text))], key=len)
    return f"{fence}{language}\n{words}\n{fence}"


def _text(value: Any) -> str:
    """A text as notebooks keep it: in one, or line by line."""
    return "".join(map(str, value)) if isinstance(value, list) else value if isinstance(value, str) else ""
