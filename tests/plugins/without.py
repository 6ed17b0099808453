"""Run in a process of its own: the core without each of its plug-ins, and without any, each time in a fork.

The core imports no plug-in, so that it is imported once for all forks; each finds plug-ins by itself.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from importlib import import_module
from importlib.abc import MetaPathFinder
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from starlette.testclient import TestClient
from streamlit.components.v2 import manifest_scanner

import components
from engine import plugins as seam
from engine.api import create_api
from engine.api.process import use_engine
from engine.cli.main import _parser
from engine.engine import Engine
from engine.errors import HostError, InvalidSettings
from engine.model.config import RunConfig
from engine.settings import Settings
from pages import parts
from tests.pages.driving import inline, opened, visible

KEPT = {
    "format": 1,
    "connections": [
        {
            "address": "/nowhere/theirs.db",
            "token": "",
            "database": "",
            "name": "wiki",
            "collection": "theirs",
            "fields": {"id": "pk", "text": "text", "vector": "v", "source": "", "title": "", "section": ""},
            "dim": 384,
            "metric": "L2",
            "embedding_model": "hashing",
            "query_prefix": "",
            "passage_prefix": "",
            "connected_at": "2026-01-01T00:00:00+00:00",
        }
    ],
}
"""What the plug-in connected has kept."""
PAGES = ("workbench", "runs", "tune", "knowledge", "system")

_LATE = ("faiss", "grpc", "httpcore", "langgraph.graph", "milvus_lite", "pandas", "pymilvus", "scipy.sparse")
"""What the core imports late, most of the time that a fork would take; none of them starts a thread."""


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
    folder.mkdir()
    (folder / "connections.json").write_text(json.dumps(KEPT), encoding="utf-8")
    with Engine.open(Settings.load(data_dir=folder, ollama_url="http://127.0.0.1:1")) as engine:
        engine.wait_until_ready()
        record = engine.run("When does a connected graph have an Euler circuit?")
        assert record.outcome == "answered" and record.citations
        use_engine(engine)
        check_connected(engine)
        for page in PAGES:
            opened(page)
        opened("system", part="programs")
        named = "part of the plug-in `team`" in visible(opened("system", part="people"))
        assert named == ("team" not in seam._folders())
        with TestClient(create_api(lambda: engine), base_url="http://127.0.0.1:8501") as client:
            health: dict[str, Any] = client.get("/health").json()
            assert health["status"] == "ok"
            assert client.get("/openapi.json").json()["paths"]
        assert {item.part for item in engine.host.health() if item.health == "down"} == {"ollama", "connection"}
    assert "serve" in _parser().format_help()


def refuse_a_database(folder: Path) -> None:
    """Files that are empty would look as if all records were lost (TM-01)."""
    settings = Settings.load(data_dir=folder, database_url="postgresql://127.0.0.1:1/records")
    with pytest.raises(InvalidSettings, match=r"WORKBENCH_DATABASE_URL is set, .* plug-in team") as refused:
        Engine.open(settings)
    assert "leave WORKBENCH_DATABASE_URL empty" in refused.value.remedy
    assert not list(folder.glob("*.db"))


def check_connected(engine: Engine) -> None:
    """A collection that the plug-in connected reads stays in the list, and a run over it opens."""
    here = any(plugin.name == "connected" for plugin in seam.plugins())
    fault = next(info.fault for info in engine.collections() if info.name == "wiki")
    record = engine.record(engine.run("What is there?", RunConfig(collection="wiki")).id)
    assert fault is not None and record.error is not None and record.config.collection == "wiki"
    assert (fault.code == record.reason == HostError.collection_without_plugin.code) is not here
    if not here:
        assert "plug-in connected" in fault.fact
        assert fault.fact in inline(opened("knowledge", view="collections", collection="wiki"))


def without(name: str, folder: Path) -> None:
    """End this process with 0 where the core works; what else is there is in ``folder``, and what went wrong."""
    folder.mkdir()
    code = 1
    try:
        remove(set(seam._folders()) if name == "all" else {name})
        check(folder / "data")
        if name in ("team", "all"):
            refuse_a_database(folder / "refused")
        (folder / "there.json").write_text(json.dumps([plugin.name for plugin in seam.plugins()]), encoding="utf-8")
        code = 0
    except BaseException:
        (folder / "fault.txt").write_text(traceback.format_exc(), encoding="utf-8")
    finally:
        os._exit(code)


def main() -> None:
    base, *names = sys.argv[1:]
    # Nothing here is worth a search for garbage, and in a fork it would copy each page of memory that it looks at.
    gc.disable()
    own = [
        module.name
        for folder in (components, parts)
        for module in walk_packages(folder.__path__, f"{folder.__name__}.")
    ]
    for name in (*_LATE, *own):
        import_module(name)
    # As in the app: reading what all installed packages say of themselves takes longer than a page.
    manifest_scanner.scan_component_manifests = lambda max_workers=None: []
    assert not seam._loaded.cache_info().currsize and not any(name.startswith("plugins.") for name in sys.modules)
    for name in names:
        child = os.fork()
        if not child:
            without(name, Path(base) / name)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
