"""What a start does not wait for: tables and libraries that only some questions need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pages.parts.common.after_start import give_way

ROOT = Path(__file__).resolve().parents[2]
LATER = (
    "rjieba",
    "langgraph",
    "langchain_core",
    "pymilvus",
    "pandas",
    "scipy",
    "sklearn",
    "networkx",
    "faiss",
    "engine.replay.replay",
)


def said(script: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1]


def test_pages_are_served_before_anything_large_is_loaded_and_no_other_package_is_looked_at(
    tmp_path: Path,
) -> None:
    """In the process that was started: a second interpreter would import again what the first one had.

    The theme of Plotly is made for the first chart, and nothing reads what every package says of itself.
    """
    modules = (
        "streamlit, engine.engine, engine.api, engine.api.process, engine.cli.serve, pages.parts.common.after_start"
    )
    script = (
        "import os, sys\n"
        "from engine.cli.serve import import_streamlit, serve\n"
        "import_streamlit()\n"
        "import streamlit.web.cli as cli\n"
        "served = []\n"
        "cli.main = lambda **_: served.extend([os.getpid(), sys.argv[1], os.environ['STREAMLIT_SERVER_PORT']])\n"
        "serve()\n"
        f"import {modules}\n"
        f"at_the_start = [name for name in {('plotly.io', *LATER)!r} if name in sys.modules]\n"
        "from components.common.spans import Span\nfrom pages.parts.ask.trace import timeline_figure\n"
        "from components.common.i18n import words_for\n"
        "figure = timeline_figure((Span('retrieve', 'Retrieve', 'visit', 0, 1, 0, 'a', 'b'),), words_for('en'))\n"
        "from streamlit.elements.lib.streamlit_plotly_theme import CATEGORY_0\n"
        "themed = figure.layout.template.layout.colorway[0] == CATEGORY_0\n"
        "import importlib.metadata as metadata\n"
        "import app\n"
        "from streamlit.components.v2.component_manager import BidiComponentManager\n"
        "asked = []\n"
        "metadata.distributions = lambda: asked.append(1) or []\n"
        "BidiComponentManager().discover_and_register_components(start_file_watching=False)\n"
        "print(at_the_start, themed, asked, served == [os.getpid(), 'run', '8999'])"
    )
    assert said(script, WORKBENCH_PORT="8999", WORKBENCH_DATA_DIR=str(tmp_path)) == "[] True [] True"


STARTED = """
import ast, gc, json, sys
from pathlib import Path
from engine.engine import Engine
from engine.settings import Settings
from engine.flow import compiled
from pages.parts.common.after_start import finish_start

gc.disable()
with Engine.open(Settings.load()) as engine:
    before = engine.loading, engine.ready
    engine.wait_until_ready()
    first = before, engine.loading, engine.ready, compiled.cache_info().currsize
    passages = [item.passages for item in engine.collections()]
    segmented = "rjieba" in sys.modules
    finish_start(engine)
    ready = engine.ready
import inspect
from components.picture.layout import layout_of
from engine.model.values.record import record_adapter
from engine.records import codec

kept = [call.cache_info().currsize for call in (layout_of, codec._events, record_adapter)]
looked = len(inspect.modulesbyfile) > 900
later = {"streamlit.emojis", "rjieba", "PIL.Image"} - set(sys.modules)
names = ["_shell", "workbench", "runs", "tune", "knowledge", "system"]
scripts = [ast.parse(Path("pages", name + ".py").read_text()) for name in names]
wanted = {line.module for script in scripts for line in script.body if isinstance(line, ast.ImportFrom)}
later |= wanted - set(sys.modules)
finished = ready, gc.isenabled(), gc.get_freeze_count() > 0, sorted(later), kept, looked
print(json.dumps({"first": first, "samples": (passages, segmented), "finished": finished}))
"""
"""A first start up to where questions are answered, and then what follows it."""


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    folder = str(tmp_path_factory.mktemp("started"))
    found: dict[str, list[Any]] = json.loads(
        said(STARTED, WORKBENCH_DATA_DIR=folder, WORKBENCH_OLLAMA_URL="http://127.0.0.1:1")
    )
    return found


def test_what_the_first_question_needs_is_loaded_when_the_start_says_so(started: dict[str, list[Any]]) -> None:
    assert started["first"] == [[["knowledge_base", "workflow"], False], [], True, 1]


def test_a_first_start_segments_nothing(started: dict[str, list[Any]]) -> None:
    """The samples are copied: neither their words nor those of their graph are looked up in a dictionary."""
    assert started["samples"] == [[252], False]


def test_after_the_start_pages_have_their_imports_and_garbage_is_collected_again(started: dict[str, list[Any]]) -> None:
    assert started["finished"] == [True, True, True, [], [3, 1, 1], True]


class Busy:
    """An engine whose run is over after some looks."""

    def __init__(self, looks: int) -> None:
        self.left = looks

    def active_runs(self) -> int:
        self.left -= 1
        return int(self.left > 0)


def test_a_run_that_has_begun_goes_before_what_is_imported_for_pages() -> None:
    soon, never = Busy(3), Busy(10**9)
    give_way(soon, time.monotonic() + 60)  # type: ignore[arg-type]
    assert soon.left == 0
    give_way(never, time.monotonic())  # type: ignore[arg-type]
    assert never.left == 10**9 - 1
