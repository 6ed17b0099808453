"""Secrets in a database that several machines share, encrypted with a key that the database does not have."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select, update

from engine.database.base import Database, put
from engine.database.tables import CONNECTIONS, SECRET_CHECKS
from engine.settings import Settings, usable_key
from plugins.connected.errors import SecretKeyUnfit

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

KEY_FILE = "secret.key"
_ONE = "key"
_KNOWN = b"the secrets here are encrypted with this key"


class Sealing:
    """Encrypts with ``WORKBENCH_SECRET_KEY``, or with a key of this machine that is made for the first secret.

    The database keeps a value by which a key is known to be the one of its secrets. Of several keys the first encrypts
    and all decrypt; what an older one encrypted is encrypted again by :meth:`renew`. Safe from any thread.
    """

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._given = settings.secret_keys
        self._file = settings.data_dir / KEY_FILE
        self._checked: tuple[str, MultiFernet] | None = None

    def seal(self, connection: Connection, secret: str) -> str:
        """Encrypt; of an empty one nothing is kept. Raises ``SecretKeyUnfit``."""
        if not secret:
            return ""
        ring = self._ring(connection) or self._begun(connection)
        return ring.encrypt(secret.encode()).decode()

    def open(self, connection: Connection, sealed: str) -> str:
        """Decrypt what :meth:`seal` gave; raises ``SecretKeyUnfit``."""
        if not sealed:
            return ""
        ring = self._ring(connection)
        if ring is None:
            raise self._unfit()
        from cryptography.fernet import InvalidToken

        try:
            return ring.decrypt(sealed).decode()
        except InvalidToken:
            raise self._unfit() from None

    def renew(self) -> None:
        """Encrypt all secrets with the first key where an older one was used; raises ``SecretKeyUnfit``."""
        with self._database.reading() as connection:
            if self._is_current(connection):
                return
        with self._database.writing() as connection:
            # Locked, so that of several replicas one does it.
            check = connection.scalar(select(SECRET_CHECKS.c.value).with_for_update())
            ring = self._ring(connection)
            if ring is None or check is None or self._is_current(connection):
                return
            for name, sealed in connection.execute(select(CONNECTIONS.c.name, CONNECTIONS.c.secret)).all():
                if sealed:
                    renewed = ring.rotate(sealed).decode()
                    connection.execute(update(CONNECTIONS).where(CONNECTIONS.c.name == name).values(secret=renewed))
            connection.execute(update(SECRET_CHECKS).values(value=ring.rotate(check).decode()))

    def _is_current(self, connection: Connection) -> bool:
        """Return whether the first key encrypted what is there, or there is nothing."""
        check = connection.scalar(select(SECRET_CHECKS.c.value))
        keys = self._keys()
        return check is None or not keys or _fits(_ring_of(keys[:1]), check)

    def _ring(self, connection: Connection) -> MultiFernet | None:
        """The keys, which decrypt the value that the database keeps; None where it has none yet."""
        check = connection.scalar(select(SECRET_CHECKS.c.value))
        if check is None:
            return None
        if self._checked is None or self._checked[0] != check:
            keys = self._keys()
            if not keys or not _fits(ring := _ring_of(keys), check):
                raise self._unfit()
            self._checked = (check, ring)
        return self._checked[1]

    def _begun(self, connection: Connection) -> MultiFernet:
        """The keys, after the database was given the value to know them by."""
        ring = _ring_of(self._keys() or (_made(self._file),))
        put(connection, SECRET_CHECKS, {"id": _ONE, "value": ring.encrypt(_KNOWN).decode()}, changes=())
        # Another replica may have been first.
        return self._ring(connection) or ring

    def _keys(self) -> tuple[str, ...]:
        if self._given:
            return self._given
        try:
            return (_read(self._file),)
        except FileNotFoundError:
            return ()

    def _unfit(self) -> SecretKeyUnfit:
        return SecretKeyUnfit.of_another(place=self._database.place, file=KEY_FILE)


def _ring_of(keys: Iterable[str]) -> MultiFernet:
    # Imported where a secret is kept: it comes with an extra.
    try:
        from cryptography.fernet import Fernet, MultiFernet
    except ImportError:
        raise SecretKeyUnfit.no_package() from None
    return MultiFernet([Fernet(key) for key in keys])


def _fits(ring: MultiFernet, check: str) -> bool:
    from cryptography.fernet import InvalidToken

    with suppress(InvalidToken):
        return ring.decrypt(check) == _KNOWN
    return False


def _made(path: Path) -> str:
    """A new key in a file that its owner alone can read; that of another process where one was quicker."""
    part = path.with_suffix(f".{os.getpid()}.part")
    key = base64.urlsafe_b64encode(os.urandom(32)).decode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(f"{key}\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(part, path)
        part.unlink()
    except OSError as error:
        raise SecretKeyUnfit.not_kept(path=str(path), why=error.strerror or type(error).__name__) from None
    return _read(path)


def _read(path: Path) -> str:
    """Read the key of a file; raises ``FileNotFoundError`` where there is none, ``SecretKeyUnfit``."""
    try:
        return usable_key(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise SecretKeyUnfit.not_kept(path=str(path), why=error.strerror or type(error).__name__) from None
    except ValueError:
        raise SecretKeyUnfit.not_kept(path=str(path), why="it holds no key") from None
