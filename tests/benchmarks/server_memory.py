"""Resident memory of the process that listens at an address of this machine."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

_LISTENS = "0A"


def resident_mb(url: str) -> float | None:
    """Megabytes in use, pages of a mapped file included; None where the process is not here or cannot be seen."""
    address = urlsplit(url)
    if address.hostname not in ("127.0.0.1", "localhost") or address.port is None:
        return None
    try:
        sockets = _listening(address.port)
        owners = (process for process in Path("/proc").iterdir() if process.name.isdigit() and _holds(process, sockets))
        status = next(owners) / "status"
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    except (OSError, StopIteration):
        return None
    return int(line.split()[1]) / 1000


def _listening(port: int) -> set[str]:
    """The sockets that listen on a port, as the links of a process name them."""
    lines = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]]
    return {
        f"socket:[{cells[9]}]" for cells in lines if cells[3] == _LISTENS and int(cells[1].split(":")[1], 16) == port
    }


def _holds(process: Path, sockets: set[str]) -> bool:
    try:
        return any(str(link.readlink()) in sockets for link in (process / "fd").iterdir())
    except OSError:
        return False
