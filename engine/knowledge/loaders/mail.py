"""Mails: one in ``.eml``, many in ``.mbox``; their attachments are read as the files that they are."""

from __future__ import annotations

import contextlib
import email
import email.policy
import re
from collections import defaultdict
from email.message import MIMEPart

from engine.errors import SourceDamaged, SourceEmpty, SourceError
from engine.knowledge.loaders.contents import Contents, Section, counted, heading, merged, named, note
from engine.knowledge.loaders.encoding import read_text, without_control
from engine.knowledge.loaders.kinds import loader_of
from engine.knowledge.loaders.web_page import load_html
from engine.messages import N_
from engine.model.values import SourceNote

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_BETWEEN = re.compile(rb"(?:\A|\n\r?\n)From \S+[ \t][^\n]*\d\d:\d\d[^\n]*\n")
"""The line above each mail of an archive: who sent it and when; others that begin so are quoted with ``>``."""
_FORMS = ("text/plain", "text/html")
_DEEPEST = 5
"""Mails inside mails that are opened."""
MOST_MAILS = 20_000


def load_mail(name: str, data: bytes, hidden: bool = False) -> Contents:
    """One mail: its headers and text, then a section for each attachment and each mail inside it."""
    reading = _Reading(name, hidden)
    subject = reading.mail(data, ())
    return reading.contents(subject)


def load_mails(name: str, data: bytes, hidden: bool = False) -> Contents:
    """An archive of mails, each under its subject."""
    reading = _Reading(name, hidden)
    between = list(_BETWEEN.finditer(data))
    if not between:
        raise SourceDamaged.named(name=name, found=N_("no line in it begins a mail"))
    ends = [found.start() + 1 for found in between[1:]] + [len(data)]
    for found, end in zip(between[:MOST_MAILS], ends, strict=False):
        reading.mail(re.sub(rb"(?m)^>(>*From )", rb"\1", data[found.end() : end]), (), titled=True)
    if len(between) > MOST_MAILS:
        reading.notes.append(note("mails_cut", count=len(between) - MOST_MAILS, kept=MOST_MAILS))
    return reading.contents("")


class _Reading:
    """Contents of the mails of one file."""

    def __init__(self, name: str, hidden: bool) -> None:
        self.notes: list[SourceNote] = []
        self._name = name
        self._hidden = hidden
        self._sections: list[Section] = []
        self._read = {"mails": 0, "attachments": 0}
        self._pictures = 0
        self._left_out = defaultdict[str, list[str]](list)
        """What it is called, by the code of the note that says why."""

    def contents(self, title: str) -> Contents:
        self.notes += [*named(self._left_out), *counted({"pictures_not_read": self._pictures})]
        return Contents(title, tuple(self._sections), notes=merged(self.notes), read=self._read)

    def mail(self, data: bytes, path: tuple[str, ...], titled: bool = False) -> str:
        """Read a mail below a path of headings, and return its subject, which is a heading too where ``titled``."""
        self._read["mails"] += 1
        try:
            message: MIMEPart = email.message_from_bytes(data, policy=email.policy.default)
            return self._message(message, path, titled)
        except Exception as error:  # the library's parser has errors of many classes; one mail costs no other
            if not titled or isinstance(error, MemoryError):
                raise
            self._left_out["mails_unreadable"].append(f"#{self._read['mails']}")
            return ""

    def _message(self, message: MIMEPart, path: tuple[str, ...], titled: bool) -> str:
        shown = [(key, heading(_header(message, key))) for key in _SHOWN]
        subject = dict(shown)["Subject"]
        if titled:
            path = (*path, subject or f"#{self._read['mails']}")
        texts, others = _parts(message)
        lines = [f"{key}: {value}" for key, value in shown if value]
        self._add(path, ["\n".join(lines), *(self._body(part) for part in texts if not _is_html(part))])
        for body in filter(None, (self._body(part) for part in texts if _is_html(part))):
            with contextlib.suppress(SourceEmpty):
                self._inside(path, load_html(self._name, body.encode(errors="replace"), self._hidden))
        for part in others:
            self._other(part, path)
        return subject

    def _body(self, part: MIMEPart) -> str:
        try:
            return read_text(self._name, _bytes(part), part.get_content_charset("")).text
        except SourceError:
            self._left_out["attachments_unread"].append(part.get_content_type())
            return ""

    def _other(self, part: MIMEPart, path: tuple[str, ...]) -> None:
        """An attachment: a mail, a document, or something that is only counted."""
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload(0)
            if len(path) < _DEEPEST and isinstance(inner, MIMEPart):
                self._read["mails"] += 1
                self._message(inner, path, titled=True)
            else:
                self._left_out["attachments_unread"].append(part.get_content_type())
            return
        if part.get_content_maintype() == "image":
            self._pictures += 1
            return
        named = heading(without_control(part.get_filename() or part.get_content_type()))
        data = _bytes(part)
        if named.lower().endswith(".eml") and len(path) < _DEEPEST:
            self.mail(data, path, titled=True)
            return
        try:
            found = loader_of(named)(named, data, self._hidden)
        except MemoryError:
            raise
        except Exception:  # an error in an attachment costs nothing else
            self._left_out["attachments_unread"].append(named)
            return
        self._read["attachments"] += 1
        self._inside((*path, named), found)

    def _inside(self, path: tuple[str, ...], found: Contents) -> None:
        # Pages without text, which text recognition would look for in this file.
        filled = (section for section in found.sections if section.text)
        path = (*path, found.title) if found.title else path
        self._sections += [Section((*path, *section.path), section.text) for section in filled]
        self.notes += found.notes

    def _add(self, path: tuple[str, ...], parts: list[str]) -> None:
        text = "\n\n".join(part.strip("\n") for part in parts if part.strip())
        if text:
            self._sections.append(Section(path, text))


def _parts(message: MIMEPart) -> tuple[list[MIMEPart], list[MIMEPart]]:
    """The parts that are its text, each in the plainest of its forms, and the others."""
    texts: list[MIMEPart] = []
    others: list[MIMEPart] = []
    pending: list[MIMEPart] = [message]
    while pending:
        part = pending.pop()
        inner = list(part.iter_parts()) if part.is_multipart() and part.get_content_maintype() == "multipart" else []
        if part.get_content_subtype() == "alternative" and inner:
            plain = [item for item in inner if item.get_content_type() == "text/plain"]
            written = [item for item in plain if _bytes(item).strip()]
            chosen = written[:1] or inner[-1:]
            pending.extend(chosen)
            # What the forms that are not read hold in addition to their text: pictures, invitations.
            rest = (leaf for item in inner if item not in chosen for leaf in item.walk())
            others += [leaf for leaf in rest if leaf.get_content_type() not in _FORMS and not leaf.is_multipart()]
        elif part.get_content_maintype() == "multipart":
            pending.extend(reversed(inner))
        elif part.get_content_type() in _FORMS and not part.is_attachment():
            texts.append(part)
        else:
            others.append(part)
    return texts, others


def _is_html(part: MIMEPart) -> bool:
    return part.get_content_type() == "text/html"


def _bytes(part: MIMEPart) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else part.as_bytes()


def _header(message: MIMEPart, key: str) -> str:
    """A header in words, also where it is malformed or in an encoding that it does not name."""
    stored = next((str(value) for name, value in message.raw_items() if name.lower() == key.lower()), "")
    raw = stored.encode("utf-8", "surrogateescape")
    try:
        return without_control(str(message[key] or "") if raw.isascii() else read_text("", raw).text)
    except Exception:  # the library's parser of headers has errors of many classes
        return without_control(raw.decode("utf-8", "replace"))
