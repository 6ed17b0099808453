"""A process that is killed while it lifts a database leaves it as it was, and the next one lifts it whole (TM-01)."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import engine
from engine.database.sqlite import SqliteFile
from engine.database.tables import Part
from engine.database.versions import HEAD, revision_name
from tests.database.test_versions import FIRST, rows, shape

ROOT = Path(str(engine.__file__)).parent.parent
CHILD = """
import os, signal, sys
from pathlib import Path
from alembic import command
from engine.database.sqlite import SqliteFile

whole = command.upgrade

def half(config, _):
    whole(config, sys.argv[3])
    os.kill(os.getpid(), signal.SIGKILL)

command.upgrade = half
with SqliteFile(Path(sys.argv[1]), sys.argv[2]).writing():
    pass
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize(("part", "revision"), [("runs", 2), ("runs", HEAD), ("evaluation", 5), ("evaluation", HEAD)])
def test_a_migration_that_is_killed_is_made_whole_by_the_next_start(part: Part, revision: int, tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript(FIRST[part])
    before, former = rows(old), shape(old)
    command = [sys.executable, "-c", CHILD, str(old), part, revision_name(revision)]
    killed = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=60, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert rows(old) == before and shape(old) == former
    for path in (old, new):
        database = SqliteFile(path, part)
        with database.writing():
            pass
        database.close()
    assert shape(old) == shape(new)
    assert [row[: len(first)] for row, first in zip(rows(old), before, strict=True)] == before
