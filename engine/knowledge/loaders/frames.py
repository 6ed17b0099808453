"""What the app and its reading process say to each other: lengths, JSON and bytes, nothing that could run."""

from __future__ import annotations

import json
import struct
from typing import IO, Any

from engine.errors import SourceError, SourceUnreadable, classes
from engine.knowledge.loaders.contents import Contents, Section
from engine.model.values import SourceNote, kind_named

_LENGTHS = struct.Struct(">QQ")
MOST_REPLY = 2_000_000_000


def write_frame(stream: IO[bytes], head: dict[str, Any], body: bytes = b"") -> None:
    text = json.dumps(head, ensure_ascii=True).encode()
    stream.write(_LENGTHS.pack(len(text), len(body)))
    stream.write(text)
    stream.write(body)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """The next head and body; None where the other side has ended."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head_size, body_size = _LENGTHS.unpack(lengths)
    if head_size + body_size > MOST_REPLY:
        return None
    head, body = stream.read(head_size), stream.read(body_size)
    if len(head) < head_size or len(body) < body_size:
        return None
    return json.loads(head), body


def packed(contents: Contents) -> dict[str, Any]:
    return {
        "title": contents.title,
        "sections": [[list(section.path), section.text] for section in contents.sections],
        "kind": contents.kind,
        "notes": [[note.code, note.params] for note in contents.notes],
        "encoding": contents.encoding,
        "read": dict(contents.read),
    }


def unpacked(head: dict[str, Any]) -> Contents:
    return Contents(
        title=head["title"],
        sections=tuple(Section(tuple(path), text) for path, text in head["sections"]),
        kind=kind_named(head["kind"]),
        notes=tuple(SourceNote(code, params) for code, params in head["notes"]),
        encoding=head["encoding"],
        read=head["read"],
    )


def packed_error(error: SourceError) -> dict[str, Any]:
    return {"code": error.code, "fact": error.fact, "remedy": error.remedy, "params": error.params}


def unpacked_error(head: dict[str, Any]) -> SourceError:
    kind = next((kind for kind in classes(SourceError) if kind.code == head["code"]), SourceUnreadable)
    return kind.restored(head["fact"], head["remedy"], head["params"])
