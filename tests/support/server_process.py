"""A server in a process of its own that prints its port and stops when its standard input ends."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def server_process(
    name: str, command: Sequence[str], folder: Path, *, stop_s: float, env: Mapping[str, str] | None = None
) -> Iterator[int]:
    """The port of the server, which cannot outlive the tests however they end; its log is in ``folder``."""
    log = folder / "server.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | (env or {}),
        )
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port.isdigit(), f"the {name} server did not start: {port} {log.read_text()[-2000:]}"
            yield int(port)
        finally:
            process.communicate(timeout=stop_s)
