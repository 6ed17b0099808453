"""The wheel in an environment that has nothing else: what is in it, and that it does what the checkout does."""

from __future__ import annotations

import gzip
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engine.version import __version__
from tests.browser.server import App, started_process
from tests.installed.sizes import sizes_in
from tests.support.office_files import docx
from tests.support.wheel import ROOT, Installed, built, install

QUESTION = "When does a connected graph have an Euler circuit?"
FORMER = ROOT / "tests" / "records" / "runs-format-1.db.gz"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """Started from a folder that has packages named as ours are, and with runs of an earlier version."""
    made = install(wheel, tmp_path_factory.mktemp("installed"))
    for name in ("engine", "components", "pages", "plugins"):
        (made.folder / name).mkdir()
        (made.folder / name / "__init__.py").write_text("raise SystemExit('the package of another project')")
    data(made).mkdir(parents=True)
    (data(made) / "runs.db").write_bytes(gzip.decompress(FORMER.read_bytes()))
    yield made
    shutil.rmtree(made.environment)


def data(installed: Installed) -> Path:
    return installed.home / ".local" / "share" / "rag-workbench"


@pytest.fixture(scope="module")
def app(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    logs = tmp_path_factory.mktemp("logs")
    before = files(installed)
    command = [str(installed.program)]
    with started_process(command, logs, installed.variables(), cwd=installed.folder, alone=True) as started:
        started.wait_until_served()
        started.wait_until_ready()
        yield started
    assert files(installed) == before, "the app wrote into the installed package"


def files(installed: Installed) -> set[Path]:
    """What is in the installed package and in the folder that the program is started from."""
    places = (installed.packages / "rag_workbench", installed.folder)
    found = (path for place in places for path in place.rglob("*"))
    return {path for path in found if "__pycache__" not in path.parts}


def test_the_wheel_has_one_package_with_app_samples_both_languages_and_licence(wheel: Path) -> None:
    """PK-01."""
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        metadata = packed.read(f"rag_workbench-{__version__}.dist-info/METADATA").decode()
    assert {name.split("/")[0] for name in names} == {"rag_workbench", f"rag_workbench-{__version__}.dist-info"}
    app = "rag_workbench/_app"
    assert {
        f"{app}/app.py",
        f"{app}/.streamlit/config.toml",
        f"{app}/engine/samples/stored.zip",
        f"{app}/components/locale/zh/LC_MESSAGES/workbench.po",
        f"rag_workbench-{__version__}.dist-info/licenses/LICENSE",
    } <= {*names}
    assert not [name for name in names if "/tests/" in name or "__pycache__" in name or ".workbench" in name]
    assert "License-Expression: Apache-2.0" in metadata
    assert {"Provides-Extra: team", "Provides-Extra: openai"} <= {*metadata.splitlines()}


def test_every_file_that_the_program_has_is_in_the_wheel(wheel: Path) -> None:
    """PK-01: none is lost to a rule of what is ignored."""
    kept = ("engine", "components", "pages", "plugins")
    there = {path.relative_to(ROOT).as_posix() for name in kept for path in (ROOT / name).rglob("*") if path.is_file()}
    with zipfile.ZipFile(wheel) as packed:
        packed_names = {name.removeprefix("rag_workbench/_app/") for name in packed.namelist()}
    assert {name for name in there if "__pycache__" not in name} <= packed_names


def test_the_source_archive_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """PK-01: so it may be built where there is no checkout."""
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run([*build, "-t", "sdist"], cwd=ROOT, check=True, capture_output=True)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        # Python before 3.11.4 has no filters.
        safe: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(tmp_path, **safe)
    source = tmp_path / f"rag_workbench-{__version__}"
    subprocess.run([*build, "-t", "wheel"], cwd=source, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as again, zipfile.ZipFile(wheel) as first:
        assert sorted(again.namelist()) == sorted(first.namelist())


def test_only_one_name_is_importable_and_its_public_names_are_those_of_the_engine(installed: Installed) -> None:
    """PK-01: no top-level ``engine``, ``components``, ``pages`` or ``plugins``; importing it costs next to nothing."""
    script = """
import sys
from importlib.util import find_spec
import rag_workbench
light = not [name for name in sys.modules if name.partition(".")[0] in ("engine", "pydantic", "numpy", "streamlit")]
taken = [name for name in ("engine", "components", "pages", "plugins", "app") if find_spec(name)]
from rag_workbench import Engine, RunConfig, Settings
print(light, taken, Engine.__module__, RunConfig().top_k, Settings.load().data_dir, rag_workbench.__version__)
"""
    done = installed.run("python", "-P", "-c", script)
    assert done.stdout.split() == ["True", "[]", "engine.engine", "5", str(data(installed)), __version__], done.stderr


def test_the_program_that_the_documentation_shows_answers(installed: Installed) -> None:
    """PK-01."""
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    done = installed.run("python", "-P", "-c", program, WORKBENCH_DATA_DIR=str(installed.home / "other"))
    assert "[1]" in done.stdout, done.stderr


def test_the_app_answers_with_citations_from_any_folder(app: App, installed: Installed) -> None:
    """PK-01, PK-02: the pages are served too, and what is written is in the user's own folder."""
    answer = app.post("/api/self-corrective-rag", {"query": QUESTION})
    assert answer["success"], answer
    assert answer["citations"]
    assert b"<title>" in app._get("/")
    assert (data(installed) / "knowledge.db").exists()
    printed = app.log.read_text()
    assert f"Data: {data(installed)}" in printed
    # What Streamlit says where it does not find the configuration of the program.
    assert "statistics" not in printed


def test_runs_of_an_earlier_version_are_there(app: App, tmp_path: Path) -> None:
    """PK-01: the first start lifts what an earlier version wrote."""
    former = tmp_path / "former.db"
    former.write_bytes(gzip.decompress(FORMER.read_bytes()))
    with closing(sqlite3.connect(f"file:{former}?mode=ro", uri=True)) as connection:
        ids = {row[0] for row in connection.execute("SELECT id FROM runs")}
    assert ids
    assert ids <= {run["id"] for run in app.get("/api/runs")}


def test_a_subcommand_hands_its_work_to_the_running_app(app: App, installed: Installed) -> None:
    """PK-01: readers of documents, processes of their own, start from the installed package."""
    file = installed.folder / "plan.docx"
    file.write_bytes(docx([("Heading 1", "Backups"), ("Normal", "Backups are made on Tuesday night.")]))
    try:
        done = installed.run("rag-workbench", "ingest", str(file), "--collection", "own")
        assert done.returncode == 0, done.stderr
        done = installed.run("rag-workbench", "ask", "When are backups made?", "--collection", "own")
    finally:
        file.unlink()
    assert "Tuesday night. [1]" in done.stdout, done.stderr


def test_the_command_says_its_name_and_version(installed: Installed) -> None:
    """PK-01."""
    assert installed.run("rag-workbench", "--version").stdout.strip() == __version__
    assert installed.run("rag-workbench", "--help").stdout.startswith("usage: rag-workbench [-h]")


def test_a_data_folder_in_the_folder_of_the_start_is_used(installed: Installed) -> None:
    """PK-02: as a checkout left it; and settings may stand in the user's own folder."""
    script = "from rag_workbench import Settings; s = Settings.load(); print(s.data_dir, s.port)"
    own = installed.folder / ".workbench"
    own.mkdir()
    (data(installed) / "workbench.toml").write_text("port = 8765\n")
    try:
        assert installed.run("python", "-c", script).stdout.split() == [".workbench", "8765"]
    finally:
        own.rmdir()
        (data(installed) / "workbench.toml").unlink()


def test_the_default_install_is_as_large_as_the_documentation_says_and_stays_small(installed: Installed) -> None:
    """PK-04: text recognition is counted apart."""
    sizes = sizes_in(installed.packages)
    assert sizes.rest < 900
    total = sum(sizes.of.values()) / 1000
    assert {"rapidocr", "onnxruntime", "opencv-python-headless"} <= sizes.recognition
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert f"takes {total:.2f} GB of the disk, {sizes.recognising / 1000:.2f} GB of it" in page
    # How many the small ones are is of no weight.
    row = re.compile(r"^\| (?:\d+ )?([\w*. -]+?) \| \**(\d+)\** \|", re.MULTILINE)
    printed, made = dict(row.findall(page)), dict(row.findall(sizes.table()))
    assert printed.keys() == made.keys(), "`python -m tests.installed` prints the table of docs/install.md"
    for name, size in made.items():
        assert int(printed[name]) == pytest.approx(int(size), rel=0.1, abs=2), name
