"""Pages and their views: each has a title and an address, and every link of one page to another leads somewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from engine.engine import Engine
from pages._serving import FORWARDS, PAGES, forwards
from pages.parts.knowledge import state as knowledge_state
from tests.pages.driving import given, opened, setting

ROOT = Path(__file__).resolve().parents[2]
RUNS_VIEWS = ("list", "compare", "loops", "present")


def page_names(source: str, *calls: str) -> Iterator[str]:
    """Scripts that are named first in calls of these names."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in calls:
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def test_every_link_between_pages_leads_to_a_page() -> None:
    known = set(page_names((ROOT / "pages" / "_shell.py").read_text("utf-8"), "Page"))
    assert len(known) == 5
    files = [*(ROOT / "pages").rglob("*.py"), *(ROOT / "components").rglob("*.py")]
    named = {
        (path.name, page) for path in files for page in page_names(path.read_text("utf-8"), "switch_page", "page_link")
    }
    assert len(named) > 5
    assert {(path, page) for path, page in named if page not in known} == set()


@pytest.mark.parametrize("base", ["", "/rag"])
@pytest.mark.parametrize("old", FORWARDS)
def test_a_former_address_leads_on_and_keeps_what_it_asks_for(old: str, base: str) -> None:
    client = TestClient(Starlette(routes=forwards(base)), follow_redirects=False)
    joint = "&" if "?" in FORWARDS[old] else "?"
    for path in (f"{base}/{old}", f"{base}/{old}/"):
        reply = client.get(f"{path}?lang=zh&a=x%26y")
        assert (reply.status_code, reply.headers["location"]) == (307, f"{base}/{FORWARDS[old]}{joint}lang=zh&a=x%26y")
        assert client.head(path).headers["location"] == f"{base}/{FORWARDS[old]}"


@pytest.mark.parametrize("view", RUNS_VIEWS)
def test_every_view_of_runs_has_an_address(engine: Engine, view: str) -> None:
    app = opened("runs", view=view)
    assert setting(app, "runs_view").value == view
    assert given(app, "view") == view


def test_another_view_empties_the_address_and_keeps_what_was_chosen(engine: Engine) -> None:
    app = opened("runs", view="compare", a="demo-forced-en", b="demo-rescue-en")
    setting(app, "runs_view").set_value("list").run()
    assert (given(app, "a"), given(app, "view")) == ("", "")
    setting(app, "runs_view").set_value("compare").run()
    assert (given(app, "a"), given(app, "b"), given(app, "view")) == ("demo-forced-en", "demo-rescue-en", "compare")


def test_every_view_is_named() -> None:
    assert set(get_args(knowledge_state.View)) == knowledge_state.VIEW_NAMES.keys()


@pytest.mark.parametrize("base", ["", "/rag"])
def test_an_address_of_no_page_is_said_in_the_language_of_the_reader_and_leads_to_ask(base: str) -> None:
    client = TestClient(Starlette(routes=forwards(base)))
    asked = {"accept": "text/html", "accept-language": "zh-CN"}
    reply = client.get(f"{base}/ni-hao", headers=asked)
    assert reply.status_code == 404
    assert "ni-hao" in reply.text and '<html lang="zh' in reply.text and f'href="{base}/?lang=zh"' in reply.text
    assert "There is no page" in client.get(f"{base}/x?lang=en", headers=asked).text


@pytest.mark.parametrize("path", [*PAGES, "_stcore", "favicon.png", "static"])
def test_what_streamlit_serves_is_left_to_it(path: str) -> None:
    reply = TestClient(Starlette(routes=forwards()), follow_redirects=False).get(
        f"/{path}", headers={"accept": "text/html"}
    )
    assert reply.text == ("" if path in FORWARDS else "Not Found")
