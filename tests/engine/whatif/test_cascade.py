"""A cascade decided again from its record: BE-03, SC-03, SC-04."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from components.ask.verdict_rows import shown_rounds
from components.common.i18n import words_for
from engine.engine import Engine
from engine.errors import InvalidConfig, ModelError
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.decide import by_cut, cascades
from engine.model.values import ModelCall, Passage, PassageId, Verdict
from engine.replay import what_if
from engine.replay.decision_map import decision_map
from engine.replay.lines import numbers_of
from engine.roles import SILENT, Trace
from engine.workflows.cascade import Cascade
from tests.engine.forking import forked
from tests.engine.whatif.world import CHAT, SCORING, World, run_in, worlds
from tests.support.listening import Listening

BAND = RunConfig(models=CHAT, cascade=True, cascade_low=0.2, cascade_high=0.9)
YES, NO = Verdict(True, 0.9, "yes"), Verdict(False, 0.9, "no")


def said(chance: float, *parts: float) -> Verdict:
    return Verdict(chance >= 0.5, max(chance, 1 - chance), "a score", raw=chance, parts=parts)


def world(*chances: float, verdicts: Sequence[Verdict] = (YES,) * 6) -> World:
    found = tuple((place, 0.9 - place / 10) for place in range(len(chances)))
    return World((found,) * 4, tuple(verdicts), ("new",) * 4, chances)


@pytest.mark.parametrize(
    ("chance", "stands"),
    [(0.0, False), (0.1999, False), (0.2, None), (0.5, None), (0.8999, None), (0.9, True), (1.0, True)],
)
def test_a_screeners_no_stands_below_the_lower_cut_and_its_yes_from_the_upper_one_on(
    chance: float, stands: bool | None
) -> None:
    settled = by_cut(said(chance), BAND)
    assert (settled and settled.relevant) is stands
    if settled is not None:
        assert settled.by_cut and settled.p_relevant == pytest.approx(chance)
        assert [settled.passes(bar) for bar in (0.01, 0.95, 1.0)] == [stands] * 3, "it is about the grader's P"


def test_cuts_above_or_below_one_half_decide_against_the_screeners_own_word() -> None:
    below = by_cut(said(0.6), replace(BAND, cascade_low=0.7))
    above = by_cut(said(0.4), replace(BAND, cascade_high=0.3))
    assert below and above and (below.relevant, above.relevant) == (False, True)
    assert [round(item.p_relevant, 9) for item in (below, above)] == [0.6, 0.4]
    assert not below.passes(0.5) and not below.held_back(0.5) and above.passes(0.5)


def test_what_a_screener_cannot_read_is_judged_by_the_grader() -> None:
    unread = Verdict(None, 0.0, "no score")
    assert by_cut(unread, replace(BAND, cascade_low=1.0, cascade_high=1.0)) is None


def test_a_screeners_yes_holds_for_the_parts_that_reach_the_upper_cut() -> None:
    settled = by_cut(said(0.95, 0.89, 0.9), BAND)
    assert settled and [settled.covers(part, 0.99) for part in (0, 1)] == [False, True]


def test_a_cascade_needs_a_grader_that_is_neither_built_in_nor_the_screener() -> None:
    assert cascades(BAND) and cascades(replace(BAND, models=RoleModels(grader=CHAT.grader)))
    assert not cascades(replace(BAND, cascade=False))
    assert not cascades(replace(BAND, models=RoleModels(screener=SCORING)))
    assert not cascades(replace(BAND, models=RoleModels(grader=SCORING, screener=SCORING)))
    assert not cascades(RunConfig(workflow="quality_loop", models=CHAT, cascade=True))


def test_cuts_that_cross_and_a_chat_model_as_screener_are_refused_by_name() -> None:
    with pytest.raises(InvalidConfig, match=r"cascade_low is 0\.5, above cascade_high, which is 0\.4"):
        RunConfig(cascade_low=0.5, cascade_high=0.4)
    with pytest.raises(InvalidConfig, match="ollama:qwen3:4b is a chat model"):
        RoleModels(screener=CHAT.grader)
    assert RunConfig(cascade_low=0.4, cascade_high=0.4).cascade_low == 0.4


@hypothesis_settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(worlds(), st.data())
def test_a_narrower_band_is_known_and_a_wider_one_only_as_far_as_the_grader_was_asked(
    around: World, data: st.DataObject
) -> None:
    around = replace(around, time_up=None, unreached=None, cut_off=None)
    config = replace(BAND, max_rewrites=0, similarity_threshold=0.0, grade_pass_threshold=data.draw(st.floats(0, 1)))
    record = run_in(around, config)
    low, high = sorted(data.draw(st.tuples(st.floats(0, 1), st.floats(0, 1))))
    other = replace(config, cascade_low=low, cascade_high=high)
    found, real = what_if(record, other), run_in(around, other)
    read = [verdict for verdict in record.rounds[0].screened.values() if verdict.relevant is not None]
    asked = [item for item in read if by_cut(item, other) is None and by_cut(item, config) is not None]
    if low >= 0.2 and high <= 0.9:
        assert not asked
    if not asked:
        assert found.path_known and [s.round.verdicts for s in found.steps] == [r.verdicts for r in real.rounds]
        assert (found.cost.calls, found.cost.built_in_calls) == (real.calls, real.built_in_calls)
    elif not found.path_known:
        assert found.gap == "verdicts" and found.calls_needed.next.calls == len(asked)
    if found.path_known:
        assert [item.reason for item in found.decisions] == [item.reason for item in real.decisions]
        assert found.outcome in (None, real.outcome)


def test_without_the_cascade_only_what_the_grader_was_asked_is_known() -> None:
    inside = run_in(world(0.3, 0.5, 0.8), replace(BAND, max_rewrites=0))
    assert what_if(inside, replace(inside.config, cascade=False)).state == "known"
    strict = replace(BAND, max_rewrites=0, grade_pass_threshold=1.0, gate="pass_rate")
    outside = run_in(world(0.05, 0.5, 0.95), strict)
    alone = what_if(outside, replace(strict, cascade=False))
    assert (alone.state, alone.gap, alone.calls_needed.next.calls) == ("needs_calls", "verdicts", 2)


def test_what_the_screener_would_say_is_not_guessed_from_what_the_grader_said() -> None:
    alone = replace(BAND, cascade=False, max_rewrites=0, gate="pass_rate", grade_pass_threshold=1.0)
    record = run_in(world(0.05, 0.05), alone)
    screened = what_if(record, replace(alone, cascade=True))
    assert (screened.state, screened.gap) == ("needs_calls", "verdicts")


def test_a_run_that_the_screener_graded_tells_what_a_cascade_would_leave_to_the_chat_model() -> None:
    by_scores = replace(BAND, models=RoleModels(grader=SCORING, screener=SCORING), max_rewrites=0)
    record = run_in(world(0.05, 0.5, 0.6, 0.95), replace(by_scores, gate="pass_rate", grade_pass_threshold=1.0))
    cascade = what_if(record, replace(record.config, models=CHAT))
    # The screener's no decides already that not all can pass: two gradings and an answer.
    assert cascade.path_known and cascade.cost.calls == 3
    lenient = what_if(record, replace(record.config, models=CHAT, grade_pass_threshold=0.5))
    assert (lenient.state, lenient.gap, lenient.calls_needed.next.calls) == ("needs_calls", "verdicts", 2)
    assert lenient.calls_needed.next.built_in_calls == 2


def test_a_passage_that_the_grader_refused_is_named_where_a_narrower_band_lets_it_in() -> None:
    record = run_in(world(0.8, verdicts=[NO]), replace(BAND, max_rewrites=0))
    narrow = what_if(record, replace(record.config, cascade_high=0.8))
    assert [(item.held_by, round(item.value or 0, 9)) for item in narrow.admits] == [("refused", 0.1)]


def test_the_cuts_are_tried_in_a_cascade_alone_and_never_cross() -> None:
    record = run_in(world(0.1, 0.5, 0.95), replace(BAND, max_rewrites=0))
    assert {"cascade_low", "cascade_high"} <= {*numbers_of(BAND)}
    assert not {"cascade_low", "cascade_high"} & {*numbers_of(replace(BAND, cascade=False))}
    drawn = decision_map(record, record.config, "cascade_low", "cascade_high")
    assert drawn.columns[-1][1] <= drawn.rows[0][0]
    alone = decision_map(record, record.config, "cascade_low", "min_confidence")
    assert (alone.columns[0][0], alone.columns[-1][1]) == (0.0, 0.9)


class Scripted:
    """Says what is written down, and remembers what it was asked."""

    def __init__(self, verdicts: dict[str, Verdict], fault: Exception | None = None) -> None:
        self.verdicts = verdicts
        self.fault = fault
        self.asked: list[PassageId] = []

    async def grade(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT, parts: Sequence[str] = ()
    ) -> list[Verdict]:
        for passage in passages:
            self.asked.append(passage.id)
            trace.call(ModelCall("grader", "", 0, "fake", (), ""))
            trace.verdict(passage.id, self.verdicts[passage.id])
        if self.fault is not None:
            raise self.fault
        return [self.verdicts[item.id] for item in passages]


def passages(*names: str) -> list[Passage]:
    return [Passage(PassageId(name), "s.md", name, 0.5, 0.5) for name in names]


def test_the_grader_is_asked_about_what_is_between_the_cuts_and_nothing_else() -> None:
    screener = Scripted({"a": said(0.95), "b": said(0.5), "c": said(0.1), "d": Verdict(None, 0.0, "?")})
    grader, trace = Scripted({"b": NO, "d": YES}), Listening()
    verdicts = asyncio.run(Cascade(screener, grader, BAND).grade("?", passages("a", "b", "c", "d"), trace))
    assert [item.relevant for item in verdicts] == [True, False, False, True]
    assert [item.by_cut for item in verdicts] == [True, False, True, False]
    assert grader.asked == ["b", "d"]
    assert [call.role for call in trace.calls] == ["screener"] * 4 + ["grader"] * 2
    assert trace.screenings == screener.verdicts
    assert trace.verdicts == dict(zip("abcd", verdicts, strict=True))


def test_what_the_screener_settled_is_reported_before_a_grader_that_fails() -> None:
    screener = Scripted({"a": said(0.95), "b": said(0.5)})
    grader, trace = Scripted({}, ModelError.ollama_unreachable(address="nowhere")), Listening()
    grader.verdicts["b"] = YES
    with pytest.raises(ModelError):
        asyncio.run(Cascade(screener, grader, BAND).grade("?", passages("a", "b"), trace))
    assert "a" in trace.verdicts


def test_where_the_screener_settles_everything_no_grader_is_asked() -> None:
    grader = Scripted({})
    verdicts = asyncio.run(Cascade(Scripted({"a": said(0.05)}), grader, BAND).grade("?", passages("a")))
    assert [item.relevant for item in verdicts] == [False] and not grader.asked


def test_each_part_of_passages_that_a_late_grader_left_out_was_screened() -> None:
    """SC-04: a what-if of the run's own settings costs what the run did."""
    late = run_in(replace(world(0.3, 0.5, 0.6), time_up=(0, "grade")), replace(BAND, max_rewrites=0))

    def screenings(parts: int) -> int:
        def asked(said: Mapping[PassageId, Verdict]) -> dict[PassageId, Verdict]:
            return {name: replace(verdict, parts=(1.0,) * parts) for name, verdict in said.items()}

        (own,) = late.rounds
        own = replace(own, parts=("part",) * parts, verdicts=asked(own.verdicts), screened=asked(own.screened))
        record = replace(late, config=replace(late.config, split=True), rounds=(own,))
        return what_if(record, record.config).cost.built_in_calls

    assert len(late.rounds[0].screened) == 3 and len(late.rounds[0].verdicts) == 1
    assert screenings(3) - screenings(1) == 3 * 2


