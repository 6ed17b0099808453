"""Every exception of the Milvus client, as one of ours.

The table is by class *name*, so that naming an error never costs the 2 s that importing the client takes.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from engine.errors import StoreError, UnknownCollection, WorkbenchError

Kind = Literal[
    "unreachable",
    "unknown",
    "refused",
    "full",
    "locked",
    "unreadable",
    "damaged",
    "half_made",
    "busy",
    "old_server",
    "failed",
]

BY_CLASS: Mapping[str, Kind] = {
    "MilvusException": "failed",
    "ParamError": "failed",
    "ConnectError": "unreachable",
    "MilvusUnavailableException": "unreachable",
    "CollectionNotExistException": "unknown",
    "DescribeCollectionException": "unknown",
    "PartitionAlreadyExistException": "failed",
    "IndexNotExistException": "failed",
    "AmbiguousIndexName": "failed",
    "CannotInferSchemaException": "failed",
    "SchemaNotReadyException": "failed",
    "DataTypeNotMatchException": "failed",
    "DataTypeNotSupportException": "failed",
    "DataNotMatchException": "failed",
    "SchemaMismatchRetryableException": "failed",
    "ConnectionNotExistException": "unreachable",
    "ConnectionConfigException": "unreachable",
    "PrimaryKeyException": "failed",
    "PartitionKeyException": "failed",
    "ClusteringKeyException": "failed",
    "FieldsTypeException": "failed",
    "FunctionsTypeException": "failed",
    "FieldTypeException": "failed",
    "AutoIDException": "failed",
    "InvalidConsistencyLevel": "failed",
    "ServerVersionIncompatibleException": "old_server",
    # Milvus Lite raises these inside our process while it opens its folder.
    "DataDirLockedError": "locked",
    "WALCorruptedError": "damaged",
    "ManifestCorruptedError": "damaged",
    "MilvusLiteError": "failed",
}
"""What each exception class means where neither its code nor its text says more."""

_BY_CODE: Mapping[int | str, Kind] = {
    100: "unknown",
    4: "unknown",
    2: "unreachable",
    8: "busy",
    9: "busy",
    1400: "refused",
    1401: "refused",
    "UNAVAILABLE": "unreachable",
    "DEADLINE_EXCEEDED": "unreachable",
    "UNIMPLEMENTED": "unreachable",
    "UNAUTHENTICATED": "refused",
    "PERMISSION_DENIED": "refused",
}
"""Server codes (numbers) and gRPC codes (names) that say more than the class."""

_BY_TEXT: tuple[tuple[str, Kind], ...] = (
    ("no space left", "full"),
    ("disk quota exceeded", "full"),
    ("received unimplemented", "unreachable"),
    ("auth check failure", "refused"),
    ("permission denied", "refused"),
    ("server unavailable", "unreachable"),
    ("channel closed", "unreachable"),
    # A server says so with a code of its own from some calls only.
    ("collection not found", "unknown"),
    ("can't find collection", "unknown"),
    # What the embedded store says of its own files; it passes on what reading them raised.
    ("file exists", "half_made"),
    ("codec can't decode", "damaged"),
    ("magic bytes", "damaged"),
    ("corrupt", "damaged"),
    ("pickled", "damaged"),
)


_NO_DATABASE_CODE = 800
_NO_DATABASE = re.compile(r"database .{0,200}(not found|does not exist)|database not found", re.DOTALL)
_DISK_FULL = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})  # no EDQUOT on Windows


@dataclass(frozen=True, slots=True)
class Place:
    """The target of a call: the address or folder of the store, and the collection if there is one."""

    address: str
    collection: str = ""


def _unknown(place: Place, why: str) -> StoreError:
    return UnknownCollection(name=place.collection) if place.collection else _failed(place, why)


def _failed(place: Place, why: str) -> StoreError:
    if place.collection:
        return StoreError.failed_at(address=place.address, collection=place.collection, why=why)
    return StoreError.failed(address=place.address, why=why)


_TELL: Mapping[Kind, Callable[[Place, str], StoreError]] = {
    "unreachable": lambda place, _: StoreError.unreachable(address=place.address),
    "unknown": _unknown,
    "refused": lambda place, _: StoreError.refused(address=place.address),
    "full": lambda place, _: StoreError.disk_full(path=place.address),
    "locked": lambda place, _: StoreError.locked(path=place.address),
    "damaged": lambda place, why: StoreError.damaged(path=place.address, why=why),
    "half_made": lambda place, _: StoreError.half_made(path=place.address),
    "unreadable": lambda place, why: StoreError.unreadable(path=place.address, why=why),
    "busy": lambda place, _: StoreError.busy(address=place.address),
    "old_server": lambda place, _: StoreError.old_server(address=place.address),
    "failed": _failed,
}


def kind_of(error: BaseException) -> Kind:
    """Classify a foreign exception; unmapped classes count as ``failed``."""
    if isinstance(error, OSError):
        return "full" if error.errno in _DISK_FULL else "unreadable"
    text = str(error).lower()
    code = _code_of(error)
    for sign, kind in _BY_TEXT:
        if sign in text:
            return kind
    if code is not None and code in _BY_CODE:
        return _BY_CODE[code]
    for cls in type(error).__mro__:
        if cls.__name__ in BY_CLASS:
            return BY_CLASS[cls.__name__]
    return "failed"


def translate(error: BaseException, place: Place) -> WorkbenchError:
    """One of our errors for any exception that came out of the client; ours pass through unchanged."""
    if isinstance(error, WorkbenchError):
        return error
    return _TELL[kind_of(error)](place, _why(error))


@contextmanager
def translated_errors(place: Place) -> Iterator[None]:
    """Translate everything raised inside; cancellation and interrupts pass."""
    try:
        yield
    except WorkbenchError:
        raise
    except Exception as error:
        raise translate(error, place) from error


def no_database(error: BaseException) -> bool:
    """Return whether a database that was named is not there, as the embedded store and servers word it."""
    return getattr(error, "code", None) == _NO_DATABASE_CODE or bool(_NO_DATABASE.search(str(error)))


def _code_of(error: BaseException) -> int | str | None:
    code = getattr(error, "code", None)
    if callable(code):  # a gRPC error has a method where the client's own exceptions have a number
        code = code()
    name = getattr(code, "name", None)
    if isinstance(name, str) and not isinstance(code, int):
        return name
    return code if isinstance(code, int) else None


def _why(error: BaseException) -> str:
    details = getattr(error, "details", None)
    text = getattr(error, "message", None) or (details() if callable(details) else None) or str(error)
    return " ".join(str(text).split())[:300] or type(error).__name__
