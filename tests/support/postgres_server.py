"""A real PostgreSQL for the tests, from Debian's packages, with a database of its own for each test.

``WORKBENCH_TEST_POSTGRES_URL`` names a server that is there already (``postgresql://user:password@host:port``), whose
user may create databases. Otherwise the programs of the package ``postgresql`` make a cluster in a folder that goes
with the test session. PostgreSQL refuses to run as root, so root runs it as the user ``postgres`` that the package
brings.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.ports import free_port

URL_VARIABLE = "WORKBENCH_TEST_POSTGRES_URL"
_OPTIONS = {"fsync": "off", "max_connections": "200", "listen_addresses": "127.0.0.1"}
_START_S = 60


def programs() -> Path | None:
    """The folder with ``initdb`` and ``postgres``; None where PostgreSQL is not installed."""
    found = shutil.which("initdb")
    folders = (
        [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    )
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


def missing() -> str:
    """Why no server can be tested against here; empty where one can."""
    if os.environ.get(URL_VARIABLE) or programs() is not None:
        return ""
    return f"no PostgreSQL: set {URL_VARIABLE}, or install the package postgresql"


@dataclass(slots=True)
class Server:
    """A server that can be killed and started again."""

    folder: Path
    port: int
    url: str
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def start(self) -> None:
        """Start the server and wait until it takes connections."""
        options = [part for name, value in _OPTIONS.items() for part in ("-c", f"{name}={value}")]
        command = [*_as_user(), _program("postgres"), "-D", str(self.folder / "data"), "-p", str(self.port)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen([*command, "-k", str(self.folder), *options], stdout=log, stderr=log)
        ready = [_program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port), "-t", "1"]
        for _ in range(_START_S * 20):
            if subprocess.run(ready, check=False).returncode == 0:
                return
            try:
                self._process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
            break
        raise RuntimeError(f"PostgreSQL did not start: {(self.folder / 'log').read_text(errors='replace')[-2000:]}")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server: at once and in order by SIGINT, as a crash by SIGQUIT."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(_START_S)
            self._process = None

    def kill(self) -> None:
        """End every process of the server at once, as a machine that loses its power."""
        assert self._process is not None
        for process in self._processes():
            # One that learnt of the end of the others may be gone before.
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._process.wait(_START_S)
        self._process = None

    @contextmanager
    def halted(self) -> Iterator[None]:
        """Meanwhile it keeps its connections and answers nothing."""
        processes = self._processes()
        try:
            for process in processes:
                os.kill(process, signal.SIGSTOP)
            yield
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)

    def _processes(self) -> list[int]:
        """All of the server; the one that starts the others first, since it starts no more once it is stopped."""
        assert self._process is not None
        main = self._process.pid
        children = Path(f"/proc/{main}/task/{main}/children").read_text(encoding="ascii").split()
        return [main, *map(int, children)]

    @contextmanager
    def database(self) -> Iterator[str]:
        """The address of an empty database, which is dropped at the end."""
        import psycopg

        name = f"test_{uuid.uuid4().hex}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        try:
            yield f"{self.url.rpartition('/')[0]}/{name}"
        finally:
            with psycopg.connect(self.url, autocommit=True) as connection:
                connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())


@contextmanager
def running(*, own: bool = False) -> Iterator[Server]:
    """A server, started unless the environment names one; with ``own`` in any case, so that it can be stopped."""
    given = "" if own else os.environ.get(URL_VARIABLE)
    if given:
        yield Server(Path(), 0, f"{given.rstrip('/')}/postgres")
        return
    # Not in pytest's own folder, which other users cannot enter; and in memory where that is a folder: each database
    # is three hundred files, which took a fifth of the processor time of all tests while these ran.
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="workbench-postgres-", dir=memory if os.access(memory, os.W_OK) else None))
    try:
        folder.chmod(0o755)
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        made = [*_as_user(), _program("initdb"), "-D", str(folder / "data"), "-U", "workbench", "-A", "trust"]
        subprocess.run([*made, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"], check=True, capture_output=True)
        server = Server(folder, free_port(), "")
        server.url = f"postgresql://workbench@127.0.0.1:{server.port}/postgres"
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _program(name: str) -> str:
    folder = programs()
    assert folder is not None, missing()
    return str(folder / name)


def _as_user() -> list[str]:
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", "--pdeathsig", "QUIT"]
