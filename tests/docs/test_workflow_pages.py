"""Each workflow is documented on one page, with the picture of its compiled graph and commands that work."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from engine.api.bodies import RunRequest
from engine.cli import main as cli
from engine.flow import compiled
from engine.flow.graph import graph_of
from engine.model.config import WORKFLOWS, config_from_dict
from tests.docs import WORKFLOW_PAGES, pictures

PAGES = sorted(WORKFLOW_PAGES.glob("*.md"))
_COMMAND = re.compile(r"^python -m engine (?P<rest>.*)$", re.MULTILINE)
_BODY = re.compile(r"-d '(\{.*?\})'", re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_every_workflow_has_one_page_with_its_picture() -> None:
    for name in WORKFLOWS:
        assert [page.name for page in PAGES if f"(`{name}`)" in text(page)], name
        assert sum(f"workflow-{name}.svg" in text(page) for page in PAGES) == 1


def test_the_pictures_are_those_of_the_compiled_graphs() -> None:
    """SC-01"""
    for path, drawn in pictures().items():
        assert path.read_text(encoding="utf-8") == drawn, f"{path.name}: run `python -m tests.docs --write`"


@pytest.mark.parametrize("document", PAGES, ids=lambda item: item.stem)
def test_a_page_names_every_node_of_its_workflow(document: Path) -> None:
    name = next(item for item in WORKFLOWS if f"(`{item}`)" in text(document))
    for node in graph_of(compiled(name)).nodes:
        assert f"`{node}`" in text(document), node


@pytest.mark.parametrize("document", PAGES, ids=lambda item: item.stem)
def test_commands_bodies_and_links_of_a_page_are_right(document: Path) -> None:
    for found in _COMMAND.finditer(text(document)):
        arguments = cli._parser().parse_args(shlex.split(found["rest"]))
        assert cli._config(arguments).workflow in WORKFLOWS
    for body in _BODY.findall(text(document)):
        request = RunRequest.model_validate(json.loads(body))
        assert config_from_dict({**request.config, "workflow": request.workflow}).workflow == request.workflow
    for link in _LINK.findall(text(document)):
        assert (document.parent / link).resolve().exists(), link
