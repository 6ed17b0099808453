"""What can go wrong with the folder of everything that the program writes."""

from __future__ import annotations

from typing import Self

from engine.errors.base import WorkbenchError


class DataFolderGone(WorkbenchError):
    """It was deleted, moved or replaced while the program had it open."""

    code = "WB515"

    @classmethod
    def at(cls, path: str) -> Self:
        return cls(
            f"The data folder {path!r} was deleted, moved or replaced while the workbench was running; nothing more is "
            "written.",
            remedy="Put it back and restart the workbench; without it, restart and ingest your sources again.",
            params={"path": path},
        )


class DataFolderUnwritable(WorkbenchError):
    """Nothing can be written there."""

    code = "WB516"

    @classmethod
    def at(cls, path: str, why: str) -> Self:
        return cls(
            f"The data folder {path!r} cannot be written: {why}.",
            remedy="Make the folder writable, free some space, or point WORKBENCH_DATA_DIR at another folder.",
            params={"path": path, "why": why},
        )
