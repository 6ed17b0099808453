"""One line at the top of every page about the jobs in progress."""

from __future__ import annotations

from dataclasses import replace

from components.common.i18n import words_for
from engine.library.values import JobStatus
from pages.parts.common.job_line import job_line

EN, ZH = words_for("en"), words_for("zh")
READING = JobStatus("a", "ingest", "docs", "reading", "2026-01-01T00:00:00", files=3)
EMBEDDING = replace(READING, id="b", state="embedding", done=12, total=40, per_second=2.0, remaining_s=14.0)
DONE = JobStatus("c", "ingest", "docs", "done", "2026-01-01T00:00:00", files=3, done=40, total=40)


def test_nothing_is_said_where_nothing_is_in_progress() -> None:
    assert job_line((), EN) == job_line((DONE,), EN) == ""


def test_the_line_says_how_far_the_job_is_and_what_is_left() -> None:
    assert job_line((DONE, EMBEDDING), EN) == "Files · docs · 12/40 passages · 14 s left"
    assert job_line((EMBEDDING,), ZH) == "文件 · docs · 12/40 个片段 · 还需 14 s"


def test_a_job_that_has_no_figures_yet_says_its_state_and_others_are_counted() -> None:
    assert job_line((READING,), EN) == "Files · docs · reading"
    assert job_line((READING, EMBEDDING), EN) == "Files · docs · 12/40 passages · 14 s left · 1 more job"
