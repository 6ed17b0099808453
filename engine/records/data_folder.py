"""The folder of everything that the program writes: that it can be written, and that it is still the same one."""

from __future__ import annotations

import tempfile
from pathlib import Path

from engine.errors import DataFolderGone, HostError


class DataFolder:
    """Made where it is missing, and remembered: a new folder under its name has nothing of the old one in it.

    Raises ``HostError.data_folder_unwritable`` where it cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HostError.data_folder_unwritable(path=str(path), why=error.strerror or type(error).__name__) from None
        self._identity = _identity(path)

    @property
    def gone(self) -> bool:
        """True if it was deleted, moved or replaced since."""
        return _identity(self._path) != self._identity

    def require(self) -> None:
        """Check that the folder is there; raises ``DataFolderGone`` where nothing written would be found again."""
        if self.gone:
            raise DataFolderGone(path=str(self._path))


def require_writable(path: Path) -> None:
    """Check that a file can be made in the folder, which is made where it is missing.

    Raises ``HostError.data_folder_unwritable``.
    """
    DataFolder(path)
    try:
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise HostError.data_folder_unwritable(path=str(path), why=error.strerror or type(error).__name__) from None


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
