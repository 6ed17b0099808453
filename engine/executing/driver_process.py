"""The driver of a Ray cluster as a process of its own, started, told and heard from here."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from engine.executing.blocks import Block, Recipe
from engine.model.ending import killed
from engine.model.subprocesses import read_frame, write_frame
from engine.version import ROOT

_log = logging.getLogger(__name__)
_ENDING_S = 15.0


@dataclass(frozen=True, slots=True)
class Heard:
    """A message of a driver; of none where it comes from this process."""

    driver: DriverProcess | None
    head: Mapping[str, Any]
    data: bytes = b""


class DriverProcess:
    """One driver of one job; its end is heard as ``gone``."""

    def __init__(self, address: str, workers: int, at_once: int, recipe: Recipe) -> None:
        self._folder = tempfile.mkdtemp(prefix="ray-")
        self._begin = {
            "do": "start",
            "folder": self._folder,
            "address": address,
            "workers": workers,
            "at_once": at_once,
            "recipe": {"factory": recipe.factory, "arguments": dict(recipe.arguments)},
        }
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "engine.executing.driver"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Ray lets workers import from here; and what is pressed in a terminal is for the app alone.
            cwd=ROOT,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": path},
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self, inbox: SimpleQueue[Heard]) -> None:
        """Tell it what the job is, and put what it says into ``inbox``."""
        for name, work in (("heard", lambda: self._listen(inbox)), ("log", self._log)):
            threading.Thread(target=work, name=f"cluster-{name}", daemon=True).start()
        self._say(self._begin)

    def give(self, block: Block) -> None:
        self._say({"do": "block", "key": block.key, "work": dict(block.work)}, block.data)

    def stop(self) -> None:
        self._say({"do": "stop"})

    def end(self) -> None:
        """Let the workers go and wait for its end; one that takes too long is killed."""
        self._say({"do": "end"})
        stdin = self._process.stdin
        with suppress(OSError):
            assert stdin is not None
            stdin.close()
        try:
            self._process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            killed(self._process)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _say(self, head: dict[str, Any], data: bytes = b"") -> None:
        assert self._process.stdin is not None
        # Where it has ended, that is heard.
        with suppress(OSError, ValueError):
            write_frame(self._process.stdin, head, data)

    def _listen(self, inbox: SimpleQueue[Heard]) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stdout:
            while (frame := read_frame(stdout)) is not None:
                inbox.put(Heard(self, *frame))
        inbox.put(Heard(self, {"is": "gone"}))

    def _log(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stderr:
            for line in stderr:
                _log.debug("ray: %s", line.decode(errors="replace").rstrip())
