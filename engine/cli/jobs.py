"""``python -m engine jobs``, and what commands share that follow a job, here or in the app that is running."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from engine.running.running_app import RunningApp, at
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.engine import Engine


def add_jobs(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command ``jobs``."""
    meaning = "list jobs of every kind: running, waiting, interrupted, and the last ones that ended"
    jobs = commands.add_parser("jobs", help=meaning, description=f"{meaning.capitalize()}.")
    jobs.add_argument("--json", action="store_true", help="print them as GET /api/jobs has them")
    jobs.set_defaults(command=_jobs)


def _jobs(options: argparse.Namespace) -> int:
    def show(job: Any, console: Console) -> None:
        share = f" {job['done']}/{job['total']}" if job["total"] else ""
        why = f"  {job['fault']['fact']}" if job["fault"] else ""
        line = f"{job['id']}  {job['kind']} {job['title']}  {job['state']}{share}{why}"
        console.print(line, markup=False, highlight=False)

    return print_list(options, at("jobs"), show)


def print_list(options: argparse.Namespace, path: str, show: Callable[[Any, Console], None]) -> int:
    """Show each item of the list at a path, or print the list as JSON where that was asked for."""

    def work(app: RunningApp) -> None:
        found = app.listed(path)
        if options.json:
            print(json.dumps(found, ensure_ascii=False, indent=2))
            return
        console = Console(soft_wrap=True)
        for item in found:
            show(item, console)

    return at_work(work)


def app_with_the_store(settings: Settings) -> RunningApp | None:
    """The app that has the embedded knowledge base open; a Milvus server is shared, so there no one is asked."""
    return None if settings.milvus_uri else RunningApp.find(settings.data_dir)


def at_work(work: Callable[[RunningApp], int | None]) -> int:
    """Give ``work`` the app that has the knowledge base open, else this process as one; returns the exit code."""
    settings = Settings.load()
    app = app_with_the_store(settings)
    if app is not None:
        return work(app) or 0
    # Imported here: an app that does the work answers seconds before this could.
    from engine.engine import Engine

    with Engine.open(settings) as engine:
        engine.wait_until_ready()
        return work(own_app(engine)) or 0


def own_app(engine: Engine) -> RunningApp:
    """The API of an engine of this process, without a server."""
    from engine.api import create_api

    return _OwnApp(api=create_api(lambda: engine))


@dataclass(frozen=True)
class _OwnApp(RunningApp):
    url: str = "http://127.0.0.1"
    api: Any = None
    """The ``FastAPI`` of the engine."""

    def _send(self, method: str, path: str, body: Any = None, *, timeout_s: float | None = None) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(self.api, root_path="/api")
            async with httpx.AsyncClient(transport=transport, base_url=self.url, timeout=timeout_s) as client:
                return await client.request(method, path, json=body)

        return asyncio.run(asked())


def job_over(job: Mapping[str, Any]) -> bool:
    """Return whether a job, as plain values, has come to its end or was ended."""
    return job["state"] in ("done", "stopped", "failed", "interrupted")


def bar_on(console: Console) -> Progress:
    """The bar of something that is counted."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console)
