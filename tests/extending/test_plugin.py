"""The recipe of CONTRIBUTING is enough for a plug-in in a wheel of its own (BE-05)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from engine.plugins import _folders

ROOT = Path(__file__).resolve().parents[2]
_PATIENCE_S = 600
_TRIED = """
import gc, sys
gc.disable()
from pathlib import Path
from starlette.testclient import TestClient
from engine.api import create_api
from engine.cli.main import main
from engine.engine import Engine
from engine.api.process import use_engine
from engine.settings import Settings
from tests.pages.driving import inline, opened

assert main(["hello"]) == 0
with Engine.open(Settings.load(data_dir=Path(sys.argv[1]), ollama_url="http://127.0.0.1:1")) as engine:
    use_engine(engine)
    with TestClient(create_api(lambda: engine), base_url="http://127.0.0.1:8501") as client:
        print(client.get("/hello").json())
    print("Hello, you" in inline(opened("system", part="programs")))
    print([item.value for item in engine.host.settings() if item.name == "hello_name"])
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what ``pip`` would install of the recipe's wheel."""
    project = tmp_path_factory.mktemp("hello")
    section = (
        (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## Write a plug-in\n")[1].split("\n## ")[0]
    )
    blocks = re.findall(r"```\w+\n# ([\w.]+)\n(.*?)```", section, re.DOTALL)
    assert [name for name, _ in blocks] == ["workbench_hello.py", "pyproject.toml"]
    for name, text in blocks:
        (project / name).write_text(text, encoding="utf-8")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(project / "dist")]
    subprocess.run(build, cwd=project, check=True, capture_output=True)
    with zipfile.ZipFile(next((project / "dist").glob("*.whl"))) as wheel:
        wheel.extractall(project / "site")
    return project / "site"


def run(installed: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(installed))), **variables}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True, timeout=_PATIENCE_S
    )


def test_a_route_a_command_a_panel_and_a_setting_of_another_wheel_work(installed: Path, tmp_path: Path) -> None:
    done = run(installed, "-c", _TRIED, str(tmp_path), WORKBENCH_HELLO_NAME="you")
    assert done.stdout.splitlines() == ["Hello, you", "Hello, you", "True", "['you']"], done.stderr[-4000:]


def test_one_that_cannot_be_loaded_is_said_and_stops_nothing(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "workbench_hello.py").write_text("raise OSError('no disk')")
    script = (
        "import asyncio\nfrom engine.system.health import _plugins\n"
        "print([(item.health, item.fault.fact) for item in asyncio.run(_plugins()) if item.name == 'hello'])"
    )
    done = run(tmp_path, "-c", script, PYTHONPATH=os.pathsep.join((str(ROOT), str(tmp_path), str(installed))))
    said = "The plug-in hello could not be loaded: OSError: no disk."
    assert done.stdout.strip() == str([("down", said)]), done.stderr[-4000:]


def test_one_whose_packages_are_missing_is_not_installed_and_says_how_to_have_it() -> None:
    from engine.plugins import Plugin

    plugin = Plugin(name="x", title="X", modules=("json", "no_such_module.part"), packages="no-such-package")
    assert plugin.missing.endswith("no-such-package")
    assert Plugin(name="x", title="X", modules=("json",)).missing == ""


def test_in_a_program_with_a_module_plugins_the_workbench_goes_without_its_own(tmp_path: Path) -> None:
    (tmp_path / "plugins.py").write_text("")
    script = (
        "import plugins as theirs\nfrom rag_workbench import Settings\nprint(Settings.load().port)\n"
        "from engine.plugins import _folders, broken\nprint(broken().keys() == {*_folders()}, *broken().values())"
    )
    done = run(tmp_path, "-P", "-c", script, PYTHONPATH=os.pathsep.join((str(tmp_path), str(ROOT))))
    port, names = done.stdout.splitlines()
    assert port == "8501", done.stderr[-4000:]
    assert names.startswith("True") and names.count("has a module plugins of its own") == len(_folders())
