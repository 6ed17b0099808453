"""Files of other kinds, written out as other programs write them."""

# ruff: noqa: E501 - files written out as they are

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from email.message import EmailMessage
from typing import Any

from engine.knowledge.loaders.contents import Contents
from engine.knowledge.loaders.kinds import loader_of

OPF = (
    '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
    "<dc:title>The Book</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
)
CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/a.opf"/></rootfiles></container>'
NAMESPACES = (
    " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for short, name in {
            "office": "office",
            "text": "text",
            "table": "table",
            "style": "style",
            "draw": "drawing",
            "fo": "xsl-fo-compatible",
            "presentation": "presentation",
            "svg": "svg-compatible",
        }.items()
    )
    + ' xmlns:xlink="http://www.w3.org/1999/xlink"'
)
STYLES = (
    '<style:style style:name="up"><style:text-properties style:text-position="super 58%"/></style:style>'
    '<style:style style:name="high"><style:text-properties style:text-position="33% 58%"/></style:style>'
    '<style:style style:name="down"><style:text-properties style:text-position="sub 58%"/></style:style>'
    '<style:style style:name="out"><style:text-properties style:text-line-through-style="solid"/></style:style>'
    '<style:style style:name="late" style:parent-style-name="out"/>'
    '<style:style style:name="secret"><style:text-properties text:display="none"/></style:style>'
    '<style:style style:name="off"><style:table-properties table:display="false"/>'
    '<style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    '<text:list-style style:name="n"><text:list-level-style-number text:level="1" style:num-prefix="(" '
    'style:num-suffix=")" style:num-format="a"/></text:list-style>'
    '<style:style style:name="later"><style:text-properties style:text-line-through-type="single"/></style:style>'
    '<text:list-style style:name="tick"><text:list-level-style-bullet text:level="1" text:bullet-char="☑"/></text:list-style>'
)


def packed(parts: Mapping[str, str | bytes], **flags: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def notebook(*cells: dict[str, Any]) -> bytes:
    return json.dumps({"nbformat": 4, "metadata": {"kernelspec": {"language": "python"}}, "cells": cells}).encode()


def book(chapters: Mapping[str, str], more: str = "", spine: str = "", **parts: str) -> bytes:
    items = "".join(f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>' for name in chapters)
    order = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    package = OPF.format(items=items + more, spine=order + spine)
    pages = {
        f"OEBPS/{name}.xhtml": f"<html><head><title>The Book</title></head><body>{body}</body></html>"
        for name, body in chapters.items()
    }
    return packed({"META-INF/container.xml": CONTAINER, "OEBPS/a.opf": package, **pages, **parts})


def opened(kind: str, body: str, **parts: str) -> bytes:
    content = (
        f"<office:document-content {NAMESPACES}><office:automatic-styles>{STYLES}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    return packed({"content.xml": content, **parts})


def cell(text: str, **attributes: str) -> str:
    given = "".join(f' table:{name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f"<table:table-cell{given}><text:p>{text}</text:p></table:table-cell>"


def row(*cells: str, attributes: str = "") -> str:
    return f"<table:table-row{attributes}>{''.join(cells)}</table:table-row>"


def letter() -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "剂量 5 mg", "Ann <a@b.example>", "x@y.example"
    message["Date"] = "Thu, 26 Nov 2026 04:00:00 +0000"
    message.set_content("The dose is 5 mg.\nGrüße aus Köln\n")
    return message


def with_attachments() -> bytes:
    inner = EmailMessage()
    inner["Subject"] = "Inner"
    inner.set_content("inner text")
    message = letter()
    message.add_alternative("<p>The dose is <b>5 mg</b></p>", subtype="html")
    message.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="t.csv")
    message.add_attachment(b"<p>10 mg<br>20 mg</p>", maintype="text", subtype="html", filename="t.html")
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="t.png")
    message.add_attachment(b"PK", maintype="application", subtype="zip", filename="t.zip")
    message.add_attachment(inner)
    return bytes(message)


HEAD = "From: Ann <a@b.example>\nTo: x@y.example\nDate: Thu, 26 Nov 2026 04:00:00 +0000\nSubject: 剂量 5 mg"
MBOX = (
    b"From a@b.example Thu Nov 26 04:00:00 2026\nSubject: One\n\nfirst\n>From here on\n\n"
    b"From - Thu Nov 26 05:00:00 2026\nSubject: =?gb2312?B?1tDOxA==?=\n"
    b"Content-Type: text/plain; charset=gb2312\nContent-Transfer-Encoding: quoted-printable\n\n=D6=D0=\n=CE=C4\n"
)


def here(name: str, data: bytes, hidden: bool = False) -> Contents:
    return loader_of(name)(name, data, hidden)
