"""A question that is split into parts: which of them are covered decides, and rewrites search for the open ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.builtin.parts import parts_of
from engine.engine import Engine
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.decide import open_parts
from engine.model.values import Verdict
from engine.replay import what_if
from engine.replay.grid import paths
from engine.replay.settings import REASONS, SettingsGrid
from engine.replay.table import run_table
from engine.roles import MOST_PARTS
from tests.engine.forking import forked, routes

COMPOUND = (
    "Which surgeon had the idea that led to insulin, and with whom did he share his Nobel Prize money?",
    "Which laws tell the complement of a union, and how many rows of a truth table are enough to confirm them?",
    "喝酒为什么容易低血糖，急救用的胰高糖素这时为什么又不灵？",
    "给汤普森换上的那批药是谁提纯的，后来谁把奖金分给了他？",
    "My HbA1c is 7 %. What average glucose is that, and would 7 % count as diabetes?",
)
SIMPLE = "How many rows does a truth table with five variables need?"
USUAL = RunConfig(grade_probe=True)
SPLIT = replace(USUAL, split=True)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            COMPOUND[0],
            ("Which surgeon had the idea that led to insulin", "with whom did he share his Nobel Prize money?"),
        ),
        (COMPOUND[2], ("喝酒为什么容易低血糖", "急救用的胰高糖素这时为什么又不灵?")),
        (SIMPLE, ()),
        ("Who first published truth tables, and in which year?", ()),
        ("How quickly does the first insulin analogue, which came in 1996, start to work?", ()),
        ("Mothers who had gestational diabetes often get another disease later: with which tablet does it begin?", ()),
    ],
)
def test_parts_are_clauses_that_ask_and_can_be_searched_alone(question: str, parts: tuple[str, ...]) -> None:
    assert parts_of(question) == parts


@pytest.mark.parametrize("question", COMPOUND)
def test_the_loop_continues_for_the_part_that_is_open(engine: Engine, question: str) -> None:
    record = engine.run(question, SPLIT)
    assert record.rounds[0].query == question and record.rounds[0].parts == parts_of(question)
    for index, decision in enumerate(record.decisions):
        still_open = open_parts(record.rounds[: index + 1], record.config)
        assert decision.reason != "passed" or not still_open
        if decision.route == "rewrite":
            rewrite = record.rewrites[index]
            assert rewrite.part in still_open
            first = rewrite.part not in {item.part for item in record.rewrites[:index]}
            assert (rewrite.rewritten_query == rewrite.part) == first
    assert all(len(verdict.parts) == 2 for item in record.rounds for verdict in item.verdicts.values())
    assert engine.record(record.id).rounds == record.rounds, "as the file has it"


def test_an_open_part_is_searched_until_it_is_covered_and_the_answer_has_both(engine: Engine) -> None:
    record = engine.run(COMPOUND[1], replace(SPLIT, top_k=1, min_confidence=0.3))
    counted = [item.comparisons[1] if item.reason == "passed" else item.comparisons[0] for item in record.decisions]
    assert counted[0].value == 1 and record.outcome == "answered"
    assert (counted[-1].quantity, counted[-1].value, counted[-1].bound) == ("covered_parts", 2, 2)
    before = engine.run(COMPOUND[1], replace(USUAL, top_k=1, min_confidence=0.3))
    assert len(before.rounds) == 1, "without it, the first passage that passes is enough"
    assert record.context is not None and before.context is not None
    assert {item.id for item in record.context.passages} > {item.id for item in before.context.passages}


@pytest.mark.parametrize("workflow", ["self_corrective", "answer_evaluation"])
def test_the_answer_says_which_part_stays_open(engine: Engine, workflow: str) -> None:
    config = replace(SPLIT, workflow=workflow, max_rewrites=0)
    record = engine.run(COMPOUND[3], config)
    assert open_parts(record.rounds, config) == (parts_of(COMPOUND[3])[1],)
    assert "后来谁把奖金分给了他" in record.answer.splitlines()[-1] and not record.unsupported_sentences
    assert engine.what_if(record, config).answer == record.answer
    without = engine.what_if(record, replace(config, split=False))
    assert without.decisions and not without.answer, "the generator would get no open part"


def test_a_question_that_asks_one_thing_runs_as_without(engine: Engine) -> None:
    plain, split = engine.run(SIMPLE, USUAL), engine.run(SIMPLE, SPLIT)
    assert split.rounds == plain.rounds and split.decisions == plain.decisions
    assert engine.what_if(plain, SPLIT).same_path and engine.what_if(split, USUAL).same_path


@pytest.mark.parametrize("workflow", ["self_corrective", "answer_evaluation"])
@pytest.mark.parametrize("question", COMPOUND)
def test_a_what_if_is_the_run_that_it_foretells(engine: Engine, question: str, workflow: str) -> None:
    """SC-04: coverage follows from what was recorded of each passage and part, at any bar."""
    config = replace(SPLIT, workflow=workflow, max_rewrites=2)
    record = engine.run(question, config)
    assert engine.what_if(record, config).same_path
    known = 0
    for changed in ({"min_confidence": 0.3}, {"min_confidence": 0.8}, {"top_k": 2}, {"max_rewrites": 1}):
        wanted = replace(config, **changed)
        foretold, real = engine.what_if(record, wanted), engine.run(question, wanted)
        if foretold.path_known:
            known += 1
            assert [(item.route, item.reason) for item in foretold.decisions] == routes(real), changed
            assert [item.comparisons for item in foretold.decisions] == [item.comparisons for item in real.decisions]
    assert known >= 1


@pytest.mark.parametrize("name", ["min_confidence", "cascade_high"])
def test_settings_between_which_a_part_is_covered_are_told_apart_on_a_map(engine: Engine, name: str) -> None:
    """SC-04: a cell says what its what-if says, where no passage as a whole turns at that value."""
    run = engine.run(COMPOUND[1], replace(SPLIT, max_rewrites=0))
    judged = {key: Verdict(True, 0.9, "", raw=0.9, parts=(0.9, 0.3)) for key in run.rounds[0].verdicts}
    config = run.config
    if name == "cascade_high":
        models = RoleModels(grader=CHAT.grader, screener=RoleModel("cross_encoder:small"))
        config = replace(config, models=models, cascade=True, cascade_low=0.0)
    record = replace(run, config=config, rounds=(replace(run.rounds[0], verdicts=judged, screened=judged),))
    grid = SettingsGrid.product(config, {name: (0.2, 0.4)})
    found = [what_if(record, grid.config(place)).decisions[-1].reason for place in range(2)]
    assert found == ["passed", "max_rewrites"]
    assert [REASONS[code] for code in paths(run_table(record), grid).reason] == found


def test_turning_it_on_is_unknown_and_turning_it_off_is_known(engine: Engine) -> None:
    plain, split = engine.run(COMPOUND[4], USUAL), engine.run(COMPOUND[4], SPLIT)
    unknown = engine.what_if(plain, SPLIT)
    assert not unknown.path_known and unknown.gap == "verdicts"
    off = engine.what_if(split, USUAL)
    assert off.path_known and [(item.route, item.reason) for item in off.decisions] == routes(plain)


def test_a_branch_judges_the_parts_again(engine: Engine) -> None:
    plain = engine.run(COMPOUND[4], USUAL)
    made, real = forked(engine, plain, SPLIT), engine.run(COMPOUND[4], SPLIT)
    assert [item.parts for item in made.rounds] == [item.parts for item in real.rounds]
    assert routes(made) == routes(real)


CHAT = RoleModels(grader=RoleModel("ollama:qwen3:8b"), rewriter=RoleModel("ollama:qwen3:8b"))
TWO = "Where is rapid insulin injected, and how many rows does a truth table with five variables need?"


def test_a_chat_model_splits_in_one_call_and_a_grader_in_words_needs_no_more(engine: Engine) -> None:
    usual = replace(USUAL, models=CHAT, max_rewrites=1, top_k=3, probe_k=3)
    wanted = replace(usual, split=True)
    record = engine.run(TWO, wanted)
    asked = [call for call in record.model_calls if call.role == "rewriter" and call.node == "retrieve"]
    assert len(asked) == 1 and record.rounds[0].parts == tuple(TWO.split(", and "))
    assert record.manifest["split_prompt"]
    judged = [call.passage_id for call in record.model_calls if call.role == "grader" and call.round == 0]
    assert len(judged) == len(set(judged)) == 3
    # By one word, which another server may give, each part would be a call more in each of two rounds.
    assert engine.worst_case_calls(wanted) == engine.worst_case_calls(usual) + 1 + 2 * 3 * MOST_PARTS
    assert engine.what_if(record, wanted).same_path
    assert not engine.what_if(record, usual).path_known, "its prompt was another one"
    assert engine.what_if(engine.run(TWO, usual), wanted).gap == "rewrite"
