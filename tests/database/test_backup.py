"""What docs/backup.md says is done as it says, and what comes back is what was there: TM-08."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.database.databases import Databases
from engine.engine import Engine
from engine.evaluation.cases import Case, QuerySet
from engine.evaluation.values import AnswerJudgement
from engine.knowledge.items import IngestItem
from engine.model.config import RunConfig
from engine.model.values import Claim
from engine.people.limits import CollectionLimits, PeopleDatabase
from engine.settings import Settings
from tests.support import postgres_server
from tests.support.brought import brought

PAGE = Path(__file__).parents[2] / "docs" / "backup.md"
TREES = b"# Trees\n\nA tree is a connected graph without cycles. A tree with n vertices has n - 1 edges."
QUESTION = "How many edges does a tree with n vertices have?"
OWN = RunConfig(collection="own")
KEPT = brought("KEPT")
"""What plug-ins leave and find again, by its name."""


def commands(heading: str) -> list[str]:
    """The blocks of shell commands in a section: how to make a backup, how to restore it."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


def shell(script: str, folder: Path, **variables: str) -> None:
    """Run commands of the page where the backup is to lie."""
    found = postgres_server.programs()
    path = f"{found}:{os.environ['PATH']}" if found else os.environ["PATH"]
    done = subprocess.run(
        ["sh", "-euc", script],
        cwd=folder,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def used(settings: Settings, meanwhile: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """Use an installation in every way that leaves something; what is there at the end."""
    with closing(Databases.of(settings)) as databases:
        for keep, _ in KEPT.values():
            keep(settings, databases)
        CollectionLimits(PeopleDatabase(databases.people))._set("own", {"clinic"})
    with Engine.open(settings) as engine:
        engine.wait_until_ready()
        engine.ingest([IngestItem("trees.md", data=TREES)], "own")
        run = engine.run(QUESTION, OWN)
        assert run.outcome == "answered" and run.citations
        engine.tag_run(run.id, "mine")
        engine.run("Who invented the bicycle?", OWN)
        engine.evaluation.save_query_set(QuerySet("trees", (Case("a", QUESTION),)))
        engine.evaluation.set_label(QUESTION, run.citations[0].passage_id, True)
        claims = (Claim("answer", "Trees have roots.", True, "Passage 1 says so."),)
        said = AnswerJudgement(QUESTION, run.answer, "yes", "As it stands there.", judge="Ada")
        engine.evaluation.judge_answer(said)
        engine.evaluation.judge_answer(replace(said, by="model", claims=claims, shown="d"))
        batch = engine.batches.start("trees", OWN)
        assert engine.batches.wait(batch, 60)
        engine.flush()
        found = state(engine)
        meanwhile()
    return found


def state(engine: Engine) -> dict[str, Any]:
    """What an installation has, in values that can be compared."""
    runs = engine.runs(500)
    store = engine.evaluation
    return {
        "runs": runs,
        "records": [engine.record(run.id) for run in runs],
        "tags": engine.tags(),
        "sets": [store.query_set(name) for name in store.query_sets()],
        "labels": store.labels(QUESTION),
        "judged": store.answer_judgements(*((run.question, engine.record(run.id).answer) for run in runs)),
        "batches": [store.batch(item.id) for item in store.batches()],
        "weak points": engine.weak_points.list("own"),
        "limits": engine.limits.all(),
        **{name: kept(engine.settings, engine.databases) for name, (_, kept) in KEPT.items()},
        "sources": engine.sources("own"),
    }


def changed_by_restoring(settings: Settings, before: dict[str, Any]) -> list[str]:
    """Name what the restored installation has not as it was, and what it answers otherwise."""
    with Engine.open(settings) as engine:
        engine.wait_until_ready()
        after = state(engine)
        assert len(after["judged"]) == 2
        first, again = before["records"][-1], engine.run(QUESTION, OWN)
        assert first.question == QUESTION and first.passages
        lost = [name for name, value in before.items() if after[name] != value]
        said = ("answer", "citations", "passages")
        return lost + [name for name in said if getattr(again, name) != getattr(first, name)]


def test_one_machine_comes_back_from_its_folder(tmp_path: Path) -> None:
    backup, restore = commands("One machine")
    before = used(Settings(data_dir=tmp_path / "data"))
    shell(backup, tmp_path, WORKBENCH_DATA_DIR=str(tmp_path / "data"))
    shutil.rmtree(tmp_path / "data")
    shell(restore, tmp_path, WORKBENCH_DATA_DIR=str(tmp_path / "elsewhere"))
    assert not (tmp_path / "data").exists()
    assert changed_by_restoring(Settings(data_dir=tmp_path / "elsewhere"), before) == []
