"""A data folder that is deleted, replaced, read-only or damaged: said as a fact with a remedy, and nothing made up."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from engine.database.sqlite import SqliteFile
from engine.engine import Engine
from engine.errors import DataFolderGone, EvaluationError, GraphStoreError, HostError, StoreError
from engine.knowledge.items import IngestItem
from engine.model.config import RunConfig
from engine.records.data_folder import DataFolder, require_writable
from engine.settings import Settings
from tests.api.served import calling
from tests.support.errors import raises

ROOT = Path(__file__).resolve().parents[2]
OWN = IngestItem(name="a.md", data=b"# Sky\n\nThe sky is blue.")


def settings(folder: Path) -> Settings:
    return Settings(data_dir=folder, embedding_model="hashing")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the samples in it, closed; to be copied."""
    folder = tmp_path_factory.mktemp("made") / "data"
    with Engine(settings(folder)) as engine:
        engine.wait_until_ready()
    return folder


def test_writing_is_refused_once_the_folder_was_deleted_and_no_half_store_is_left(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(made, folder)
    engine = Engine(settings(folder))
    try:
        engine.wait_until_ready()
        engine.flush()
        folder.rename(tmp_path / "elsewhere")
        for work in (
            lambda: engine.run("What is diabetes?"),
            lambda: engine.ingest([OWN], "own"),
            lambda: engine.ingestions.start([OWN], "own"),
            lambda: engine.tag_run("x", "y"),
            lambda: engine.delete_source("samples", "a.md"),
        ):
            with pytest.raises(DataFolderGone) as refused:
                work()
            assert str(folder) in refused.value.fact
        assert [fault.code for fault in engine.faults] == [DataFolderGone.code]
    finally:
        engine.close()
    assert not (folder / "knowledge.db").exists()


def test_a_folder_made_again_under_the_same_name_is_another_one(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.require()
    (tmp_path / "data").rename(tmp_path / "old")
    (tmp_path / "data").mkdir()
    with pytest.raises(DataFolderGone):
        folder.require()
    (tmp_path / "data").rmdir()
    (tmp_path / "old").rename(tmp_path / "data")
    folder.require()


def test_the_api_says_that_the_folder_is_gone(tmp_path: Path) -> None:
    with calling(tmp_path / "data") as (client, engine):
        engine.flush()
        (tmp_path / "data").rename(tmp_path / "elsewhere")
        answer = client.post("/api/self-corrective-rag", json={"query": "first"})
        health = client.get("/api/health").json()
        (tmp_path / "elsewhere").rename(tmp_path / "data")
    assert (answer.status_code, answer.json()["code"]) == (503, DataFolderGone.code)
    (fault,) = health["faults"]
    assert fault["code"] == DataFolderGone.code
    assert (bool(fault["since"]), fault["over_since"]) == (True, "")


def test_a_store_that_is_half_there_is_named_at_the_next_start(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(made, folder)
    for described in folder.glob("knowledge.db/collections/*/schema.json"):
        described.unlink()
    with Engine(settings(folder)) as engine, raises(StoreError.half_made) as refused:
        engine.wait_until_ready()
    assert str(folder / "knowledge.db") in refused.value.fact
    assert "move it away" in refused.value.remedy


@pytest.mark.parametrize("pattern", ["schema.json", "manifest.json", "*.parquet", "*.idx"])
def test_damaged_files_of_the_store_are_named_as_damage(made: Path, tmp_path: Path, pattern: str) -> None:
    folder = tmp_path / "data"
    shutil.copytree(made, folder)
    hit = [path for path in (folder / "knowledge.db").rglob(pattern) if path.is_file()]
    assert hit
    for path in hit:
        path.write_bytes(os.urandom(3000))
    with Engine(settings(folder)) as engine, raises(StoreError.damaged) as refused:
        engine.wait_until_ready()
    assert "is damaged" in refused.value.fact
    assert "move it away" in refused.value.remedy


def test_a_store_that_is_taken_away_is_named_as_damage_at_once(made: Path, tmp_path: Path) -> None:
    """It would keep answering from memory, with an empty list of collections."""
    folder = tmp_path / "data"
    shutil.copytree(made, folder)
    with Engine(settings(folder)) as engine:
        engine.wait_until_ready()
        (folder / "knowledge.db").rename(tmp_path / "elsewhere")
        for ask in (engine.collections, lambda: engine.describe("samples"), lambda: engine.ingest([OWN], "own")):
            with raises(StoreError.taken_away, match="is damaged: it was deleted"):
                ask()
        assert [fault.code for fault in engine.noted_faults] == [StoreError.damaged.code]
        (part,) = (item for item in engine.host.health() if item.part == "knowledge")
        assert part.health == "down" and part.fault is not None and part.fault.code == StoreError.damaged.code


@pytest.mark.parametrize("name", ["runs.db", "evaluation.db"])
@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_a_database_that_is_taken_away_is_a_fault(name: str, how: str, tmp_path: Path) -> None:
    with calling(tmp_path) as (client, engine):
        engine.run("first")
        engine.evaluation.save_settings("mine", RunConfig())
        engine.flush()
        assert engine.noted_faults == ()
        os.replace(tmp_path / name, tmp_path / "elsewhere")
        if how == "replaced":
            (tmp_path / name).write_bytes(b"")
        for _ in range(2):
            faults = client.get("/api/health").json()["faults"]
            assert [fault["code"] for fault in faults] == [HostError.database_gone.code] and name in faults[0]["fact"]
        if (name, how) == ("evaluation.db", "deleted"):
            with pytest.raises(EvaluationError, match="deleted or moved"):
                engine.evaluation.settings()


def test_a_file_that_was_damaged_and_moved_aside_here_is_not_called_gone(tmp_path: Path) -> None:
    database = SqliteFile(tmp_path / "runs.db", "runs")
    with database.writing():
        pass
    assert not database.gone
    assert database.set_aside()
    with database.writing():
        pass
    assert not database.gone
    (tmp_path / "runs.db").unlink()
    assert database.gone
    database.close()


def test_the_fault_of_an_opening_stands_while_the_next_one_is_tried(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(made, folder)
    kept = {path: path.read_bytes() for path in folder.glob("knowledge.db/collections/*/schema.json")}
    for path in kept:
        path.write_bytes(path.read_bytes()[:10])
    with Engine(settings(folder)) as engine:
        with raises(StoreError.damaged):
            engine.wait_until_ready()
        for path, content in kept.items():
            path.write_bytes(content)
        opening = engine.resources.knowledge.ready()
        engine._loop.call(_begun(opening))
        assert engine.unopened is not None and engine.unopened.code == StoreError.damaged.code
        engine.wait_until_ready()
        assert engine.unopened is None


async def _begun(opening: Coroutine[Any, Any, None]) -> None:
    """Let an opening begin, and leave it to itself."""
    begun = asyncio.ensure_future(opening)
    await asyncio.sleep(0)
    begun.cancel()


def test_a_damaged_file_of_graphs_is_in_the_health(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(made, folder)
    (folder / "graphs.db").write_bytes(os.urandom(5000))
    with Engine(settings(folder)) as engine:
        engine._loop.call(engine._warm_up())
        assert GraphStoreError.damaged.code in [fault.code for fault in engine.faults]


def test_a_place_where_no_folder_can_be_made_is_a_fact_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    with raises(HostError.data_folder_unwritable, match="WORKBENCH_DATA_DIR"):
        Engine(settings(tmp_path / "file" / "data"))


@pytest.mark.skipif(sys.platform == "win32", reason="folder permissions are POSIX")
def test_a_read_only_folder_ends_the_start_with_a_remedy_and_no_traceback(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o555)
    for parent in (tmp_path, *tmp_path.parents[:3]):
        if parent != Path("/tmp"):
            parent.chmod(parent.stat().st_mode | 0o055)
    # Root may write everywhere, so the program is run as another user then.
    script = """
import os, sys
import engine.cli.serve
if os.geteuid() == 0:
    os.setuid(65534)
from engine.__main__ import main
sys.argv = ["engine", "serve"]
sys.exit(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "WORKBENCH_DATA_DIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    folder.chmod(0o755)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "cannot be written" in done.stderr
    assert "WORKBENCH_DATA_DIR" in done.stderr


READ_ONLY = """
import json, sys
from pathlib import Path
from engine.errors import WorkbenchError
from engine.knowledge.items import IngestItem
from engine.model.config import RunConfig
from tests.api.served import calling

folder, said = Path(sys.argv[1]), {}

def tried(name, work):
    try:
        said[name] = str(getattr(work(), "outcome", ""))
    except WorkbenchError as error:
        said[name] = f"{error.code} {error.fact}"

with calling(folder) as (client, engine):
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    tried("run", lambda: engine.run("first"))
    tried("settings", lambda: engine.evaluation.save_settings("mine", RunConfig()))
    tried("job", lambda: engine.ingestions.start([IngestItem("a.md", data=b"# A")], "samples"))
    tried("token", lambda: engine.limits._set("samples", {"clinic"}))
    engine.flush()
    said["health"] = client.get("/api/health").status_code
    said["faults"] = [fault["fact"] for fault in client.get("/api/health").json()["faults"]]
    said["answer"] = client.post("/api/runs", json={"question": "again"}).status_code
print(json.dumps(said))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="root has to give up its right to write everywhere")
def test_a_folder_that_becomes_read_only_is_said_and_questions_are_answered(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    rights = "-dac_override,-dac_read_search"
    as_others = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*as_others, sys.executable, "-c", READ_ONLY, str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    said = json.loads(done.stdout)
    assert said["run"] == "answered" and said["answer"] in (200, 202) and said["health"] == 200
    for name in ("settings", "job", "token"):
        assert "cannot" in said[name] and "deleted" not in said[name], said
    # Records go into the file that was open before, or the fault says that they do not.
    assert (said["answer"] == 202) == bool(said["faults"])


def test_a_folder_that_can_be_written_is_left_as_it_is(tmp_path: Path) -> None:
    require_writable(tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []
