"""What the repository says to services and newcomers: workflows, hooks, the development container, the citation."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.version import __version__
from tests.docs import README

ROOT = README.parent
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TARGETS = {
    *re.findall(r"^([\w.-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE),
    ".venv/.installed-dev",
}
PRODUCT = ("engine", "components", "pages", "plugins", "rag_workbench")
_WORN = re.compile(r"\b(told|anew|somebody|besides?|alike|goes on)\b", re.IGNORECASE)
_KEPT = {
    "builtin/answer_note": "told",
    "builtin/answer_reading": "told",
    "knowledge/journal": "told",
    "knowledge/sample_graph": "somebody",
    "llm/answer_judge": "somebody",
    "llm/direct": "somebody",
    "llm/extractor": "somebody",
    "llm/question_writer": "somebody",
    "llm/source_router": "somebody",
}
"""Patterns and prompts that answers and figures depend on, and what files of users hold, by modules of the engine."""
_OURS = re.compile(r"(?<![\w/.])(\.venv/bin/\S+|\.ci/\S+)")


def _read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def _programs(command: str) -> list[Path]:
    """The files of ours that a command runs, where this environment has them."""
    found = [Path(name) for name in _OURS.findall(command)]
    return [Path(sys.executable).parent / path.name if path.parts[0] == ".venv" else ROOT / path for path in found]


def test_comments_messages_and_pages_are_in_plain_words() -> None:
    modules = (path for name in PRODUCT for path in (ROOT / name).rglob("*.py"))
    found: dict[str, set[str]] = {}
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *modules):
        if words := {word.lower() for word in _WORN.findall(path.read_text(encoding="utf-8"))}:
            found[path.relative_to(ROOT).as_posix()] = words
    assert found == {f"engine/{name}.py": {word} for name, word in _KEPT.items()}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_what_there_is(workflow: Path) -> None:
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    commands = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    assert ".ci/run" in commands
    for program in [program for command in commands for program in _programs(command)]:
        assert program.is_file(), program


def test_hooks_run_programs_of_the_environment() -> None:
    hooks = _read(".pre-commit-config.yaml")["repos"][0]["hooks"]
    programs = [_programs(hook["entry"]) for hook in hooks]
    assert [len(found) for found in programs] == [1] * len(hooks)
    assert all(program.is_file() for found in programs for program in found)


@pytest.mark.parametrize("page", ["AGENTS.md", "CONTRIBUTING.md", ".devcontainer/devcontainer.json"])
def test_targets_of_make_that_are_named_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = {*re.findall(r"[`\"]make ([\w./-]+)", text)}
    assert named and named <= TARGETS, named - TARGETS


def test_the_development_container_opens_the_port_of_the_app() -> None:
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert f"EXPOSE {container['forwardPorts'][0]}" in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_citation_names_this_version() -> None:
    assert _read("CITATION.cff")["version"] == __version__


def test_what_newcomers_look_for_is_where_contributing_says() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .+ \| (`.+) \|$", text.split("## Find your way")[1].split("\n## ")[0], re.MULTILINE)
    assert len(rows) == 10
    for row in rows:
        place, *names = re.findall(r"`([\w/.]+)`", row)
        defined = set(
            re.findall(r"^\s*(?:async )?(?:def|class) (\w+)", (ROOT / place).read_text(encoding="utf-8"), re.MULTILINE)
        )
        assert {name.rpartition(".")[2] for name in names} <= defined, place
