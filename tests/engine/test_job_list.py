"""Every job in one list, the same for the page, the API and the command line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import get_args

import pytest

from components.common.i18n import words_for
from components.labels import JOB_KINDS, JOB_STATES
from engine.cli.main import main
from engine.evaluation.cases import QuerySet, sample_set
from engine.knowledge.ingest import IngestItem
from engine.library.values import Job, JobKind, JobState
from engine.model.config import RunConfig
from engine.model.values import Fault
from pages.parts.system.jobs import job_row
from tests.api.served import FakeCollections, calling, relevant
from tests.cli.test_handing_over import handed_over
from tests.support.gates import PATIENCE_S

EN = words_for("en")
FIELDS = "id kind title state done total per_second remaining_s started_at author fault"
PULL = Job("a", "pull", "qwen3:8b", "downloading", 40, 100, 10.0, 6.0, "2026-01-01T10:00:00.000+00:00", "Ada")


def test_ingestions_and_batches_are_lines_of_the_same_fields_newest_first(tmp_path: Path) -> None:
    with calling(tmp_path, relevant(knowledge=FakeCollections(gate=asyncio.Event))) as (client, engine):
        assert client.get("/api/jobs").json() == []
        job_id = engine.ingestions.start([IngestItem("tea.md", data=b"Tea.")], "mine")
        engine.ingestions.stop(job_id)
        engine.evaluation.save_query_set(QuerySet("two", sample_set().cases[:2]))
        batch_id = engine.batches.start("two", RunConfig())
        assert engine.batches.wait(batch_id, PATIENCE_S)
        batch, ingestion = client.get("/api/jobs").json()
        assert list(batch) == list(ingestion) == FIELDS.split()
        assert (batch["id"], batch["kind"], batch["title"], batch["state"]) == (batch_id, "batch", "two", "done")
        assert (batch["done"], batch["total"], batch["fault"]) == (2, 2, None)
        assert (ingestion["id"], ingestion["kind"], ingestion["title"]) == (job_id, "ingest", "mine")
        assert (ingestion["state"], ingestion["total"]) == ("stopped", 0)


def test_the_command_prints_what_the_app_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path))
    with handed_over(tmp_path) as (_, engine):
        engine.ingestions.wait(engine.ingestions.start([IngestItem("tea.md", data=b"Tea.")], "mine"), PATIENCE_S)
        assert main(["jobs", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == [job.to_dict() for job in engine.jobs.all()]
        assert main(["jobs"]) == 0
        assert "ingest mine  done" in capsys.readouterr().out


def test_a_line_says_how_far_it_is_or_what_ended_it_and_what_can_be_done() -> None:
    assert texts(PULL) == "Download · qwen3:8b running 40 B of 100 B 10 B/s 6.0 s left 2026-01-01 10:00 UTC Ada Stop"
    fault = Fault("WB301", "There is no file.", "Correct the path.")
    assert "There is no file." in texts(
        Job("b", "draft", "docs", "failed", 0, 0, 0.0, None, PULL.started_at, "", fault)
    )
    cut = texts(Job("c", "batch", "set", "interrupted", 1, 2, 0.0, None, PULL.started_at, ""))
    assert cut.startswith("batch · set interrupted What was done is kept") and cut.endswith("UTC Resume")


def test_every_kind_and_state_has_a_label() -> None:
    assert {*get_args(JobState), "running"} == set(JOB_STATES)
    assert {*get_args(JobKind), "batch"} == set(JOB_KINDS)


def texts(job: Job) -> str:
    return " ".join(part for cell in job_row(job, EN, people=bool(job.author)) for part in said(cell))


def said(part: object) -> list[str]:
    if isinstance(part, str):
        return [part] if part else []
    return [text for kid in part.kids for text in said(kid)]  # type: ignore[attr-defined]
