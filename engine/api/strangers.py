"""Refusals of callers that nothing lets in."""

from __future__ import annotations

import logging
from functools import partial

from starlette.types import Receive, Send

from engine.api.incoming import drain
from engine.api.web import refuse
from engine.errors import NotSignedIn, PeopleUnusable, WorkbenchError

_log = logging.getLogger(__name__)
BEARER = b'Bearer realm="workbench"'
INVALID = BEARER + b', error="invalid_token"'


def for_strangers(error: WorkbenchError) -> WorkbenchError:
    """Choose what a stranger may read: nothing of where things are kept, or of what is wrong there."""
    if isinstance(error, NotSignedIn):
        return error
    _log.warning("a caller could not be checked: %s", error.fact)
    return PeopleUnusable.caller_unchecked()


async def turn_away(receive: Receive, send: Send, error: WorkbenchError) -> None:
    """Refuse a request, with how to be let in where the caller is unknown."""
    challenge = b"" if not isinstance(error, NotSignedIn) else BEARER if error.code == NotSignedIn.code else INVALID
    headers = ((b"www-authenticate", challenge),) if challenge else ()
    await refuse(
        send,
        error.status,
        error.code,
        error.fact,
        error.remedy,
        ending=partial(drain, receive),
        headers=headers,
    )
