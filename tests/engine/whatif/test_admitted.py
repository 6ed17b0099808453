"""No proposal and no what-if answers unsaid from what the run held back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from components.ask.admitted import admits_count
from components.ask.answer import headline
from components.common.i18n import words_for
from components.common.markup import Node
from components.runs.figures import figures_of
from components.runs.in_words import InWords
from engine.engine import Engine
from engine.evaluation.cases import Case, QuerySet
from engine.evaluation.known_right import known_right
from engine.model.config import RunConfig
from engine.model.values import ANSWERED, RunRecord, Verdict
from engine.replay import what_if
from engine.replay.decision_boundaries import Sweep, remedy
from engine.replay.decision_map import decision_map
from engine.replay.diagnosis import diagnose
from engine.replay.gate_cost import gate_cost
from engine.replay.pinned import pinned_effect
from engine.replay.table import run_table
from engine.settings import Settings
from pages.parts.ask.what_if import tone_of
from pages.parts.ask.what_if_details import detail_nodes
from pages.parts.ask.what_if_map import look_of
from tests.engine.whatif.world import World, recordings, run_in, variations, worlds

YES, WEAK, NO = Verdict(True, 0.9, "yes"), Verdict(True, 0.4, "perhaps"), Verdict(False, 0.87, "no")
EN, ZH = words_for("en"), words_for("zh")
HARMFUL: dict[str, dict[str, Any]] = {
    "P(relevant) to 0.13": {"min_confidence": 0.13},
    "P(relevant) to 0": {"min_confidence": 0.0},
    "answering unverified": {"answer_unverified": True},
    "everything open": {
        "min_confidence": 0.0,
        "similarity_threshold": 0.0,
        "grade_pass_threshold": 0.0,
        "gate": "pass_rate",
    },
}


def refusing(*verdicts: Verdict, **changes: Any) -> RunRecord:
    """A run in which nothing passed: every passage that it kept has one of these verdicts."""
    found = tuple((place, 0.6 - place / 10) for place in range(len(verdicts)))
    config = RunConfig(max_rewrites=0, **changes)
    return run_in(World((found,) * 4, verdicts, ("new",) * 4), config)


def text_of(item: Node | str) -> str:
    return item if isinstance(item, str) else "".join(text_of(kid) for kid in item.kids)


def accepted(verdict: Verdict | None, run: RunConfig) -> bool:
    return verdict is not None and verdict.relevant is True and verdict.reach >= run.min_confidence


@hypothesis_settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_every_passage_of_a_real_answer_that_the_run_would_have_refused_is_named(data: st.DataObject) -> None:
    """SC-04: whatever setting is moved, ``admits`` has what a real run would give to the generator."""
    around, config = data.draw(worlds()), data.draw(recordings())
    if around.time_up or around.cut_off or around.unreached is not None:
        return
    record = run_in(around, config)
    tried = data.draw(variations(config))
    found = what_if(record, tried)
    if not found.path_known or found.outcome not in ANSWERED or not found.passages:
        return
    again = run_in(around, tried)
    assert again.context is not None
    judged = {name: item for current in again.rounds for name, item in current.verdicts.items()}
    refused = {
        item.id
        for item in again.context.passages
        if item.id not in judged
        or judged[item.id].relevant is not True
        or judged[item.id].reach < config.min_confidence
    }
    assert refused <= {item.passage.id for item in found.admits if item.unaccepted}


@pytest.mark.parametrize("change", HARMFUL.values(), ids=HARMFUL)
def test_what_lets_refused_passages_in_is_amber_and_names_them_wherever_it_is_said(change: dict[str, Any]) -> None:
    record = refusing(NO)
    found = what_if(record, replace(record.config, **change))
    assert found.outcome in ANSWERED
    assert [(item.passage.id, item.held_by) for item in found.admits] == [("p00", "refused")]
    card = detail_nodes(found, record, EN)
    assert "s.md (not relevant, P(relevant) 0.13)" in "".join(text_of(item) for item in card)
    assert tone_of(found) == "warn"
    assert admits_count(found.admits, EN) == "lets in 1 refused passage"
    assert "s.md (not relevant, P(relevant) 0.13)" in InWords().what_if(found, record, "en")
    assert "s.md（评为不相关，相关概率 0.13）" in InWords().what_if(found, record, "zh")
    assert found.to_dict()["admits"] == [
        {"id": "p00", "held_by": "refused", "value": pytest.approx(0.13), "limit": 0.5}
    ]


def test_a_yes_below_the_bar_of_the_run_is_held_back_too() -> None:
    record = refusing(WEAK)
    change = remedy(record, record.config)
    assert change is not None and change.name == "min_confidence"
    assert [(item.held_by, item.value, item.limit) for item in change.admits] == [("below_bar", 0.4, 0.5)]


def test_what_the_similarity_threshold_dropped_is_said_with_its_similarity() -> None:
    record = refusing(YES, similarity_threshold=0.7, grade_probe=True)
    change = remedy(record, record.config)
    assert change is not None and change.name == "similarity_threshold"
    assert [(item.held_by, item.value, item.limit) for item in change.admits] == [("below_threshold", 0.6, 0.7)]


def test_no_change_is_proposed_where_nothing_answers_the_question() -> None:
    record = refusing(WEAK)
    assert any(item.outcome in ANSWERED for item in Sweep(run_table(record), record.config).smallest_changes())
    assert Sweep(run_table(record), record.config).smallest_changes(answerable=False) == ()
    assert remedy(record, record.config) is not None
    assert remedy(record, record.config, answerable=False) is None


@hypothesis_settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(worlds(), recordings())
def test_the_same_end_for_less_is_no_proposal(around: World, config: RunConfig) -> None:
    record = run_in(around, config)
    here = what_if(record, config)
    assert all(item.outcome != here.outcome for item in Sweep(run_table(record), config).smallest_changes())


def test_a_set_of_the_user_says_that_a_question_has_no_answer(tmp_path: Path) -> None:
    record = refusing(NO)
    record = replace(record, config=replace(record.config, collection="my_documents"))
    unanswerable = Case("q1", f" {record.question} ", answerable=False)
    with Engine(Settings(data_dir=tmp_path)) as engine:
        assert known_right(engine, record) == (None, None)
        engine.evaluation.save_query_set(QuerySet("mine", (unanswerable,), "another"))
        assert known_right(engine, record) == (None, None), "a set of another collection"
        engine.evaluation.save_query_set(QuerySet("mine", (unanswerable,), "my_documents"))
        assert known_right(engine, record) == (None, False)
        engine.evaluation.save_query_set(
            QuerySet("others", (replace(unanswerable, id="q2", answerable=True),), "my_documents")
        )
        assert known_right(engine, record) == (None, None), "two sets that differ"


def test_a_taken_change_keeps_its_warning() -> None:
    """The run made with the lower bar says itself what it rests on."""
    taken = refusing(NO, min_confidence=0.13)
    assert taken.outcome == "answered"
    own = what_if(taken, taken.config)
    assert [item.held_by for item in own.admits] == ["refused"]
    card = "".join(text_of(item) for item in detail_nodes(own, taken, EN))
    assert "The answer rests on a passage that was not accepted: s.md (not relevant, P(relevant) 0.13)." in card
    assert headline(taken, EN)[0] == "warn"
    outcome = next(item for item in figures_of(taken, EN) if item.label == EN("Outcome"))
    assert outcome.look == "warn" and "from 1 refused passage" in outcome.note
    cited = replace(taken, citations=(object(),))  # type: ignore[arg-type]
    found = diagnose(cited)
    assert found is not None and (found.failure, found.passages) == ("refused_let_in", ("p00",))


def test_a_cell_of_the_map_that_answers_from_refused_passages_is_not_green() -> None:
    record = refusing(NO)
    drawn = decision_map(record, record.config, "min_confidence", "top_k")
    looks = {look_of(cell) for cell in drawn.cells if cell.outcome == "answered"}
    assert looks == {"forced"}
    assert {look_of(cell) for cell in drawn.cells if cell.x0 > 0.13} == {"abstained"}


def test_an_answer_from_refused_passages_mends_no_run_of_the_watch_list() -> None:
    record = refusing(NO)
    lower = replace(record.config, min_confidence=0.1)
    effect = pinned_effect([record], lambda item: item.config, lambda item: lower)
    assert (effect.count("better"), effect.count("worse")) == (0, 1)


def test_the_other_gate_is_not_offered_where_it_would_answer_from_refused_passages() -> None:
    found = ((0, 0.6), (1, 0.5), (2, 0.4))
    record = run_in(
        World((found,) * 4, (NO, Verdict(False, 0.95, "no"), Verdict(False, 0.95, "no")), ("new",) * 4),
        RunConfig(gate="pass_rate", max_rewrites=1, min_confidence=0.1),
    )
    assert record.outcome == "answered_forced"
    assert gate_cost(record) is None
