"""Exported projects run in a process of their own, and the workbench's runs in the same form."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.engine import Engine
from engine.model.config import RunConfig
from engine.model.values import RunRecord
from plugins.export.project import Project, code_project
from tests.plugins.export.driver import as_said


def written(project: Project, folder: Path) -> Path:
    """The files of a project in a folder."""
    for name, content in project.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def recorded(engine: Engine, folder: Path, config: RunConfig, questions: Sequence[str]) -> list[RunRecord]:
    """Export a config into a folder, and run the questions with the workbench."""
    written(code_project(engine, config), folder)
    ids = [engine.start(question, config, trial=True) for question in questions]
    for run_id in ids:
        engine.wait(run_id)
    return [engine.record(run_id) for run_id in ids]


class Driver:
    """The process of the exported projects, which imports what they need once."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, folder: Path, questions: Sequence[str], **environment: str) -> list[dict[str, Any]]:
        """What the project in a folder says to the questions."""
        assert self._process.stdin is not None and self._process.stdout is not None
        asked = {"folder": str(folder), "questions": list(questions), "environment": environment}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        said: list[dict[str, Any]] = json.loads(self._process.stdout.readline())
        return said


@contextmanager
def driving(folder: Path, python: str = sys.executable) -> Iterator[Driver]:
    """A driver that works in an empty folder and ends with the block."""
    driver = folder / "driver.py"
    driver.write_text(Path(__file__).with_name("driver.py").read_text())
    command = [python, "-I", str(driver)]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        yield Driver(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0


def assert_same(records: Sequence[RunRecord], said: Sequence[dict[str, Any]]) -> None:
    """Each run in every part."""
    for record, printed in zip(records, said, strict=True):
        assert printed == json.loads(json.dumps(as_said(record))), record.question
