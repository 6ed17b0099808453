"""What is written onto a page of a PDF rather than drawn in it: fields of forms, comments, files pinned to it."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pypdfium2 import raw

from engine.knowledge.loaders.contents import heading
from engine.knowledge.loaders.encoding import without_control

_MOST = 5000
"""Of one page that are looked at."""


@dataclass(slots=True)
class Written:
    fields: dict[str, str] = field(default_factory=dict)
    """Value by name; ``☑`` and ``☐`` for a check box, the chosen one for a group of buttons."""
    lost: Counter[str] = field(default_factory=Counter)
    """Comments, files, and what is not shown, by the code of the note that counts them."""


def written_on(page: Any, form: Any, hidden: bool = False) -> Written:
    """``form``: the document's environment of forms, or None; ``hidden``: what is not shown is read too."""
    found = Written()
    for number in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST)):
        note = raw.FPDFPage_GetAnnot(page, number)
        if not note:
            continue
        try:
            kind = raw.FPDFAnnot_GetSubtype(note)
            unseen = bool(raw.FPDFAnnot_GetFlags(note) & (raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW))
            if unseen and not hidden:
                says = list(_filled_in(form, note, {})) if kind == raw.FPDF_ANNOT_WIDGET and form is not None else []
                found.lost["hidden_text"] += bool(says or _words(raw.FPDFAnnot_GetStringValue, note, b"Contents"))
            elif kind == raw.FPDF_ANNOT_WIDGET and form is not None:
                found.fields.update(_filled_in(form, note, found.fields))
            elif kind == raw.FPDF_ANNOT_FILEATTACHMENT:
                found.lost["files_not_read"] += 1
            elif kind not in (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP):
                found.lost["comments"] += bool(_words(raw.FPDFAnnot_GetStringValue, note, b"Contents"))
        finally:
            raw.FPDFPage_CloseAnnot(note)
    return found


def _filled_in(form: Any, note: Any, before: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Name and value of a field that says something."""
    kind = raw.FPDFAnnot_GetFormFieldType(form, note)
    name = heading(_words(raw.FPDFAnnot_GetFormFieldAlternateName, form, note)) or heading(
        _words(raw.FPDFAnnot_GetFormFieldName, form, note)
    )
    if kind == raw.FPDF_FORMFIELD_CHECKBOX:
        ticked = bool(raw.FPDFAnnot_IsChecked(form, note))
        yield name, "☑" if ticked or before.get(name) == "☑" else "☐"
    elif kind == raw.FPDF_FORMFIELD_RADIOBUTTON:
        if raw.FPDFAnnot_IsChecked(form, note):
            yield name, _words(raw.FPDFAnnot_GetFormFieldExportValue, form, note)
    elif kind in (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):
        value = _words(raw.FPDFAnnot_GetFormFieldValue, form, note)
        if value:
            yield name, value


def _words(call: Callable[..., int], *arguments: Any) -> str:
    size = call(*arguments, None, 0)
    buffer = ctypes.create_string_buffer(max(size, 2))
    call(*arguments, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return without_control(buffer.raw[: size - 2].decode("utf-16-le", "replace")).strip()
