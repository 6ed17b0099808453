"""Starting the app at a free port: the one command that must not wait for the imports of the others."""

from __future__ import annotations

import argparse
import errno
import gc
import hmac
import os
import runpy
import shlex
import socket
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from importlib import import_module
from itertools import chain
from pathlib import Path

from engine.errors import HostError, InvalidSettings
from engine.plugins import plugins
from engine.records.data_folder import require_writable
from engine.running.running_app import RunningApp
from engine.settings import Settings
from engine.version import INSTALLED, PROGRAM, ROOT

_FIRST_PORT, _LAST_PORT = 1024, 65535
"""Below, ports are the administrator's."""
_LISTENING = "0A"
"""State of a listening socket in ``/proc/net/tcp``."""
_SHOWN = 60


def serve(arguments: Sequence[str] = ()) -> int:
    """Be the app, pages and HTTP API, on the host and port named or those of the settings, until it is ended.

    Raises ``InvalidSettings``, and ``HostError`` for an unwritable data folder, a port in use or a second app.
    """
    parser = argparse.ArgumentParser(prog=f"{PROGRAM} serve", description="Serve pages and HTTP API.")
    add_options(parser)
    return _serve(parser.parse_args(arguments))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add host and port; those left out come from the settings."""
    parser.add_argument("--host", help="address to listen on; default: WORKBENCH_HOST, else 127.0.0.1")
    parser.add_argument("--port", help="port to listen on; default: WORKBENCH_PORT, else 8501")
    parser.set_defaults(command=_serve)


def _serve(options: argparse.Namespace) -> int:
    # As variables: the pages load the settings again, in this process.
    named = {"WORKBENCH_HOST": options.host, "WORKBENCH_PORT": options.port}
    os.environ |= {name: value for name, value in named.items() if value is not None}
    if not INSTALLED:
        # A checkout has its settings, its secrets and its data in its own folder.
        os.chdir(ROOT)
    settings = Settings.load()
    require_writable(settings.data_dir)
    _require_unserved(settings)
    require_free(settings.host, settings.port)
    _require_packages(settings)
    print(f"Self-Corrective RAG Workbench: {settings.address}", flush=True)
    print(f"Data: {settings.data_dir.resolve()}", flush=True)
    os.environ |= {"STREAMLIT_SERVER_ADDRESS": settings.host, "STREAMLIT_SERVER_PORT": str(settings.port)}
    if ":" in settings.host:
        os.environ.setdefault("STREAMLIT_BROWSER_SERVER_ADDRESS", f"[{settings.host}]")
    if secret := cookie_secret(settings):
        os.environ.setdefault("STREAMLIT_SERVER_COOKIE_SECRET", secret)
    # A start makes a million objects and hardly any garbage: looking through them again and again for cycles takes a
    # fifth of it. Collected again after the start (pages/parts/common/after_start.py).
    gc.disable()
    import_streamlit()
    # In this process: a second interpreter would import again what this one has, which takes a third of a second.
    sys.argv = ["streamlit", "run", str(ROOT / "app.py")]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    return 0


def _require_packages(settings: Settings) -> None:
    """Raise the app's error for a missing package before any address is printed."""
    # Each is imported by the app too, and only where the settings ask for it.
    for plugin in plugins():
        if plugin.check is not None:
            plugin.check(settings)
    if settings.database_url.get_secret_value():
        from engine.database.databases import Databases

        Databases.of(settings).close()


def _require_unserved(settings: Settings) -> None:
    """Raise ``HostError.already_served`` where an app that answers has the embedded store of the data folder open."""
    folder = settings.data_dir
    app = None if settings.milvus_uri else RunningApp.find(folder)
    if app is not None:
        other = shlex.quote(f"{folder}-2")
        raise HostError.already_served(
            path=str(folder), url=app.url, other=other, port=next_free(settings.host, settings.port - 1)
        )


def cookie_secret(settings: Settings) -> str:
    """Return the key that signs Streamlit's cookies, derived from the replicas' key; empty if there is none.

    Without the same in all of them, an upload fails after a browser has changed its replica.
    """
    key = settings.secret_keys[0] if settings.secret_keys else ""
    return hmac.digest(key.encode(), b"cookies of pages", "sha256").hex() if key else ""


def import_streamlit() -> None:
    """Import it without its theme for Plotly, a tenth of a second: ``components.common.plotly_theme`` makes it."""
    # What is None cannot be imported; Streamlit does without.
    sys.modules["plotly"] = None  # type: ignore[assignment]
    try:
        import_module("streamlit")
    finally:
        del sys.modules["plotly"]


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