def test_a_branch_reports_what_screener_and_grader_had_been_asked(engine: Engine) -> None:
    """SC-10: what is reused is a cached call, and nothing is hidden."""
    config = RunConfig(models=RoleModels(grader=RoleModel("ollama:qwen3:8b")), cascade=True, max_rewrites=0)
    parent = engine.run("How many rows does a truth table with five variables need?", config)
    made = forked(engine, parent, replace(config, min_confidence=0.4))
    for role in ("screener", "grader"):
        before, after = ([item for item in run.model_calls if item.role == role] for run in (parent, made))
        assert before and sorted(str(item.passage_id) for item in before) == sorted(str(i.passage_id) for i in after)
        assert all(item.cached for item in after)


def test_verdicts_that_a_branch_takes_over_stand_by_the_cuts_of_their_own_run(engine: Engine) -> None:
    """BE-03: the row says so, and its mark stands there."""
    models = RoleModels(grader=RoleModel("ollama:qwen3:8b"))
    config = RunConfig(models=models, cascade=True, cascade_low=0.4, cascade_high=0.6, max_rewrites=1)
    config = replace(config, gate="pass_rate", grade_pass_threshold=1.0)
    parent = engine.run("How many rows does a truth table with five variables need?", config)
    made = forked(engine, parent, replace(config, cascade_low=0.3, cascade_high=0.7), round=1)
    former, newer = (
        [item for name, item in own.verdicts.items() if item.by_cut and name not in own.reused] for own in made.rounds
    )
    assert {item.cut for item in former} == {0.4, 0.6}
    assert newer and {item.cut for item in newer} <= {0.3, 0.7}
    drawn = {row["cut"] for row in shown_rounds(made, words_for("en"))[0]["rows"] if "cut" in row}
    assert drawn == {0.4, 0.6}


@pytest.mark.parametrize("changed", [{"cascade_low": 0.25}, {"cascade": False}, {"models": RoleModels()}])
def test_a_round_is_as_recorded_only_where_the_same_ones_judge_by_the_same_cuts(changed: dict[str, Any]) -> None:
    """What was left unjudged for want of time is part of the recording of that judging alone."""
    late = replace(world(0.3, 0.5, 0.6), time_up=(0, "grade"))
    record = run_in(late, replace(BAND, max_rewrites=0, gate="pass_rate", grade_pass_threshold=1.0))
    assert what_if(record, record.config).path_known
    assert not what_if(record, replace(record.config, **changed)).path_known
