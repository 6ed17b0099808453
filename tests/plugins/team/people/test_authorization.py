"""Every way into the engine asks who acts, and what no door has said anything of is refused (TM-10, TM-11)."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.api import create_api
from engine.engine import Engine
from engine.errors import NotAllowed, NotSignedIn
from engine.knowledge.items import IngestItem
from engine.model.config import RunConfig
from engine.people import LOCAL, Person, Role, acting_as, current_user
from engine.people.authorization import OPERATIONS, authorized, internal, needs
from engine.people.current_user import require_sign_in, with_current_user
from engine.settings import Settings
from plugins.team.team import Team
from tests.api.served import engine_of
from tests.plugins.team.people.asgi import answer_of
from tests.plugins.team.signing_in import people_sign_in
from tests.support.people import ADMIN, EDITOR, PEOPLE, VIEWER


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """One of fakes, for what is asked of runs."""
    with engine_of(tmp_path) as opened:
        yield opened


@pytest.fixture
def whole(tmp_path: Path) -> Iterator[Engine]:
    """One with all its real parts, which are asked for nothing here that they would do."""
    with Engine.open(Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1")) as opened:
        yield opened


def parts(engine: Engine) -> dict[str, object]:
    """The engine and everything that it hands out which does something."""
    values = {name: getattr(engine, name) for name in dir(engine) if not name.startswith("_")}
    own = {name: value for name, value in values.items() if type(value).__module__.startswith("engine.")}
    return {"engine": engine, "team": Team.of(engine), **own}


def asked(value: object, method: str) -> None:
    """Ask for something, with something for every parameter that has to be given."""
    found = getattr(value, method)
    if callable(found):
        given = inspect.signature(found).parameters.values()
        found(*("x" for item in given if item.default is item.empty and item.kind is item.POSITIONAL_OR_KEYWORD))


def test_all_that_the_engine_hands_out_declares_what_it_needs(whole: Engine) -> None:
    unguarded = {type(value).__name__ for value in parts(whole).values() if type(value) not in OPERATIONS}
    # Values, and what only the engine itself uses.
    assert unguarded == {"Settings", "Resources", "Databases"}


def test_a_public_method_that_does_not_say_what_it_needs_makes_its_class_unusable() -> None:
    with pytest.raises(TypeError, match=r"Part\.forgotten must say"):

        @authorized
        class Part:
            @internal
            def close(self) -> None: ...

            @property
            @needs("viewer")
            def said(self) -> str:
                return ""

            @property
            def forgotten(self) -> str:
                return ""


@pytest.mark.parametrize(("person", "status"), [(VIEWER, 403), (EDITOR, 403), (ADMIN, 200)])
def test_a_route_that_declares_no_role_is_for_admins(engine: Engine, person: Person, status: int) -> None:
    api = create_api(lambda: engine)

    @api.get("/forgotten")
    async def forgotten() -> str:
        return "something"

    with people_sign_in(engine), acting_as(person):
        assert asyncio.run(answer_of(api, "GET", "/forgotten")).status == status


def test_without_sign_in_everybody_is_the_one_at_this_machine(engine: Engine) -> None:
    assert current_user() is LOCAL
    run_id = engine.start("Why?", RunConfig())
    engine.wait(run_id)
    assert engine.record(run_id).author == ""
    assert engine.runs()[0].author == ""
    with acting_as(ADMIN):
        assert Team.of(engine).entries() == []


def test_with_sign_in_nothing_is_done_for_a_thread_that_no_door_has_named(whole: Engine) -> None:
    doors = [
        (value, method)
        for value in parts(whole).values()
        for method, operation in OPERATIONS.get(type(value), {}).items()
        if operation is not None
    ]
    assert len(doors) > 100
    with people_sign_in(whole):
        for value, method in doors:
            with pytest.raises(NotSignedIn):
                asked(value, method)


@pytest.mark.parametrize("person", PEOPLE, ids=lambda person: person.role)
def test_a_role_does_what_methods_declare_and_no_more(whole: Engine, person: Person) -> None:
    beyond = [
        (value, method)
        for value in parts(whole).values()
        for method, operation in OPERATIONS.get(type(value), {}).items()
        if operation is not None and not person.may(operation.least)
    ]
    with people_sign_in(whole), acting_as(person):
        for value, method in beyond:
            with pytest.raises(NotAllowed):
                asked(value, method)
    refused = {f"{type(value).__name__}.{method}" for value, method in beyond}
    some: dict[str, Role] = {"Engine.record": "viewer", "Engine.start": "editor", "Library.drop": "admin"}
    assert {name for name, least in some.items() if not person.may(least)} == refused & some.keys()


def test_files_of_the_servers_own_disk_are_for_admins(whole: Engine, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nB.")
    files = [IngestItem("a.md", path=tmp_path / "a.md")]
    with people_sign_in(whole):
        with acting_as(EDITOR):
            for put in (whole.ingest, whole.start_ingest, whole.ingestions.start, whole.ingestions.preview):
                with pytest.raises(NotAllowed):
                    put(files, "samples")
        with acting_as(ADMIN):
            assert whole.ingestions.preview(files, "samples")


def test_a_run_is_its_authors_to_the_end(engine: Engine) -> None:
    with people_sign_in(engine), acting_as(EDITOR):
        run_id = engine.start("Why?", RunConfig())
        assert engine.wait(run_id)
        engine.flush()
        record = engine.record(run_id)
        assert (record.outcome, record.author) == ("answered", EDITOR.id)
        assert record.to_dict()["author"] == EDITOR.id
        assert [item.author for item in engine.runs(author=EDITOR.id)] == [EDITOR.id]
        assert engine.runs(author=VIEWER.id) == []


def test_work_in_a_thread_is_done_for_whoever_began_it(engine: Engine) -> None:
    found: list[object] = []

    def work() -> None:
        try:
            found.append(current_user())
        except NotSignedIn as error:
            found.append(type(error))

    with people_sign_in(engine), acting_as(EDITOR):
        for target in (work, with_current_user(work)):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
    assert found == [NotSignedIn, EDITOR]


def test_changes_are_noted_once_with_who_made_them(engine: Engine) -> None:
    with people_sign_in(engine):
        with acting_as(EDITOR):
            run_id = engine.start("Why?", RunConfig())
            engine.wait(run_id)
            engine.flush()
            engine.tag_run(run_id, "seen")
            engine.evaluation.save_settings("mine", RunConfig())
            engine.record(run_id)
            with pytest.raises(NotAllowed):
                engine.delete_run(run_id)
        with acting_as(ADMIN):
            engine.delete_run(run_id)
            noted = [(item.who, item.operation, item.on) for item in Team.of(engine).entries()]
    assert noted == [
        (ADMIN.id, "Engine.delete_run", run_id),
        (EDITOR.id, "EvaluationStore.save_settings", "mine"),
        (EDITOR.id, "Engine.tag_run", f"{run_id} · seen"),
        (EDITOR.id, "Engine.start", run_id),
    ]


def test_an_engine_is_opened_and_closed_by_no_one(tmp_path: Path) -> None:
    require_sign_in(lambda: None)
    try:
        with engine_of(tmp_path) as engine:
            engine.wait_until_ready()
            assert engine.ready
    finally:
        require_sign_in(None)
