"""SC-07: each sentence of an answer is checked by the verifier of the run; note and label rest on its checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from components.ask.what_if_text import differences_to
from engine.engine import Engine
from engine.evaluation.aggregate import evaluate
from engine.evaluation.cases import Case
from engine.evaluation.evidence import gather
from engine.model.config import WORKFLOWS, RoleModel, RoleModels, RunConfig
from engine.model.events import AnswerCompleted, RunFinished, fold_all
from engine.model.values import RunRecord
from engine.records.codec import record_from_dict
from engine.replay.grid import paths
from engine.replay.settings import SettingsGrid
from engine.replay.table import run_table
from engine.roles import MOST_CHECKED
from engine.running.seed_response import seed_response
from engine.settings import Settings
from tests.engine.test_answer_note import CHAT, QUESTION, World

TRUE = "Every variable doubles the number of rows, so five already give 32 [1]."
REVERSED = "Every row doubles the elephants, so 32 already give five variables [1]."
"""No figure, name or code word of it is missing: the built-in verifier has nothing to say."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("checks"))
    yield made
    made.close()


def config(verifier: RoleModel = CHAT, workflow: str = "self_corrective", **more: float) -> RunConfig:
    models = RoleModels(generator=CHAT, verifier=verifier)
    return RunConfig(workflow=workflow, max_rewrites=0, models=models, **more)  # type: ignore[arg-type]


def run(world: World, says: str, asked: RunConfig) -> RunRecord:
    world.says = [says]
    return world.engine.run(QUESTION, asked)


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_what_a_model_finds_unsupported_is_said_in_any_workflow(world: World, workflow: str) -> None:
    """SC-07"""
    record = run(world, f"{TRUE} {REVERSED}", config(workflow=workflow))
    assert [item.p_supported for item in record.checks or ()] == pytest.approx([0.9, 0.1])
    assert (record.answer_note, record.support) == ("unsupported", "unsupported")
    assert [(item.sentence, item.missing) for item in record.unsupported_sentences or ()] == [(REVERSED, ())]
    asked = [call for call in record.model_calls if call.role == "verifier"]
    assert len(asked) == 2 and {call.node for call in asked} <= {item.node for item in record.nodes}
    assert record.manifest["verifier_prompt"].startswith("verifier-")
    assert seed_response(record)["checks"][1]["pSupported"] == pytest.approx(0.1)
    assert record_from_dict(record.to_dict()) == record


def test_the_built_in_verifier_checks_by_words(world: World) -> None:
    record = run(world, f"{TRUE} {REVERSED}", config(RoleModel()))
    assert [(item.p_supported, item.kind) for item in record.checks or ()] == [(1.0, "builtin"), (1.0, "builtin")]
    assert record.support == "supported" and not any(call.role == "verifier" for call in record.model_calls)


def test_the_answer_is_there_before_it_is_checked(world: World) -> None:
    world.says = [TRUE]
    run_id = world.engine.start(QUESTION, config())
    events = list(world.engine.events(run_id))
    answered = next(place for place, event in enumerate(events) if isinstance(event, AnswerCompleted))
    assert fold_all(events[: answered + 1]).answer == TRUE
    assert isinstance(events[-1], RunFinished) and events[-1].checks
    assert all(event.call.role != "verifier" for event in events[:answered] if hasattr(event, "call"))


@pytest.mark.parametrize("min_support", [0.0, 0.1, 0.1001, 0.5, 0.9, 0.95, 1.0])
def test_another_cut_replays_as_a_real_run_without_a_call(world: World, min_support: float) -> None:
    """SC-10"""
    record = run(world, f"{TRUE} {REVERSED}", config())
    other = replace(record.config, min_support=min_support)
    found, real = world.engine.what_if(record, other), run(world, f"{TRUE} {REVERSED}", other)
    assert (found.state, found.answer_note) == ("known", real.answer_note)
    assert real.answer_note == ("unsupported" if min_support > 0.1 else "")


def test_what_another_verifier_would_say_is_unknown(world: World) -> None:
    record = run(world, TRUE, config())
    found = world.engine.what_if(record, replace(record.config, models=RoleModels(generator=CHAT)))
    assert (found.state, found.answer_note) == ("known", "unchecked")


def test_the_checks_of_an_answer_are_priced_where_it_stands_and_where_it_would_be_written(world: World) -> None:
    """SC-10: two sentences were asked about; of an answer that no one has written, at most as many as ever are."""
    record = run(world, f"{TRUE} {REVERSED}", config())
    assert record.calls == 3
    own = world.engine.what_if(record, replace(record.config, min_support=0.9))
    assert (own.state, own.cost.calls, own.checks) == ("known", 3, 2)
    assert sum(count for _, count in differences_to(own, record)) == 0, "nothing is saved"
    other = replace(record.config, models=replace(record.config.models, generator=RoleModel()))
    found = world.engine.what_if(record, other)
    needed = found.calls_needed
    assert (found.state, found.checks, needed.next.calls) == ("generation", None, 0)
    assert needed.worst.calls == MOST_CHECKED
    assert len(differences_to(found, record)) == 2, "how many calls fewer it takes is not known"

    by_grid = paths(run_table(record), SettingsGrid.of([record.config]))
    assert (by_grid.calls[0], by_grid.checks[0], by_grid.gradings[0]) == (3, 2, own.cost.built_in_calls)
    evaluation = evaluate(gather([Case("a", QUESTION, answerable=True)], {"a": record}), [record.config, other])
    stands, open_ = (evaluation.figure("calls", place) for place in (0, 1))
    assert stands.value == 3 and open_.value is None
    assert (open_.lower, open_.upper) == (0, MOST_CHECKED)
    assert {evaluation.figure("steps", place).value for place in (0, 1)} == {record.built_in_calls + 1}


def test_a_branch_with_the_same_answer_is_not_checked_again(world: World) -> None:
    parent = run(world, f"{TRUE} {REVERSED}", config())
    child_id = world.engine.fork(parent, parent.config)
    world.engine.wait(child_id)
    child = world.engine.record(child_id)
    assert (child.answer, child.checks, child.answer_note) == (parent.answer, parent.checks, "unsupported")
    assert not [call for call in child.model_calls if call.role == "verifier"]
    assert world.engine.what_if(child, child.config).checks == 2, "asked by itself, it would be checked"


def test_a_verifier_out_of_reach_leaves_the_answer_unchecked_and_says_why(tmp_path: Path) -> None:
    """SC-07: nothing fails open."""
    with Engine.open(Settings.load(data_dir=tmp_path, openai_url="http://127.0.0.1:9/v1")) as engine:
        models = RoleModels(verifier=RoleModel("openai:gone"))
        record = engine.run(QUESTION, RunConfig(models=models))
        assert record.outcome == "answered" and record.answer
        assert (record.answer_note, record.support) == ("unchecked", "unchecked")
        lead, *claims = record.checks or ()
        assert (lead.verifier, lead.p_supported) == ("builtin", 1.0), "what states nothing is checked by words"
        faults = [item.fault for item in claims if item.p_supported is None and item.fault is not None]
        assert faults and len(faults) == len(claims) and faults[0].code == record.warnings[-1].code
        assert engine.runs()[0].answer_note == "unchecked"
