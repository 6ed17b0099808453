"""Opening a Milvus that is not ours, and telling what goes wrong there in terms of that place."""

from __future__ import annotations

import base64
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from engine.errors import StoreError, WorkbenchError
from engine.knowledge.milvus_connection import embedded
from engine.knowledge.milvus_database import Database
from engine.knowledge.milvus_errors import Place as Called
from engine.knowledge.milvus_errors import no_database, translate
from plugins.connected.errors import (
    LOCKED,
    NO_ADDRESS,
    NO_FOLDER,
    SINGLE_FILE,
    TOKEN_REFUSED,
    UNKNOWN_DATABASE,
    UNREACHABLE,
    UNREADABLE,
)
from plugins.connected.values import Place

_LONGEST = 500
_SCHEMES = ("http", "https", "tcp")
_HOST = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]")
_KNOCK_S = 2.0
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy", "GRPC_PROXY", "HTTPS_PROXY", "HTTP_PROXY")
"""Variables under which the client reaches servers through a proxy."""
_DEFAULT_DATABASE = "default"


def checked_place(place: Place) -> Place:
    """The place with its address as it is kept: a server with scheme, a folder as a whole path; empty stays empty.

    User and password in an address become the token, so that no address can show them. Raises ``StoreError``, and
    ``UNKNOWN_DATABASE`` for a database in a folder, which has none.
    """
    address = place.address.strip()
    database = "" if place.database.strip() == _DEFAULT_DATABASE else place.database.strip()
    if not address:
        return Place("", "", database)
    if len(address) > _LONGEST or not address.isprintable():
        raise NO_ADDRESS(given=_without_login(address))
    if embedded(address):
        try:
            folder = Path(address).expanduser().absolute()
        except RuntimeError:  # the home of a user who is not there
            raise NO_FOLDER(path=address) from None
        if database:
            raise UNKNOWN_DATABASE(database=database, address=str(folder))
        return Place(str(folder))
    return _server(address, place.token, database)


def _server(address: str, token: str, database: str) -> Place:
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise NO_ADDRESS(given=_without_login(address)) from None
    # A bare word is more often a mistyped path than a host, so without a scheme the port must be there.
    named = "://" in address or port is not None
    shown_host = f"[{host}]" if ":" in host else host
    odd = parts.query or parts.fragment or "@" in parts.path
    if parts.scheme not in _SCHEMES or not _HOST.fullmatch(shown_host) or not named or odd:
        raise NO_ADDRESS(given=_without_login(address))
    login = unquote(parts.netloc.rpartition("@")[0])
    where = shown_host if port is None else f"{shown_host}:{port}"
    return Place(f"{parts.scheme}://{where}{parts.path.rstrip('/')}", token.strip() or login, database)


def _without_login(address: str) -> str:
    """The address as it may be shown: without what may be a user, a password or a token."""
    scheme, separator, rest = re.split("[?#]", address, maxsplit=1)[0].rpartition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def open_place(place: Place, timeout_s: float) -> Database:
    """The collections of a checked place, in its database; blocks for up to ``timeout_s``.

    Raises ``UNREACHABLE``, ``TOKEN_REFUSED``, ``LOCKED``, ``UNKNOWN_DATABASE``, ``StoreError``.
    """
    if embedded(place.address):
        # The client would make a folder that is not there.
        folder = Path(place.address)
        if folder.is_file():
            raise SINGLE_FILE(file=place.address)
        if not folder.is_dir():
            raise NO_FOLDER(path=place.address)
    elif not _listens(place.address, min(timeout_s, _KNOCK_S)):
        raise UNREACHABLE(address=place.address)
    with translated_errors(place):
        db = Database.connected(place.address, place.token, timeout_s, place.database)
        try:
            # A wrong token or database shows with the first call only.
            db.names()
        except BaseException:
            close_place(db)
            raise
    return db


def _listens(address: str, timeout_s: float) -> bool:
    """Return whether a server's address accepts connections; True if that cannot be known without the client.

    The client holds a lock over all its connections while it waits for one, so an address where no one is must not
    reach it: every other store, our own included, would wait as long.
    """
    parts = urlsplit(address)
    if parts.hostname is None or parts.port is None or any(os.environ.get(name) for name in _PROXIES):
        return True
    try:
        socket.create_connection((parts.hostname, parts.port), timeout_s).close()
    except OSError:
        return False
    return True


def close_place(db: Database) -> None:
    """Close the client; a folder's lock is given up with the last one. What fails here is of no use to anybody."""
    with suppress(Exception):
        db.close()


@contextmanager
def translated_errors(place: Place, collection: str = "") -> Iterator[None]:
    """Translate what the client raises into errors of that place, without the token in any of them."""
    try:
        yield
    except Exception as error:
        raise _translated(error, place, collection) from None


def _translated(error: Exception, place: Place, collection: str) -> WorkbenchError:
    if place.database and no_database(error):
        return UNKNOWN_DATABASE(database=place.database, address=place.address)
    ours = translate(error, Called(place.address, collection))
    if ours.code == StoreError.unreachable.code:
        return UNREACHABLE(address=place.address)
    if ours.code == StoreError.refused.code:
        return TOKEN_REFUSED(address=place.address)
    if ours.code == StoreError.locked.code:
        return LOCKED(path=place.address)
    if ours.code not in (StoreError.code, StoreError.unreadable.code):
        return ours
    why = _scrubbed(ours.params.get("why", "") or ours.fact, place.token)
    return UNREADABLE(name=collection or place.address, why=why)


def _scrubbed(text: str, token: str) -> str:
    """A foreign message without the token, should it repeat it."""
    # The last as it travels, in the header of every call.
    for secret in (token, token.partition(":")[2], base64.b64encode(token.encode()).decode()):
        if secret:
            text = text.replace(secret, "…")
    return text if text.endswith((".", ":", "!", "…")) else f"{text}."
