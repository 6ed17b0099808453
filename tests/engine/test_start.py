"""What a start does not wait for: tables and libraries that only some questions need."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

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


def test_pages_are_served_before_tables_of_words_and_large_libraries_are_loaded() -> None:
    modules = (
        "streamlit, engine.engine, engine.api, engine.running.process, engine.cli.serve, pages.parts.common.after_start"
    )
    assert said(f"import sys, {modules}; print([name for name in {LATER!r} if name in sys.modules])") == "[]"


def test_the_app_is_served_by_the_process_that_was_started(tmp_path: Path) -> None:
    """A second interpreter would import again what the first one had."""
    script = (
        "import os, sys, streamlit.web.cli as cli\n"
        "first = os.getpid()\n"
        "cli.main = lambda **_: print(os.getpid() == first, sys.argv[1], os.environ['STREAMLIT_SERVER_PORT'])\n"
        "from engine.cli.serve import serve\n"
        "serve()\n"
    )
    assert said(script, WORKBENCH_PORT="8999", WORKBENCH_DATA_DIR=str(tmp_path)) == "True run 8999"


def test_the_theme_of_plotly_is_made_for_the_first_chart_and_not_at_the_start() -> None:
    script = (
        "import sys\n"
        "from engine.cli.serve import import_streamlit\n"
        "import_streamlit()\n"
        "at_the_start = 'plotly.io' in sys.modules\n"
        "from components.ask.timeline import Span, timeline_figure\n"
        "from components.common.i18n import words_for\n"
        "figure = timeline_figure((Span('retrieve', 'Retrieve', 'visit', 0, 1, 0, 'a', 'b'),), words_for('en'))\n"
        "from streamlit.elements.lib.streamlit_plotly_theme import CATEGORY_0\n"
        "print(at_the_start, figure.layout.template.layout.colorway[0] == CATEGORY_0)"
    )
    assert said(script) == "False True"


def test_the_start_does_not_read_what_every_installed_package_says_of_itself(tmp_path: Path) -> None:
    script = (
        "import importlib.metadata as metadata\n"
        "import app\n"
        "from streamlit.components.v2.component_manager import BidiComponentManager\n"
        "asked = []\n"
        "metadata.distributions = lambda: asked.append(1) or []\n"
        "BidiComponentManager().discover_and_register_components(start_file_watching=False)\n"
        "print(asked)"
    )
    assert said(script, WORKBENCH_DATA_DIR=str(tmp_path)) == "[]"


def test_after_the_start_pages_have_their_imports_and_garbage_is_collected_again(tmp_path: Path) -> None:
    script = (
        "import ast, gc, sys\n"
        "from pathlib import Path\n"
        "from engine.engine import Engine\n"
        "from engine.settings import Settings\n"
        "from pages.parts.common.after_start import finish_start\n"
        "gc.disable()\n"
        "with Engine.open(Settings.load()) as engine:\n"
        "    finish_start(engine)\n"
        "    ready = engine.ready\n"
        "import inspect\n"
        "from components.picture.layout import layout_of\n"
        "from engine.model.values.record import record_adapter\n"
        "from engine.records import codec\n"
        "kept = [call.cache_info().currsize for call in (layout_of, codec._events, record_adapter)]\n"
        "looked = len(inspect.modulesbyfile) > 900\n"
        "later = {'streamlit.emojis', 'rjieba', 'PIL.Image'} - set(sys.modules)\n"
        "names = ['_shell', 'workbench', 'runs', 'tune', 'knowledge', 'system']\n"
        "scripts = [ast.parse(Path('pages', name + '.py').read_text()) for name in names]\n"
        "wanted = {line.module for script in scripts for line in script.body if isinstance(line, ast.ImportFrom)}\n"
        "later |= wanted - set(sys.modules)\n"
        "print(ready, gc.isenabled(), gc.get_freeze_count() > 0, later, kept, looked)"
    )
    found = said(script, WORKBENCH_DATA_DIR=str(tmp_path), WORKBENCH_OLLAMA_URL="http://127.0.0.1:1")
    assert found == "True True True set() [3, 1, 1] True"


def test_a_first_start_segments_nothing(tmp_path: Path) -> None:
    """The samples are copied: neither their words nor those of their graph are looked up in a dictionary."""
    script = (
        "import sys\n"
        "from engine.engine import Engine\n"
        "from engine.settings import Settings\n"
        "with Engine.open(Settings.load()) as engine:\n"
        "    engine.wait_until_ready()\n"
        "    passages = [item.passages for item in engine.collections()]\n"
        "print(passages, 'rjieba' in sys.modules)"
    )
    assert said(script, WORKBENCH_DATA_DIR=str(tmp_path)) == "[252] False"


def test_what_the_first_question_needs_is_loaded_when_the_start_says_so(tmp_path: Path) -> None:
    script = (
        "from engine.engine import Engine\n"
        "from engine.settings import Settings\n"
        "from engine.workflows import compiled\n"
        "with Engine.open(Settings.load()) as engine:\n"
        "    before = engine.loading, engine.ready\n"
        "    engine.wait_until_ready()\n"
        "    print(before, engine.loading, engine.ready, compiled.cache_info().currsize)"
    )
    expected = "(('knowledge_base', 'workflow'), False) () True 1"
    assert said(script, WORKBENCH_DATA_DIR=str(tmp_path)) == expected


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
