"""README says what the code does: its tables, its commands and its addresses."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from engine import cli
from engine.settings import Settings
from tests.docs import README, TABLES, parameters_table, settings_table, tables_in, with_tables

_TEXT = README.read_text(encoding="utf-8")
_ROOT = README.parent
_PAGES = (README, *sorted((_ROOT / "docs").glob("*.md")))
_PROMPTED = re.compile(r"^(?:\S*python\S*) -m engine (?P<rest>.*)$", re.MULTILINE)


def commands() -> list[list[str]]:
    """The arguments of every ``python -m engine`` line in a code block."""
    texts = "\n".join(page.read_text(encoding="utf-8") for page in _PAGES)
    blocks = re.findall(r"^```\w*\n(.*?)^```", texts, re.MULTILINE | re.DOTALL)
    return [shlex.split(found["rest"], comments=True) for block in blocks for found in _PROMPTED.finditer(block)]


def test_the_tables_of_readme_are_those_the_code_makes() -> None:
    assert sorted(tables_in(_TEXT)) == sorted(TABLES)
    assert with_tables(_TEXT) == _TEXT, "run `python -m tests.docs --write`"


def test_a_stale_table_would_be_noticed() -> None:
    stale = _TEXT.replace("| `top_k` | 1–20 |", "| `top_k` | 1–99 |")
    assert stale != _TEXT
    assert with_tables(stale) == _TEXT


def test_every_setting_and_every_parameter_has_a_meaning() -> None:
    for line in [*settings_table().splitlines()[2:], *parameters_table().splitlines()[2:]]:
        cells = [cell.strip() for cell in line.replace("\\|", "/").strip("|").split("|")]
        assert len(cells[-1]) > 10, line
    assert all(f"WORKBENCH_{name.upper()}" in settings_table() for name in Settings.model_fields)


def test_every_make_target_that_readme_names_exists() -> None:
    named = set(re.findall(r"`?make ([a-z][a-z-]*)`?", _TEXT))
    targets = set(re.findall(r"^([a-z-]+):", (_ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"run", "test"} <= named <= targets


def test_every_command_line_that_readme_shows_is_one_the_program_takes() -> None:
    shown = commands()
    assert {"ask", "ingest", "serve"} <= {arguments[0] for arguments in shown}
    for arguments in shown:
        assert callable(cli._parser().parse_args(arguments).command)


def test_the_question_that_readme_asks_is_answered_with_citations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """SC-11: the command line prints the response of the HTTP API."""
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    asking = next(arguments for arguments in commands() if arguments[0] == "ask" and "--json" in arguments)
    assert cli.main(asking) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["success"]
    assert answer["outcome"] in ("answered", "answered_forced")
    assert answer["citations"]


def test_the_body_and_the_answer_that_readme_shows_are_those_of_the_api() -> None:
    """SC-11: every field of the example exists, by the description that the API serves."""
    from engine.api.bodies import SeedRequest

    body = re.search(r"-d '(\{.*?\})'", _TEXT, re.DOTALL)
    assert body is not None
    SeedRequest.model_validate(json.loads(body[1]))
    block = re.search(r"^```json\n(.*?)^```", _TEXT, re.MULTILINE | re.DOTALL)
    assert block is not None
    shown: dict[str, Any] = json.loads(block[1])
    assert {"success", "answer", "query", "graderResult", "runId", "outcome", "citations"} <= set(shown)


def test_the_files_that_readme_points_at_exist() -> None:
    for page in _PAGES:
        targets = re.findall(r"\]\((?!https?://|#)([^)\s]+)\)", page.read_text(encoding="utf-8"))
        assert [target for target in targets if not (page.parent / target.partition("#")[0]).exists()] == []


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_a_page_names_no_package_index_and_no_path_of_a_machine(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"--(?:extra-)?index-url|--find-links|--trusted-host|/simple/?\b", text)
    assert not re.search(r"(?<![\w.])/(?:home|root|work|Users|tmp|mnt|opt)/", text)
    assert not re.search(r"[A-Z]:\\", text)
    hosts = set(re.findall(r"https?://([\w.-]+)", text))
    assert hosts <= {"127.0.0.1", "localhost", "ollama.com", "milvus.io", "github.com", "creativecommons.org"}
