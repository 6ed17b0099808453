"""A process that is killed while it drafts questions leaves no half of them (SC-10)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import engine
from engine.engine import Engine
from engine.settings import Settings

ROOT = Path(str(engine.__file__)).parent.parent
CHILD = """
import os, signal, sys
from pathlib import Path
from engine.drafting import store
from engine.engine import Engine
from engine.settings import Settings
from tests.drafting.documents import ITEMS

whole = store.put

def half(connection, table, rows, **how):
    assert len(rows) > 1
    whole(connection, table, rows[: len(rows) // 2], **how)
    os.kill(os.getpid(), signal.SIGKILL)

with Engine.open(Settings(data_dir=Path(sys.argv[1]), embedding_model="hashing")) as engine:
    engine.ingest(ITEMS, "own")
    store.put = half
    engine.drafting.make("own", 6)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_drafts_are_all_there_or_none_however_the_process_ends(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", CHILD, str(tmp_path)]
    killed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=120, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with Engine.open(Settings(data_dir=tmp_path, embedding_model="hashing")) as after:
        assert after.drafting.list() == ()
        made = after.drafting.make("own", 6)
        kept = after.drafting.list("own")
        assert len(kept) == len(made.drafts) > 1
        assert {item.state for item in kept} == {"open"}
        again = after.drafting.make("own", 6)
        ids = [item.draft.id for item in after.drafting.list("own")]
        assert len(ids) == len(set(ids)) == len(kept) + len(again.drafts)
