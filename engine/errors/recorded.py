"""The message behind an error that a record keeps in English, so that a page can say it in another language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from engine.errors.base import Error, Message, WorkbenchError


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


def classes(root: type[Error]) -> Iterator[type[Error]]:
    """Yield every class of errors, bases before what is derived from them."""
    yield root
    for kind in root.__subclasses__():
        yield from classes(kind)


@cache
def _messages() -> Mapping[str, tuple[Message, ...]]:
    found: dict[str, tuple[Message, ...]] = {}
    for kind in classes(WorkbenchError):
        found[kind.code] = (*found.get(kind.code, ()), *kind.messages())
    return found
