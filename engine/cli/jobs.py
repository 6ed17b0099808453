"""What commands share that follow a job, in this process or in the app that has the knowledge base open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from engine.running.running_app import RunningApp
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.engine import Engine


def app_with_the_store(settings: Settings) -> RunningApp | None:
    """The app that has the embedded knowledge base open; a Milvus server is shared, so there no one is asked."""
    return None if settings.milvus_uri else RunningApp.find(settings.data_dir)


def at_work(here: Callable[[Engine], Any], work: Callable[[Any], object]) -> int:
    """Give ``work`` the app that has the knowledge base open, else what ``here`` makes of an engine of this process."""
    settings = Settings.load()
    app = app_with_the_store(settings)
    if app is not None:
        work(app)
        return 0
    # Imported here: an app that does the work answers seconds before this could.
    from engine.engine import Engine

    with Engine.open(settings) as engine:
        work(here(engine))
    return 0


def job_over(job: Mapping[str, Any]) -> bool:
    """Whether a job, as plain values, has come to its end or was ended."""
    return job["state"] in ("done", "stopped", "failed", "interrupted")


def bar_on(console: Console) -> Progress:
    """The bar of something that is counted."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console)
