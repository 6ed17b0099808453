"""The one list of readable file types and their loaders."""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePosixPath

from engine.errors import SourceEncoding, SourceMislabelled, SourceUnsupported
from engine.knowledge.loaders.contents import Contents, Loader
from engine.knowledge.loaders.markdown import load_text
from engine.messages import N_

KINDS = N_(
    "PDF, Word, PowerPoint, Excel, OpenDocument, HTML, EPUB, e-mail, notebooks, CSV, JSON, ZIP archives of these, "
    "pictures of text (PNG, JPEG, WebP), or any text file"
)
"""What can be ingested, as it is said everywhere."""


def _by_suffix(table: dict[tuple[str, str], str]) -> dict[str, tuple[str, str]]:
    return {suffix: found for found, suffixes in table.items() for suffix in suffixes.split()}


HERE = _by_suffix(
    {
        ("markdown", "load_text"): ".txt .text .log",
        ("markdown", "load_markdown"): ".md .markdown .mdx",
        ("markups", "load_asciidoc"): ".adoc .asciidoc",
        ("markups", "load_restructured"): ".rst",
        ("markups", "load_tex"): ".tex",
        ("markups", "load_subtitles"): ".srt .vtt",
        ("notebook", "load_notebook"): ".ipynb",
        ("picture", "load_picture"): ".png .jpg .jpeg .webp",
        ("records", "load_json"): ".json",
        ("records", "load_json_lines"): ".jsonl .ndjson",
        ("separated", "load_separated"): ".csv .tsv",
    }
)
"""Module and function of each suffix that is read in the app's own process."""
APART = _by_suffix(
    {
        ("pdf", "load_pdf"): ".pdf",
        ("word", "load_word"): ".docx .docm .dotx .dotm",
        ("slides", "load_slides"): ".pptx .pptm .ppsx .ppsm .potx .potm",
        ("workbook", "load_workbook"): ".xlsx .xlsm .xltx .xltm",
        ("web_page", "load_html"): ".html .htm .xhtml",
        ("xml_file", "load_xml"): ".xml .rss .atom",
        ("book", "load_book"): ".epub",
        ("mail", "load_mail"): ".eml .mht .mhtml",
        ("mail", "load_mails"): ".mbox",
        ("packed", "load_packed"): ".gz",
        ("open_document", "load_open_document"): ".odt .ott .ods .ots .odp .otp",
    }
)
"""Of each suffix whose parser must not run in the app; imported with the libraries it needs when one first comes."""
_SAVE_AS = {
    suffix: target
    for target, suffixes in {
        ".docx": ".doc .dot .rtf .wps .pages .hwp",
        ".xlsx": ".xls .xlt .xlsb .et .numbers",
        ".pptx": ".ppt .pps .dps",
        ".pdf": ".ofd .caj .mobi .azw .azw3 .djvu .xps",
        ".eml": ".msg",
        ".zip": ".7z .rar .tar .tgz .bz2 .xz",
        ".png": ".gif .bmp .tif .tiff .heic .svg",
    }.items()
    for suffix in suffixes.split()
}
"""Documents that no loader reads, by the suffix that their program can save them with."""
ARCHIVE = ".zip"


def suffix_of(name: str) -> str:
    return PurePosixPath(name.lower()).suffix


def loader_of(name: str) -> Loader:
    """Return the loader for a file name; raises ``SourceUnsupported`` if there is none."""
    suffix = suffix_of(name)
    if suffix in _SAVE_AS:
        raise SourceUnsupported.save_as(name=name, suffix=_SAVE_AS[suffix])
    if suffix == ARCHIVE:
        raise SourceUnsupported.archive(name=name)
    found = HERE.get(suffix) or APART.get(suffix)
    if found is None:
        return _load_any
    loader: Loader = getattr(import_module(f"engine.knowledge.loaders.{found[0]}"), found[1])
    return loader


def is_known(name: str) -> bool:
    """Return whether the name alone says how a file is read, or that it is not."""
    suffix = suffix_of(name)
    return suffix == ARCHIVE or any(suffix in table for table in (HERE, APART, _SAVE_AS))


def is_text(head: bytes) -> bool:
    """Return whether a file of unknown kind that begins so is text, as far as that can be seen."""
    try:
        _load_any("", head[: head.rfind(b"\n") + 1] or head)
    except SourceUnsupported:
        return False
    except SourceEncoding:  # said when the whole file is read
        return True
    return True


def _load_any(name: str, data: bytes, hidden: bool = False) -> Contents:
    try:
        return load_text(name, data, hidden)
    except SourceMislabelled as error:
        raise SourceUnsupported(name=name, kinds=KINDS) from error
