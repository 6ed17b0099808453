"""``serve`` says where it listens, what holds a port that is in use, and that a data folder is served already."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.cli.serve import held_by, next_free, require_free
from engine.errors import HostError, InvalidSettings
from engine.settings import Settings
from tests.api.served import app_of, engine_of
from tests.cli.test_handing_over import noted
from tests.support.brought import brought
from tests.support.errors import raises
from tests.support.fakes import FakeResources

ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
PATIENCE_S = 60


@pytest.fixture
def taken() -> Iterator[int]:
    with closing(socket.create_server((HOST, 0))) as server:
        yield server.getsockname()[1]


def refused(*arguments: str, data_dir: Path, **variables: str) -> str:
    """What a start says that cannot be."""
    done = subprocess.run(
        [sys.executable, "-m", "engine", *arguments],
        cwd=ROOT,
        env={**os.environ, "WORKBENCH_DATA_DIR": str(data_dir), **variables},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "http://" not in done.stdout
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_port_in_use_is_named_with_its_holder_and_the_next_free_one(taken: int) -> None:
    with raises(HostError.port_in_use_by) as caught:
        require_free(HOST, taken)
    free = next_free(HOST, taken)
    assert free != taken
    assert f"Port {taken} is in use" in caught.value.fact
    assert caught.value.remedy.endswith(f"`python -m engine serve --port {free}`.")
    require_free(HOST, free)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux tells who listens")
def test_the_process_that_listens_is_named(taken: int) -> None:
    pid, program = held_by(taken) or (0, "")
    assert pid == os.getpid()
    assert "python" in program
    assert held_by(next_free(HOST, taken)) is None


def test_an_address_of_another_machine_is_no_address_to_listen_on() -> None:
    with pytest.raises(InvalidSettings, match="WORKBENCH_HOST"):
        require_free("192.0.2.1", 8501)


def test_a_start_takes_host_and_port_and_ends_where_the_port_is_taken(taken: int, tmp_path: Path) -> None:
    said = refused("--host", HOST, "--port", str(taken), data_dir=tmp_path)
    assert f"Port {taken} is in use by process {os.getpid()}" in said
    assert "serve --port" in said


def test_a_port_that_is_none_is_refused_with_its_range(tmp_path: Path) -> None:
    assert "WORKBENCH_PORT cannot be used" in refused("serve", "--port", "70000", data_dir=tmp_path)
    for port in ("0", "web"):
        with pytest.raises(InvalidSettings, match="WORKBENCH_PORT"):
            Settings.load(port=port)


def test_a_second_start_on_one_data_folder_says_what_to_do(tmp_path: Path) -> None:
    with engine_of(tmp_path, FakeResources()) as engine, noted(app_of(engine), tmp_path, engine.instance) as app:
        said = refused("serve", "--port", str(next_free(HOST, 8580)), data_dir=tmp_path)
    assert f"A workbench has the data folder {str(tmp_path)!r} open already, at {app.url}." in said
    assert f"WORKBENCH_DATA_DIR={tmp_path}-2 python -m engine serve --port" in said


@pytest.mark.parametrize(
    ("missing", "variable", "value"),
    list(brought("MISSING").values()),
)
def test_a_package_that_is_missing_is_said_before_any_address(
    missing: str, variable: str, value: str, tmp_path: Path
) -> None:
    # As where it is not installed: what is None cannot be imported, and is found nowhere.
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util, sys\n"
        f"sys.modules[{missing!r}] = None\n"
        "found = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda name, *rest: None if name == {missing!r} else found(name, *rest)\n"
    )
    port = str(next_free(HOST, 8570))
    said = refused("serve", "--port", port, data_dir=tmp_path / "data", PYTHONPATH=str(tmp_path), **{variable: value})
    assert missing in said


def test_settings_of_the_start_are_those_of_the_pages(tmp_path: Path) -> None:
    script = (
        "import streamlit.web.cli as cli\n"
        "from engine.settings import Settings\n"
        "cli.main = lambda **_: print(Settings.load().host, Settings.load().port)\n"
        "from engine.cli.serve import serve\n"
        "serve(['--host', 'localhost', '--port', '8589'])\n"
    )
    env = {**os.environ, "WORKBENCH_DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "localhost 8589"
    assert Settings.load().port != 8589
