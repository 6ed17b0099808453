"""Opening and closing: one client for a server's address, or for the folder of an embedded store."""

from __future__ import annotations

import importlib
import json
import logging
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.errors import StoreError
from engine.knowledge.milvus_errors import Place, no_database, translate, translated_errors

Client = Any
"""A ``pymilvus.MilvusClient``; untyped because importing its class costs 2 s."""

_ON_THIS_MACHINE = {
    # A proxy set for the machine must not be asked for an address on this machine.
    "grpc.enable_http_proxy": 0,
    # The embedded server takes a ping in five minutes; with the client's ten seconds it hangs up on us again and again,
    # and gRPC writes that to the terminal.
    "grpc.keepalive_time_ms": 600_000,
    "grpc.keepalive_permit_without_calls": 0,
}
_open_folders: Counter[str] = Counter()
_folders_lock = threading.Lock()


def embedded(uri: str) -> bool:
    """Return whether the address is the folder of a Milvus Lite store, which the client tells by its suffix."""
    return uri.endswith(".db") and "://" not in uri


def connect(uri: str, token: str, timeout_s: float, database: str = "") -> Client:
    """A connected client, in a server's default database unless another is named.

    Blocks for up to ``timeout_s``, the first time also for the import (2 s).

    Raises ``StoreError.locked``, ``StoreError.unreadable``, ``StoreError.damaged``, ``StoreError.disk_full`` for a
    folder; ``StoreError.unreachable``, ``StoreError.refused`` for a server.
    """
    place = Place(uri)
    folder = Path(uri).absolute()
    if embedded(uri):
        # Before the client is imported, which takes seconds: damage is said at once.
        _check_described(folder)
    with translated_errors(place):
        pymilvus = importlib.import_module("pymilvus")
        # The client prints a traceback for every error that it also raises, and we translate what it raises.
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
        # Milvus Lite lacks a call that the client tries and does without; its server logs a traceback each time.
        logging.getLogger("grpc._server").setLevel(logging.CRITICAL)
        if not embedded(uri):
            try:
                return pymilvus.MilvusClient(uri, token=token, timeout=timeout_s, dedicated=True, db_name=database)
            except Exception as error:
                if database and no_database(error):
                    raise StoreError.database_missing(address=uri, database=database) from error
                raise
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _folders_lock, _reason_of_failure(place):
            client = pymilvus.MilvusClient(
                str(folder), timeout=timeout_s, dedicated=True, grpc_options=_ON_THIS_MACHINE
            )
            _open_folders[str(folder)] += 1
            return client


def make_database(uri: str, token: str, timeout_s: float, database: str) -> None:
    """Make a database of a server; one that another process made meanwhile is as good.

    Raises ``StoreError.database_missing`` where the account must not, or where the server has no room for one more.
    """
    client = connect(uri, token, timeout_s)
    try:
        client.create_database(database, timeout=timeout_s)
    except Exception as error:
        with translated_errors(Place(uri)):
            if database not in client.list_databases(timeout=timeout_s):
                raise StoreError.database_missing(address=uri, database=database) from error
    finally:
        disconnect(client, uri)


def disconnect(client: Client, uri: str) -> None:
    """Close a client; the last one of a folder also gives up the folder's lock."""
    with translated_errors(Place(uri)):
        client.close()
        if not embedded(uri):
            return
        folder = str(Path(uri).absolute())
        with _folders_lock:
            _open_folders[folder] -= 1
            if _open_folders[folder] <= 0:
                del _open_folders[folder]
                importlib.import_module("milvus_lite.server_manager").server_manager_instance.release_server(folder)


def _check_described(folder: Path) -> None:
    """Raise ``StoreError.damaged`` where what describes a collection is no JSON: the store would open without it."""
    for name in ("schema.json", "manifest.json"):
        for path in folder.glob(f"collections/*/{name}"):
            try:
                json.loads(path.read_bytes())
            except ValueError:
                raise StoreError.damaged(
                    path=str(folder), why=f"{path.parent.name}/{name} is not what it wrote."
                ) from None


@contextmanager
def _reason_of_failure(place: Place) -> Iterator[None]:
    """Tell why a folder could not be opened: the client only logs the reason and says "failed"."""
    reasons: list[BaseException] = []

    def catch(record: logging.LogRecord) -> bool:
        if record.exc_info and record.exc_info[1] is not None:
            reasons.append(record.exc_info[1])
        return False

    logger = logging.getLogger("milvus_lite.server_manager")
    logging.getLogger("milvus_lite").setLevel(logging.CRITICAL)
    logger.setLevel(logging.WARNING)
    logger.addFilter(catch)
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        raise translate(reasons[-1] if reasons else error, place) from error
    finally:
        logger.removeFilter(catch)
