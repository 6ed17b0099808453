"""Tries, in a copy of the program, what the recipes of CONTRIBUTING added: ``test_extending.py`` runs this file there.

The toy workflow ``plain`` retrieves and generates; ``noted`` is a setting, ``Noted`` an event, ``checker`` a role,
``hello`` a page, ``/weak-points/count`` a route, ``.diary`` a file type, ``searched_again`` a measure, ``de`` a
language of the pages and ``fireworks`` a provider.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from components.common.i18n import LANGUAGES, Words, words_for
from components.picture.export import workflow_svg
from components.picture.picture import picture_of
from components.runs.report import report_html
from components.sentences.steps import sentence
from engine.api import create_api
from engine.api.process import use_engine
from engine.cli import main as cli
from engine.engine import Engine
from engine.evaluation.aggregate import evaluate
from engine.evaluation.bars import measure_of, values_of
from engine.evaluation.cases import Case
from engine.evaluation.evidence import gather
from engine.flow import workflow
from engine.knowledge.loaders.kinds import is_known, loader_of
from engine.llm.providers import provider_states
from engine.model import events
from engine.model.config import RunConfig, every_setting
from engine.model.events import fold_all
from engine.model.values import RunRecord
from engine.records.codec import event_from_json, event_to_json, record_from_dict
from engine.replay import what_if
from engine.replay.difference import difference
from engine.replay.playback import steps
from engine.running.budget import measured_costs, worst_case
from engine.settings import Settings
from tests.docs import measures_table, options_table, parameters_table
from tests.pages.driving import inline, opened, setting

QUESTIONS = ("What fasting glucose level means diabetes today?", "糖化血红蛋白应该控制在多少以下？")
PLAIN = RunConfig(workflow="plain")
PATIENCE_S = 60.0
BOTH = pytest.mark.parametrize("words", [words_for("en"), words_for("zh")], ids=["en", "zh"])


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("toys"), ollama_url="http://127.0.0.1:1")
    with Engine.open(settings) as opened_engine:
        opened_engine.wait_until_ready()
        use_engine(opened_engine)
        yield opened_engine
    use_engine(None)


@pytest.fixture(scope="module")
def record(engine: Engine) -> RunRecord:
    return engine.run(QUESTIONS[0], PLAIN)


# -- the workflow ----------------------------------------------------------------------------------------------------


def test_a_run_and_its_record(engine: Engine, record: RunRecord) -> None:
    assert (record.outcome, record.error) == ("answered_unverified", None)
    assert record.answer and record.citations and not record.decisions
    assert [item.node for item in record.nodes] == ["retrieve", "generate"]
    assert record_from_dict(record.to_dict()) == record == engine.record(record.id)
    assert record.manifest["generator"] == "builtin" and "grader" not in record.manifest


def test_what_a_run_asks_is_counted_from_its_nodes(engine: Engine) -> None:
    chat = replace(PLAIN, models=replace(PLAIN.models, generator=replace(PLAIN.models.generator, model="ollama:m")))
    assert (engine.worst_case_calls(PLAIN), engine.worst_case_calls(chat)) == (0, 1)
    assert workflow("plain").roles == ("generator", "refiner", "verifier")


def test_the_price_of_a_run_is_that_of_its_own_steps(record: RunRecord) -> None:
    price = worst_case(measured_costs([record], PLAIN), PLAIN)
    assert price.built_in_calls == 1 and price.seconds is not None


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("changes", [{}, {"top_k": 2}, {"top_k": 12}, {"similarity_threshold": 0.99}, {"noted": True}])
def test_a_what_if_is_what_a_real_run_does(engine: Engine, question: str, changes: dict[str, Any]) -> None:
    base = engine.run(question, PLAIN)
    foretold = what_if(base, replace(PLAIN, **changes))
    real = engine.run(question, replace(PLAIN, **changes))
    assert foretold.path_known and foretold.outcome == real.outcome
    assert real.context is not None
    assert [item.id for item in foretold.passages] == [item.id for item in real.context.passages]
    if foretold.state == "known":
        assert foretold.answer == real.answer


def test_a_fork_is_run_with_what_was_changed(engine: Engine, record: RunRecord) -> None:
    branch = engine.fork(record, replace(PLAIN, top_k=2))
    assert engine.wait(branch, PATIENCE_S)
    made = engine.record(branch)
    assert made.fork is not None and made.outcome == record.outcome and made.context is not None
    assert len(made.context.passages) == 2


@BOTH
def test_the_picture_the_drawing_and_the_report(engine: Engine, record: RunRecord, words: Words) -> None:
    graph = engine.graph("plain")
    assert graph.nodes == ("retrieve", "generate")
    for seen in (None, record):
        picture = picture_of(graph, seen, words)
        assert all(view.title and view.spoken for view in picture.nodes.values())
    assert workflow_svg(graph, record, words).startswith("<svg")
    report = report_html(record, graph, words)
    assert words(workflow("plain").name) in report and record.answer.split()[0] in report
    assert not _of_gates(report, words), "no gate judged anything"


@BOTH
def test_the_presenter_says_a_sentence_of_each_step(engine: Engine, record: RunRecord, words: Words) -> None:
    made = steps(engine.events(record.id))
    assert [step.kind for step in made] == ["asked", "searched", "ended"]
    said = [sentence(step, record, words) for step in made]
    assert all(said) and not any(_of_gates(text, words) for text in said)


def _of_gates(text: str, words: Words) -> bool:
    """Whether a text speaks of a bar, or of a grader at work, which this workflow does not have."""
    false = {"en": ("to the grader", "the bar", "No passage passed"), "zh": ("交给评分模型", "门槛", "没有片段通过")}
    return any(part in text for part in false[words.language])


def test_two_runs_are_compared(engine: Engine, record: RunRecord) -> None:
    other = engine.run(QUESTIONS[0], replace(PLAIN, top_k=2, noted=True))
    found = difference(record, other)
    assert {item.name for item in found.settings} == {"top_k", "noted"}
    assert opened("compare", a=record.id, b=other.id).markdown is not None


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages_of_the_workflow(engine: Engine, record: RunRecord, language: str) -> None:
    words = words_for("zh" if language == "zh" else "en")
    app = opened("", language, workflow="plain")
    keys = {item.key for kind in (app.slider, app.toggle, app.number_input, app.selectbox) for item in kind}
    assert {"top_k", "similarity_threshold", "noted", "budget_s", "generator"} <= keys
    assert not keys & {"grade_pass_threshold", "min_relevant", "min_confidence", "max_rewrites", "grader"}
    for view in ("", "passages", "path", "rewrites", "timeline", "calls", "record"):
        shown = inline(opened("", language, run=record.id, **({"view": view} if view else {})))
        assert words("Retrieve") in shown and not _of_gates(shown, words)
    for page in ("runs", "tune", "knowledge", "system"):
        opened(page, language)
    opened("present", language, run=record.id)
    opened("side_by_side", language, runs=record.id)


def test_the_api_and_the_command_line(engine: Engine, record: RunRecord, capsys: pytest.CaptureFixture[str]) -> None:
    with TestClient(create_api(lambda: engine)) as client:
        answered = client.post("/runs", json={"question": QUESTIONS[0], "workflow": "plain", "wait": True})
        assert answered.status_code in (200, 201, 202), answered.text
        listed = client.get("/runs", params={"workflow": "plain"}).json()
        assert record.id in json.dumps(listed)
        tried = client.post(f"/runs/{record.id}/what-if", json={"config": {"top_k": 2, "noted": True}})
        assert tried.status_code == 200, tried.text
    config = cli._config(cli._parser().parse_args(["ask", "hi", "--workflow", "plain", "--noted"]))
    assert (config.workflow, config.noted) == ("plain", True)


# -- the setting, the event, the role, the page ----------------------------------------------------------------------


def test_a_setting_is_in_the_panel_the_address_and_the_tables(engine: Engine) -> None:
    assert setting(opened("", "en", noted="true"), "noted").value is True
    assert "`noted`" in parameters_table() and "`noted`" not in options_table()
    assert every_setting()["noted"].widget == "switch"
    record = engine.run(QUESTIONS[0], RunConfig(noted=True))
    assert what_if(record, replace(record.config, noted=False)).state == "known"
    assert record_from_dict(record.to_dict()).config.noted is True


def test_an_event_is_folded_kept_and_read_back(record: RunRecord, engine: Engine) -> None:
    event = events.Noted(note="kept", seq=99, t_ms=1.0)
    assert event_from_json(event_to_json(event)) == event
    seen = [*engine.events(record.id)]
    noted = fold_all([*seen, replace(event, seq=seen[-1].seq + 1)])
    assert noted.note == "kept" and record.note == ""
    assert record_from_dict(noted.to_dict()) == noted
    assert [step.kind for step in steps(seen)] == [step.kind for step in steps([*seen, event])]


def test_a_role_has_a_model_and_a_name(engine: Engine) -> None:
    config = RunConfig(models=replace(RunConfig().models, checker=replace(RunConfig().models.grader, model="ollama:m")))
    assert config.models.of("checker").model == "ollama:m"
    assert record_from_dict(engine.run(QUESTIONS[0], config).to_dict()).config == config
    assert Settings(role_models=("checker=ollama:m",)).models.checker.model == "ollama:m"


def test_a_page_is_in_the_navigation() -> None:
    app = opened("hello")
    assert [item.value for item in app.title] == ["Hello"]


# -- the route, the file type, the measure, the language, the provider -----------------------------------------------


def test_a_route_answers_and_is_described(engine: Engine) -> None:
    with TestClient(create_api(lambda: engine)) as client:
        assert client.get("/weak-points/count").json() == {"count": 0}
        assert "/weak-points/count" in client.get("/openapi.json").json()["paths"]


def test_a_file_type_is_read_by_its_name() -> None:
    assert is_known("a.diary")
    assert loader_of("a.diary")("a.diary", b"rain", False).sections[0].text == "rain"


def test_a_measure_is_computed_shown_and_listed(engine: Engine, record: RunRecord) -> None:
    case = Case("q", record.question)
    named = measure_of("searched-again")
    assert values_of([named], [case], {case.id: record})[named].value == 0.0
    assert "`searched_again`" in measures_table()
    evaluation = evaluate(gather([case], {case.id: record}), [record.config, record.config])
    assert evaluation.figure("searched_again").value == 0.0


def test_a_language_is_on_the_switch_and_draws_pages(engine: Engine, record: RunRecord) -> None:
    app = opened("", "de", run=record.id)
    assert LANGUAGES["de"].name == "DE" and words_for("de")("Passages") == "译文"
    assert any("译文" in item.value for item in app.markdown)


def test_a_provider_says_what_it_lacks(engine: Engine) -> None:
    (found,) = (item for item in provider_states(engine.settings) if item.name == "fireworks")
    assert (found.package, found.installed, found.variable) == ("langchain-fireworks", False, "FIREWORKS_API_KEY")
