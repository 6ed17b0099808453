"""An installation with a collection that is limited to a group, and what one of its members left behind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient

from engine.api import middleware
from engine.drafting.values import Draft
from engine.engine import Engine
from engine.evaluation.cases import SAMPLE_SET, case_of, sample_set
from engine.knowledge.ingest import IngestItem
from engine.knowledge.weak_points import WeakPoint
from engine.model.config import RunConfig
from engine.model.grader_fit import GraderFit
from engine.model.people import Role
from engine.model.values import Memory, RunId
from engine.people import Person, acting_as
from engine.records import PINNED
from engine.settings import Settings
from plugins.team.page_cookie import NAME
from plugins.team.team import Team
from tests.api.served import ADDRESS
from tests.plugins.team.people.asgi import Answer, Headers, answer_of
from tests.plugins.team.signing_in import COOKIES, people_sign_in
from tests.support.brought import brought
from tests.support.people import ADMIN

SECRET = "zanthium"
DRAFT = "d-of-the-ward"
QUESTION = f"What does the {SECRET} protocol of the ward say?"
TEXT = f"# The {SECRET} protocol\n\nThe {SECRET} protocol of the ward says that rounds begin at six.\n"
MEMBER = Person("nurse@example.org", "Nurse", "editor", frozenset({"clinic"}))
OUTSIDER = Person("oscar@example.org", "Oscar", "editor", frozenset({"kitchen"}))


class Visitor:
    """Who looks at the pages of a test."""

    person: Person | None = None


@dataclass
class Ward:
    """An engine with the limited collection ``ward``, and what a member of its group left behind."""

    engine: Engine
    client: TestClient
    run: RunId
    open_run: RunId
    job: str
    batch: str
    visitor: Visitor

    def as_(self, person: Person) -> Any:
        return acting_as(self.engine.limits.admitted(person))

    def sent(self, method: str, target: str, headers: Headers | None = None, body: Any = None) -> Answer:
        """The answer to a request whose address no client has tidied up, in the one loop of ``client``."""
        assert self.client.portal is not None
        answer: Answer = self.client.portal.call(answer_of, self.client.app, method, target, headers, body)
        return answer

    def token(self, role: Role = "editor", collections: list[str] | None = None) -> dict[str, str]:
        with acting_as(ADMIN):
            return {"authorization": f"Bearer {Team.of(self.engine).make_token('t', role, 1, collections)[1]}"}


def cookie(person: Person) -> dict[str, str]:
    """The cookie that a person's page has."""
    return {"cookie": f"{NAME}={COOKIES.made(person, 2e9)}"}


@contextmanager
def ward_in(folder: Path, **settings: Any) -> Iterator[Ward]:
    """The installation, while people sign in."""
    usual = {"ollama_url": "http://127.0.0.1:1", "embedding_model": "hashing", **brought("SETTINGS")}
    chosen = Settings(data_dir=folder, **{**usual, **settings})
    visitor = Visitor()
    with Engine.open(chosen) as engine, people_sign_in(engine, lambda: visitor.person) as doors:
        with acting_as(ADMIN):
            engine.wait_until_ready()
            engine.ingest([IngestItem("protocol.md", data=TEXT.encode())], "ward")
            engine.library.set_alias("station", "ward")
            engine.limit_collection("station", ["clinic"])
            job = engine.graphs.build("ward")
            engine.ingestions.wait(job)
        with acting_as(engine.limits.admitted(MEMBER)):
            run, open_run, batch = _work_of_a_member(engine)
        app = Starlette(middleware=middleware(lambda: engine, chosen, sign_in=doors, views=_view))
        with TestClient(app, base_url=ADDRESS, raise_server_exceptions=False) as client:
            yield Ward(engine, client, run, open_run, job, batch, visitor)


def _work_of_a_member(engine: Engine) -> tuple[RunId, RunId, str]:
    run = asked(engine, QUESTION, RunConfig(collection="ward"))
    for tag in ("of the ward", PINNED):
        engine.tag_run(run, tag)
    open_run = asked(engine, "What is a truth table?", RunConfig())
    _remember(engine)
    asked(engine, QUESTION, RunConfig(collection="station", workflow="dual_loop"))
    engine.evaluation.add_case("of the ward", case_of(engine.record(run)), "ward")
    engine.evaluation.save_settings("for the ward", RunConfig(collection="ward", top_k=3))
    engine.evaluation.set_label(QUESTION, "protocol.md#0", relevant=True)
    batch = engine.batches.start("of the ward", RunConfig(collection="ward"))
    engine.batches.wait(batch)
    engine.grader_fits.keep(GraderFit("examples", "ollama:m", "ward", {"examples": [SECRET]}))
    engine.weak_points.note(WeakPoint("w1", "ward", QUESTION, "refused", run, "2026-01-01T00:00:00.000+00:00"))
    asked_of_all = sample_set().cases[0].id
    engine.batches.wait(engine.batches.start(SAMPLE_SET, RunConfig(collection="ward"), case_ids=[asked_of_all]))
    engine._evaluations.drafts.add([Draft(DRAFT, "ward", QUESTION, "way", "en", source="protocol.md")])
    engine.judging.history("of the ward")
    engine.flush()
    return run, open_run, batch


def _view(record: Any, _: Any) -> dict[str, Any]:
    return {"answer": record.answer}


def asked(engine: Engine, question: str, config: RunConfig) -> RunId:
    """A run of a question, ended and stored."""
    run = engine.start(question, config)
    engine.wait(run)
    engine.flush()
    assert SECRET in json.dumps(engine.record(run).to_dict()) or SECRET not in question
    return run


def _remember(engine: Engine) -> None:
    """A memory of the ward, as a run of the dual loop leaves one."""
    kept = Memory("m1", QUESTION, f"The {SECRET} protocol.", "ward", "r", "2026-01-01T00:00:00.000+00:00")
    engine._loop.call(engine.resources.knowledge.memory().keep(kept))
