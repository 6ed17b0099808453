"""SC-05: which gate is meant where none is named, and what is said before a run of a gate that cannot be met."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluation.command import read_config
from engine.evaluation.store import EvaluationStore
from engine.model.config import GatePolicy, RunConfig, config_from_dict
from engine.model.decide import Evidence, decide, gate_warnings, gated
from engine.model.values import Passage, PassageId, Round, Verdict
from engine.records.codec import event_from_json, event_to_json, record_from_dict
from engine.running.seed_response import seed_response
from engine.samples.demos import demo_events, demo_record

_DEMO = "demo-forced-en"
BY_RATE = RunConfig(gate="pass_rate")


@pytest.mark.parametrize(
    ("named", "gate"),
    [
        ({}, "min_relevant"),
        ({"top_k": 8}, "min_relevant"),
        ({"min_relevant": 2}, "min_relevant"),
        ({"grade_pass_threshold": 0.6}, "pass_rate"),
        ({"grade_pass_threshold": 0.6, "gate": "min_relevant"}, "min_relevant"),
        ({"gate": "pass_rate"}, "pass_rate"),
    ],
)
def test_one_passed_passage_is_enough_unless_a_pass_rate_is_named(named: dict[str, Any], gate: GatePolicy) -> None:
    assert (RunConfig(**named).gate, config_from_dict(named).gate) == (gate, gate)
    assert RunConfig(**named).min_relevant == named.get("min_relevant", 1)


def test_a_record_without_a_gate_is_read_with_the_pass_rate_it_was_decided_by() -> None:
    record = demo_record(_DEMO)
    assert record.config.gate == "pass_rate"
    plain = record.to_dict()
    del plain["config"]["gate"]
    assert record_from_dict(plain) == record
    started = demo_events(_DEMO)[0]
    plain = json.loads(event_to_json(started))
    del plain["config"]["gate"]
    assert event_from_json(json.dumps(plain)) == started


@pytest.mark.parametrize("kept", [{"top_k": 8}, asdict(BY_RATE)])
def test_a_file_of_settings_without_a_gate_keeps_the_pass_rate(kept: dict[str, Any], tmp_path: Path) -> None:
    plain = {name: value for name, value in kept.items() if name not in ("gate", "models", "options")}
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    assert read_config(path).gate == "pass_rate"
    written = tmp_path / "settings.toml"
    for text, gate in (("top_k = 8", "pass_rate"), ('gate = "min_relevant"', "min_relevant")):
        written.write_text(text, encoding="utf-8")
        assert read_config(written).gate == gate


def test_stored_settings_without_gate_and_search_keep_those_of_their_time(tmp_path: Path) -> None:
    with EvaluationStore(tmp_path / "tune.db") as store:
        store.save_settings("of old", RunConfig(top_k=8, gate="pass_rate"))
        with closing(sqlite3.connect(tmp_path / "tune.db")) as connection, connection:
            connection.execute("UPDATE saved_settings SET config = ?", ('{"top_k": 8}',))
        assert store.settings() == {"of old": RunConfig(top_k=8, gate="pass_rate", search="vector")}


def everything_kept(config: RunConfig, passing: int, rounds: int = 1) -> Evidence:
    """Rounds that keep as many passages as top-k lets, new ones in each, of which ``passing`` pass."""
    made = []
    for index in range(rounds):
        found = [Passage(PassageId(f"r{index}-{n}"), "a.md", "text", 1.0, 1.0) for n in range(config.top_k)]
        verdicts = {item.id: Verdict(n < passing, 1.0, "x") for n, item in enumerate(found)}
        made.append(Round(index=index, query=f"q{index}", candidates=gated(found, config), verdicts=verdicts))
    return Evidence(made)


@given(
    st.integers(1, 20),
    st.integers(0, 3),
    st.sampled_from(["union", "last_round"]),
    st.one_of(
        st.builds(lambda n: {"gate": "min_relevant", "min_relevant": n}, st.integers(1, 20)),
        st.builds(lambda share: {"gate": "pass_rate", "grade_pass_threshold": share}, st.floats(0, 1)),
    ),
)
def test_what_is_said_before_a_run_is_what_the_policy_does(
    top_k: int, rewrites: int, context: Any, gate: dict[str, Any]
) -> None:
    config = RunConfig(top_k=top_k, max_rewrites=rewrites, context=context, similarity_threshold=0, **gate)
    said = gate_warnings(config)
    one = decide(everything_kept(config, 1), config).reason == "passed"
    first = decide(everything_kept(config, top_k), config).reason == "passed"
    last = decide(everything_kept(config, top_k, rewrites + 1), config).reason == "passed"
    if config.gate == "pass_rate":
        assert bool(said) == (not one)
        if said:
            needed = int(said[0].params["needed"])
            assert decide(everything_kept(config, needed), config).reason == "passed"
            assert decide(everything_kept(config, needed - 1), config).reason != "passed"
    else:
        assert bool(said) == (not first)
        assert not said or ("most" in said[0].params) == (not last)


def test_nothing_is_said_of_a_gate_that_a_workflow_does_not_go_by() -> None:
    assert gate_warnings(RunConfig()) == ()
    assert gate_warnings(RunConfig(workflow="quality_loop", gate="min_relevant", min_relevant=20)) == ()
    assert gate_warnings(RunConfig(workflow="answer_evaluation", gate="pass_rate")) != ()


def test_the_response_of_the_endpoint_says_that_one_passage_cannot_meet_its_gate() -> None:
    warnings = seed_response(demo_record(_DEMO))["warnings"]
    assert warnings[0]["code"] == "WB121"
    assert "3 of them pass" in warnings[0]["fact"]
    lenient = replace(demo_record(_DEMO), config=replace(BY_RATE, grade_pass_threshold=0.2))
    assert "WB121" not in [item["code"] for item in seed_response(lenient)["warnings"]]
