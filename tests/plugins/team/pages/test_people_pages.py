"""The pages where people sign in: nothing for strangers, nothing to change for viewers (TM-11, TM-13)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from engine.engine import Engine
from engine.model.config import RunConfig
from engine.people import Person, acting_as
from plugins.team.team import Team
from tests.pages.driving import button, inline, opened, visible
from tests.plugins.team.signing_in import people_sign_in
from tests.support.people import ADMIN, EDITOR, VIEWER


class Visitor:
    """Who looks at the pages of a test."""

    person: Person | None = None


@pytest.fixture
def visitor(engine: Engine) -> Iterator[Visitor]:
    someone = Visitor()
    with people_sign_in(engine, lambda: someone.person):
        yield someone


def enabled(app: AppTest) -> set[str]:
    """The labels of all buttons that can be pressed."""
    return {item.label for item in app.button if not item.disabled}


def choices(app: AppTest, one: str) -> set[str]:
    """All that can be chosen where this can."""
    groups: list[Any] = [*app.get("button_group")]
    return next(set(item.options) for item in groups if one in item.options)


@pytest.mark.usefixtures("visitor")
def test_a_stranger_sees_the_way_to_sign_in_and_nothing_else() -> None:
    app = opened()
    assert visible(app).splitlines() == [
        "## :primary[:material/account_tree:] Self-Corrective RAG Workbench",
        "Answers from your own documents, with every step that led to them.",
        "Afterwards you come to the page you asked for.",
    ]
    assert not app.sidebar.children
    # The language and the keyboard of the document, and nothing else.
    assert [sorted(json.loads(part)) for part in inline(app).splitlines()] == [["first", "lang", "skip", "steps"]]


def test_nobody_has_to_sign_in_where_nothing_is_set_up(engine: Engine) -> None:
    app = opened()
    assert "Run" in enabled(app)
    assert "Sign out" not in {item.label for item in app.button}
    assert "People" not in visible(opened("system"))


def test_a_viewer_reads_it_once_and_can_ask_nothing(visitor: Visitor) -> None:
    visitor.person = VIEWER
    app = opened()
    assert "You are signed in as a viewer" in visible(app)
    assert button(app, lambda label: label == "Run").disabled
    assert not {"Run", "When does a connected graph have an Euler circuit?"} & enabled(app)
    assert "Passes at once" in enabled(app)


def test_an_editor_can_ask(visitor: Visitor) -> None:
    visitor.person = EDITOR
    app = opened()
    assert "You are signed in as a viewer" not in visible(app)
    assert "Run" in enabled(app)


def run_of(engine: Engine, person: Person) -> str:
    with acting_as(person):
        run = engine.start("What is a truth table?", RunConfig())
        engine.wait(run)
        engine.flush()
    return run


def test_a_viewer_looks_at_a_run_and_tries_settings_without_buttons_that_change(
    engine: Engine, visitor: Visitor
) -> None:
    run = run_of(engine, EDITOR)
    for person, may in ((EDITOR, True), (VIEWER, False)):
        visitor.person = person
        app = opened(run=run, top_k="3")
        assert ('"apply"' in inline(app)) == may
        app.session_state["tab"] = "map"
        app.run()
        assert ('"pin"' in inline(app)) == may


@pytest.mark.parametrize(
    ("person", "tools"), [(VIEWER, set()), (EDITOR, {"Add a tag"}), (ADMIN, {"Add a tag", "Delete"})]
)
def test_the_list_of_runs_offers_what_a_role_may(
    engine: Engine, visitor: Visitor, person: Person, tools: set[str]
) -> None:
    run = run_of(engine, EDITOR)
    visitor.person = person
    app = opened("runs")
    app.session_state["run_list"] = {"selected": [run]}
    app.run()
    assert {item.label for item in app.button} & {"Add a tag", "Delete"} == tools
    assert EDITOR.id in inline(app)


def test_runs_are_narrowed_to_those_of_one_author(engine: Engine, visitor: Visitor) -> None:
    mine = run_of(engine, ADMIN)
    other = run_of(engine, EDITOR)
    visitor.person = ADMIN
    drawn = inline(opened("runs", author=ADMIN.id))
    assert mine in drawn
    assert other not in drawn


VIEWS: list[tuple[Person, set[str]]] = [
    (VIEWER, {"Collections"}),
    (EDITOR, {"Add files", "Collections"}),
    (ADMIN, {"Add files", "Collections", "Connect"}),
]


@pytest.mark.parametrize(("person", "views"), VIEWS)
def test_knowledge_has_the_views_of_a_role(visitor: Visitor, person: Person, views: set[str]) -> None:
    visitor.person = person
    app = opened("knowledge")
    assert choices(app, "Collections") & {"Add files", "Collections", "Connect"} == views


@pytest.mark.parametrize("person", [VIEWER, EDITOR])
def test_what_deletes_or_renames_is_for_admins(visitor: Visitor, person: Person) -> None:
    visitor.person = person
    app = opened("knowledge", view="collections", collection="samples")
    assert not {"Aliases", "Re-embed", "Groups"} & {item.label for item in app.button}
    visitor.person = ADMIN
    app = opened("knowledge", view="collections", collection="samples")
    assert {"Aliases", "Re-embed", "Groups"} <= {item.label for item in app.button}


@pytest.mark.parametrize("person", [VIEWER, EDITOR])
def test_system_shows_settings_and_people_to_admins_alone(visitor: Visitor, person: Person) -> None:
    for who, there in ((person, False), (ADMIN, True)):
        visitor.person = who
        app = opened("system")
        assert ({"Settings", "Diagnosis", "People"} <= choices(app, "Health")) == there


def test_an_admin_makes_a_token_sees_it_once_and_revokes_it(engine: Engine, visitor: Visitor) -> None:
    visitor.person = ADMIN
    app = opened("system", part="people")
    app.text_input[0].set_value("nightly")
    button(app, lambda label: label == "Make it").click().run()
    with acting_as(ADMIN):
        [token] = [item for item in Team.of(engine).tokens() if item.name == "nightly"]
    assert "wbt_" in inline(app)
    app.run()
    drawn = inline(app)
    assert "wbt_" not in drawn
    assert f"revoke:{token.id}" in drawn
    assert "Token made" in drawn


def test_the_name_and_the_way_out_stand_on_every_page(visitor: Visitor) -> None:
    visitor.person = EDITOR
    for page in ("", "knowledge", "runs", "tune", "system"):
        app = opened(page)
        assert EDITOR.name in [item.value for item in app.text]
        assert "Sign out" in enabled(app)
