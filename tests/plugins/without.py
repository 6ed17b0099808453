"""Run in a process of its own: the core without the plug-ins that arguments name, or without any."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

from engine import plugins as seam

PAGES = ("workbench", "runs", "tune", "knowledge", "system")


class Removed(MetaPathFinder):
    """Finds no module of what was removed."""

    def __init__(self, names: set[str]) -> None:
        self.folders = {f"plugins.{name}" for name in names}

    def find_spec(self, fullname: str, *_: object) -> None:
        if ".".join(fullname.split(".")[:2]) in self.folders:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def remove(names: set[str]) -> None:
    there = seam._folders
    seam._folders = lambda: [name for name in there() if name not in names]
    sys.meta_path.insert(0, Removed(names))


def check(folder: Path) -> None:
    from starlette.testclient import TestClient

    from engine.api import create_api
    from engine.api.process import use_engine
    from engine.cli.main import _parser
    from engine.engine import Engine
    from engine.settings import Settings
    from tests.pages.driving import opened

    with Engine.open(Settings.load(data_dir=folder, ollama_url="http://127.0.0.1:1")) as engine:
        engine.wait_until_ready()
        record = engine.run("When does a connected graph have an Euler circuit?")
        assert record.outcome == "answered" and record.citations
        use_engine(engine)
        for page in PAGES:
            opened(page)
        opened("system", part="programs")
        with TestClient(create_api(lambda: engine), base_url="http://127.0.0.1:8501") as client:
            told: dict[str, Any] = client.get("/health").json()
            assert told["status"] == "ok"
            assert client.get("/openapi.json").json()["paths"]
        assert {item.part for item in engine.host.health() if item.health == "down"} == {"ollama"}
    assert "serve" in _parser().format_help()


if __name__ == "__main__":
    folder, *names = sys.argv[1:]
    remove(set(names) or set(seam._folders()))
    check(Path(folder))
    print(sorted(plugin.name for plugin in seam.plugins()))
