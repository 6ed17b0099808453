"""README and docs say what the code does: their tables, their commands and their addresses."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main as cli
from engine.settings import Settings
from tests.docs import PAGES, README, TABLES, parameters_table, tables_in, with_tables

_TEXT = README.read_text(encoding="utf-8")
_ROOT = README.parent
_TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}
_API = _TEXTS[_ROOT / "docs" / "api.md"]
_SETTINGS = _TEXTS[_ROOT / "docs" / "settings.md"]
_LONGEST = 200
_PROMPTED = re.compile(r"^(?:\S*python\S*) -m engine (?P<rest>.*)$", re.MULTILINE)


def commands() -> list[list[str]]:
    """The arguments of every ``python -m engine`` line in a code block."""
    texts = "\n".join(_TEXTS.values())
    blocks = re.findall(r"^```\w*\n(.*?)^```", texts, re.MULTILINE | re.DOTALL)
    return [shlex.split(found["rest"], comments=True) for block in blocks for found in _PROMPTED.finditer(block)]


def test_the_tables_are_those_the_code_makes() -> None:
    there = sorted(name for text in _TEXTS.values() for name in tables_in(text))
    assert there == sorted(TABLES), "`<!-- table: NAME -->` and `<!-- end -->` say where a table stands"
    for page, text in _TEXTS.items():
        assert with_tables(text) == text, f"{page.name}: run `python -m tests.docs --write`"


def test_a_stale_table_would_be_noticed() -> None:
    stale = _SETTINGS.replace("| `top_k` | 1–20 |", "| `top_k` | 1–99 |")
    assert stale != _SETTINGS
    assert with_tables(stale) == _SETTINGS


def test_readme_can_be_read_in_one_sitting() -> None:
    """What it is, two commands, the first question, three jobs; reference tables stand in docs."""
    assert len(_TEXT.splitlines()) <= _LONGEST
    assert tables_in(_TEXT) == []


def test_every_setting_and_every_parameter_has_a_meaning() -> None:
    settings = "\n".join(make() for name, make in TABLES.items() if name.endswith("settings"))
    for line in re.findall(r"^\| `.*", f"{settings}\n{parameters_table()}", re.MULTILINE):
        cells = [cell.strip() for cell in line.replace("\\|", "/").strip("|").split("|")]
        assert len(cells[-1]) > 10, line
    assert all(f"WORKBENCH_{name.upper()}" in settings for name in type(Settings()).model_fields)


def test_every_make_target_that_readme_names_exists() -> None:
    named = set(re.findall(r"`?make ([a-z][a-z-]*)`?", _TEXT))
    targets = set(re.findall(r"^([a-z-]+):", (_ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"run", "test"} <= named <= targets


def test_every_command_line_that_the_docs_show_is_one_the_program_takes() -> None:
    shown = commands()
    assert {"ask", "ingest", "serve"} <= {arguments[0] for arguments in shown}
    for arguments in shown:
        assert callable(cli._parser().parse_args(arguments).command)


def test_the_question_that_the_docs_ask_is_answered_with_citations(
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


def test_the_body_and_the_answer_that_the_docs_show_are_those_of_the_api() -> None:
    """SC-11: every field of the example exists, by the description that the API serves."""
    from engine.api.bodies import SeedRequest

    body = re.search(r"-d '(\{.*?\})'", _API, re.DOTALL)
    assert body is not None
    SeedRequest.model_validate(json.loads(body[1]))
    block = re.search(r"^```json\n(.*?)^```", _API, re.MULTILINE | re.DOTALL)
    assert block is not None
    shown: dict[str, Any] = json.loads(block[1])
    assert {"success", "answer", "query", "graderResult", "runId", "outcome", "citations"} <= set(shown)


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_files_and_headings_that_the_docs_point_at_exist() -> None:
    for page in (*PAGES, *sorted((_ROOT / "docs" / "workflows").glob("*.md"))):
        for target in re.findall(r"\]\((?!https?://)([^)\s]+)\)", page.read_text(encoding="utf-8")):
            file, _, heading = target.partition("#")
            found = page.parent / file if file else page
            assert found.exists(), f"{page.name}: {target}"
            assert not heading or heading in anchors(found), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_no_package_index_and_no_path_of_a_machine(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"--(?:extra-)?index-url|--find-links|--trusted-host|/simple/?\b", text)
    assert not re.search(r"(?<![\w.])/(?:home|root|work|Users|tmp|mnt|opt)/", text)
    assert not re.search(r"[A-Z]:\\", text)
    hosts = set(re.findall(r"https?://([\w.-]+)", text))
    # Names under "example" belong to no one.
    assert {host for host in hosts if not host.endswith(".example")} <= {
        "127.0.0.1",
        "localhost",
        # In the network of a compose file.
        "milvus",
        "host",
        "host.docker.internal",
        "ollama.com",
        "docs.searxng.org",
        "milvus.io",
        "modelcontextprotocol.io",
        "www.ray.io",
        "github.com",
        "creativecommons.org",
        "id.example",
    }
