"""The port that the app is to listen on: whether it is free, what holds it if not, and the next free one."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path

from engine.errors import HostError, InvalidSettings

_FIRST_PORT, _LAST_PORT = 1024, 65535
"""Below, ports are the administrator's."""
_LISTENING = "0A"
"""State of a listening socket in ``/proc/net/tcp``."""
_SHOWN = 60


def require_free(host: str, port: int) -> None:
    """Raise ``HostError`` for a port in use, ``InvalidSettings`` for an address or a port that is not ours to take."""
    try:
        _listen(host, port)
        return
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            name = "WORKBENCH_PORT" if error.errno == errno.EACCES else "WORKBENCH_HOST"
            raise InvalidSettings.unusable(name=name, why=(error.strerror or str(error)).lower()) from None
    free, holder = next_free(host, port), held_by(port)
    if holder is None:
        raise HostError.port_in_use(port=port, free=free)
    raise HostError.port_in_use_by(port=port, free=free, pid=holder[0], holder=holder[1])


def next_free(host: str, port: int) -> int:
    """The first port above this one that can be listened on; where there is none, the first of all others."""
    ports: Iterable[int] = chain(range(port + 1, _LAST_PORT + 1), range(_FIRST_PORT, port))
    for candidate in ports:
        with suppress(OSError):
            _listen(host, candidate)
            return candidate
    return port


def held_by(port: int) -> tuple[int, str] | None:
    """Process and program that listen on a port; None where this system, or the rights of who asks, do not tell."""
    sockets = {f"socket:[{inode}]" for inode in _listening_on(port)}
    for folder in Path("/proc").glob("[0-9]*/fd") if sockets else ():
        with suppress(OSError):
            if any(os.readlink(entry) in sockets for entry in folder.iterdir()):
                said = (folder.parent / "cmdline").read_bytes().decode(errors="replace")
                return int(folder.parent.name), " ".join(said.split("\0")).strip()[:_SHOWN]
    return None


def _listening_on(port: int) -> Iterator[str]:
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in Path(f"/proc/net/{name}").read_text(encoding="ascii").splitlines()[1:]:
                local, state, inode = (line.split()[place] for place in (1, 3, 9))
                if state == _LISTENING and int(local.rpartition(":")[2], 16) == port:
                    yield inode


def _listen(host: str, port: int) -> None:
    """Listen there for a moment, as the web server will; raises ``OSError``."""
    family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with closing(socket.socket(family, kind, protocol)) as tried:
        if os.name == "posix":
            # A connection that has just ended holds no port.
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tried.bind(place)
        tried.listen(1)
