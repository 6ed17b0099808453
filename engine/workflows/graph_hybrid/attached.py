"""Attachments in a workflow: passages from the text of images, a query joined with it, and the tables."""

from __future__ import annotations

from collections.abc import Sequence

from engine.model.values import Attachment, PassageId
from engine.roles import StoredPassage

LONGEST_JOINED = 600
"""Characters of one image that join the query: an embedder reads no more, and the question must not drown in them."""
ID_PREFIX = "attachment:"


def tables_of(attachments: Sequence[Attachment]) -> tuple[Attachment, ...]:
    """The tables in order: ``[T1:B3]`` is a cell of the first one."""
    return tuple(item for item in attachments if item.kind == "table")


def images_of(attachments: Sequence[Attachment]) -> tuple[Attachment, ...]:
    return tuple(item for item in attachments if item.kind == "image")


def attached_query(query: str, attachments: Sequence[Attachment]) -> str:
    """The query with what was read in the images, which are searched together; just the query where there are none."""
    texts = (" ".join(item.text[:LONGEST_JOINED].split()) for item in images_of(attachments))
    return " ".join([query, *(text for text in texts if text)])


def attachment_passages(attachments: Sequence[Attachment]) -> tuple[StoredPassage, ...]:
    """The text of images as passages with ids ``attachment:N#k``, both from 1; N counts all attachments.

    Cut as documents are, so that scores mean the same.
    """
    if not images_of(attachments):
        return ()
    # What cuts documents comes with what reads them, and most questions come without images.
    from engine.knowledge.chunk import split

    return tuple(
        StoredPassage(
            id=PassageId(f"{ID_PREFIX}{number}#{ordinal}"),
            source=item.name,
            text=text,
            title=item.name,
            ordinal=ordinal,
        )
        for number, item in enumerate(attachments, start=1)
        if item.kind == "image"
        for ordinal, text in enumerate(split(item.text), start=1)
    )
