"""The engine of a worker on another machine: made of the settings of the process whose job it does."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Coroutine, Mapping
from dataclasses import asdict
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeVar

from pydantic import SecretStr, TypeAdapter

from engine.executing.blocks import Block, Performer
from engine.people import WORKBENCH, Person, acting, acting_as, signing_in
from engine.settings import Settings

T = TypeVar("T")
_OWN = ("data_dir", "ray_address", "defaults")
"""Settings that a worker has itself, or has no use for."""


def plain_settings(settings: Settings) -> dict[str, Any]:
    """The settings as JSON-ready values for a worker, secrets in plain text: what is not set stays not set."""
    named = {name: getattr(settings, name) for name in settings.model_fields_set if name not in _OWN}
    plain = {name: _plain(value) for name, value in named.items()}
    # What one machine learns of a server by trying, the others do not know: the limit of all of them counts instead.
    return {"grader_concurrency": settings.grader_concurrency, "embedding_threads": 1, **plain}


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value


def plain_person() -> dict[str, Any] | None:
    """Who acts now, as JSON-ready values for a worker; None where nobody signs in."""
    if not signing_in():
        return None
    person = asdict(acting())
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in person.items()}


def acting_for(plain: Mapping[str, Any] | None, performer: Performer) -> Performer:
    """A performer that acts for whoever began the job."""
    return performer if plain is None else _Acting(TypeAdapter(Person).validate_python(plain), performer)


class _Acting:
    def __init__(self, person: Person, performer: Performer) -> None:
        self._person = person
        self._performer = performer

    def perform(self, block: Block) -> tuple[Any, bytes]:
        with acting_as(self._person):
            return self._performer.perform(block)

    def stop(self) -> None:
        self._performer.stop()

    def close(self) -> None:
        with acting_as(WORKBENCH):
            self._performer.close()


class WorkerEngine:
    """An engine with a folder of its own, which goes with it; it takes over no work of others."""

    def __init__(self, settings: Mapping[str, Any], at_once: int) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="workbench-worker-"))
        most = {"max_concurrent_runs": max(at_once, int(settings.get("max_concurrent_runs", 0)))}
        made = Settings(**{**settings, **most, "data_dir": self._folder, "ray_address": ""})
        # By its name: whoever knows the engine knows the rooms that give it work.
        self.engine = resolve_name("engine.engine:Engine")(made, worker=True)

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of work with the engine's resources, done on its loop."""
        result: T = self.engine._loop.call(work)
        return result

    def close(self) -> None:
        self.engine.close()
        shutil.rmtree(self._folder, ignore_errors=True)
