"""Errors by their code: of a record, of another process, of an answer of the API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from engine.errors.base import BoundMessage, Error, Message, WorkbenchError


def message_of(code: str, fact: str, params: Mapping[str, str]) -> Message | None:
    """Return the message of ``code`` that gives ``fact`` when it is filled with ``params``.

    An earlier version may have worded it differently: then the message that uses most of ``params``, if only one does
    and it needs no others. None where nothing fits.
    """
    fitting = [message for message in _messages().get(code, ()) if message.fields <= message.filled(params).keys()]
    for message in fitting:
        if message.fact.format_map(message.filled(params)) == fact:
            return message
    most = max((len(message.fields) for message in fitting), default=0)
    nearest = [message for message in fitting if len(message.fields) == most]
    return nearest[0] if len(nearest) == 1 else None


def status_of(code: str) -> int:
    """Return the HTTP status of an error of ours."""
    row = row_of(code)
    return row.status if row else WorkbenchError.status


def row_of(code: str) -> BoundMessage[WorkbenchError] | None:
    """Return a message with this code, from which an error of another process can be restored."""
    return next((row for row in rows(WorkbenchError) if row.code == code), None)


def classes(root: type[Error]) -> Iterator[type[Error]]:
    """Yield every class of errors, bases before what is derived from them."""
    yield root
    for kind in root.__subclasses__():
        yield from classes(kind)


def rows(root: type[Error]) -> Iterator[BoundMessage[Error]]:
    """Yield every message of a class of errors and of those derived from it."""
    for kind in classes(root):
        yield from (BoundMessage(kind, message) for message in kind.messages())


@cache
def _messages() -> Mapping[str, tuple[Message, ...]]:
    found: dict[str, tuple[Message, ...]] = {}
    for row in rows(WorkbenchError):
        found[row.code] = (*found.get(row.code, ()), row.message)
    return found
