"""What was measured of this host's chat models, in one small file of the data folder."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from engine.errors import HostNotesDamaged
from engine.host.values import ModelSpeed

_FORMAT = 1
_MOST = 64


class SpeedNotes:
    """Speeds by model and digest, newest first; safe from any thread.

    A file that cannot be read counts as empty and is said in :attr:`damage`; the next measurement replaces it. Writing
    is atomic. A model whose weights changed was not measured.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage: HostNotesDamaged | None = None
        self._guard = threading.Lock()
        self._speeds: tuple[ModelSpeed, ...] | None = None

    def all(self) -> tuple[ModelSpeed, ...]:
        with self._guard:
            return self._loaded()

    def of(self, model: str, digest: str) -> ModelSpeed | None:
        """What was measured of exactly these weights; providers without digests have the empty one."""
        return next((item for item in self.all() if (item.model, item.digest) == (model, digest)), None)

    def keep(self, speed: ModelSpeed) -> None:
        """Put a measurement in place of an older one of the same model; raises ``OSError`` where it cannot be kept."""
        with self._guard:
            others = [item for item in self._loaded() if item.model != speed.model]
            self._speeds = (speed, *others)[:_MOST]
            content = {"format": _FORMAT, "speeds": [asdict(item) for item in self._speeds]}
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part = self.path.with_suffix(f".{os.getpid()}.part")
            part.write_text(json.dumps(content, indent=1), encoding="utf-8")
            part.replace(self.path)
            self.damage = None

    def _loaded(self) -> tuple[ModelSpeed, ...]:
        if self._speeds is None:
            try:
                plain = json.loads(self.path.read_text(encoding="utf-8"))
                self._speeds = tuple(_speed(item) for item in plain["speeds"])
            except FileNotFoundError:
                self._speeds = ()
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                self.damage = HostNotesDamaged(path=str(self.path))
                self._speeds = ()
        return self._speeds


def _speed(plain: Any) -> ModelSpeed:
    """Read a measurement; raises ``ValueError`` for anything else."""
    speed = TypeAdapter(ModelSpeed).validate_python(plain)
    if not 1 <= speed.best_at_once <= 64:
        raise ValueError(speed.best_at_once)
    return speed
