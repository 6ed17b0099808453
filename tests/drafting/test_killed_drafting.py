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
from tests.drafting.documents import asked_of
from tests.llm.recording import CHAT
from tests.support.ollama_stand_in import OllamaStandIn

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

settings = Settings(data_dir=Path(sys.argv[1]), ollama_url=sys.argv[2], embedding_model="hashing")
with Engine.open(settings) as engine:
    engine.ingest(ITEMS, "own")
    store.put = half
    engine.drafting.make("own", 6, "ollama:qwen3:8b")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_drafts_are_all_there_or_none_however_the_process_ends(tmp_path: Path) -> None:
    with OllamaStandIn(["qwen3:8b"], reply=asked_of) as server:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", CHILD, str(tmp_path), server.url]
        killed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=120, check=False)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        settings = Settings(data_dir=tmp_path, embedding_model="hashing", ollama_url=server.url, generator_model=CHAT)
        with Engine.open(settings) as after:
            assert after.drafting.list() == ()
            made = after.drafting.make("own", 6)
            kept = after.drafting.list("own")
            assert len(kept) == len(made.drafts) > 1
            assert {item.state for item in kept} == {"open"}
            again = after.drafting.make("own", 6)
            ids = [item.draft.id for item in after.drafting.list("own")]
            assert len(ids) == len(set(ids)) == len(kept) + len(again.drafts)
