"""The engine of a worker on another machine: built from the settings of the process whose job it does."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from pydantic import SecretStr, TypeAdapter

from engine.distributed import Block, Performer, Recipe
from engine.people import WORKBENCH, Person, acting_as, current_user, signing_in
from engine.settings import Settings

_OWN = ("data_dir", "ray_address", "defaults")
"""Settings that a worker has itself, or has no use for."""


def with_engine(recipe: Recipe, settings: Settings, at_once: int) -> Recipe:
    """Return the builder of a recipe's performer in a worker, which has no engine yet, for the current user."""
    made = {"factory": recipe.factory, "arguments": dict(recipe.arguments)}
    job = {"settings": plain_settings(settings), "at_once": at_once, "person": plain_person()}
    return Recipe("plugins.cluster.worker_engine:WorkerEngine", made | job)


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
    """Return the current user as JSON-ready values for a worker; None without sign-in."""
    if not signing_in():
        return None
    person = asdict(current_user())
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in person.items()}


def acting_for(plain: Mapping[str, Any] | None) -> AbstractContextManager[None]:
    """Act for the person that :func:`plain_person` gave."""
    return nullcontext() if plain is None else acting_as(TypeAdapter(Person).validate_python(plain))


class WorkerEngine:
    """A performer over an engine with a folder of its own, which goes with it; it takes over no work of others."""

    def __init__(
        self,
        factory: str,
        arguments: Mapping[str, Any],
        settings: Mapping[str, Any],
        at_once: int,
        person: Mapping[str, Any] | None,
    ) -> None:
        from engine.engine import Engine

        self._folder = Path(tempfile.mkdtemp(prefix="workbench-worker-"))
        most = {"max_concurrent_runs": max(at_once, int(settings.get("max_concurrent_runs", 0)))}
        made = Settings(**{**settings, **most, "data_dir": self._folder, "ray_address": ""})
        self._engine = Engine(made, worker=True)
        self._performer: Performer = resolve_name(factory)(self._engine, **arguments)
        self._person = person

    def perform(self, block: Block) -> tuple[Any, bytes]:
        with acting_for(self._person):
            return self._performer.perform(block)

    def stop(self) -> None:
        self._performer.stop()

    def close(self) -> None:
        with acting_as(WORKBENCH):
            self._performer.close()
            self._engine.close()
        shutil.rmtree(self._folder, ignore_errors=True)
