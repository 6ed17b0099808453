"""Branching off a finished run: what stands, what is reused, what is paid for (SC-03, SC-04, SC-06, SC-10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.engine import Engine
from engine.errors import RecordError, UnknownRun
from engine.knowledge.ingest import IngestItem
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import BY_HAND, PassageId, RunRecord
from engine.replay import State, what_if
from engine.replay.difference import difference
from engine.replay.fork import branch_off, fork_outlook, fork_price
from engine.samples import sample_questions
from engine.settings import Settings
from tests.engine.forking import forked, paid
from tests.support.errors import raises
from tests.support.same_roles import SameRoles


def by_rate(**changes: Any) -> RunConfig:
    """Settings whose gate is the pass rate, under which most questions are rewritten."""
    return RunConfig(gate="pass_rate", **changes)


OTHER_SETTINGS = [
    by_rate(top_k=2),
    by_rate(top_k=8, similarity_threshold=0.2),
    by_rate(similarity_threshold=0.45),
    by_rate(grade_pass_threshold=0.2),
    by_rate(grade_pass_threshold=1.0),
    by_rate(max_rewrites=0),
    by_rate(max_rewrites=1, context="last_round"),
    by_rate(min_confidence=0.8),
    RunConfig(gate="min_relevant", min_relevant=2),
    by_rate(answer_unverified=True, similarity_threshold=0.6),
    by_rate(probe_k=5),
    by_rate(probe_k=40, grade_pass_threshold=0.4),
    by_rate(grade_probe=True),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"))
    with Engine(settings, SameRoles(settings)) as opened:
        opened.wait_until_ready()
        yield opened


@pytest.fixture(scope="module")
def rewritten(engine: Engine) -> RunRecord:
    """A run of several rounds."""
    for question in sample_questions():
        record = engine.run(question.question, by_rate())
        if len(record.rounds) == 4 and record.outcome == "answered_forced":
            return record
    raise AssertionError("no sample question is rewritten three times")


def course(record: RunRecord) -> list[object]:
    """Everything about a run that settings decide, and time does not."""
    kept = [[(i.passage.id, i.gate) for i in item.candidates] for item in record.rounds]
    context = record.context
    return [
        [(item.query, item.searched, item.reused) for item in record.rounds],
        kept,
        [item.verdicts for item in record.rounds],
        record.decisions,
        record.rewrites,
        (context.passages, context.cut, context.verified) if context else None,
        (record.answer, record.citations, record.outcome, record.reason),
    ]


def test_a_branch_at_round_0_is_the_run_with_those_settings_and_costs_what_was_said(engine: Engine) -> None:
    """SC-04, SC-06, SC-10: nothing where the what-if knows all, exactly the price where it knows the path."""
    states: Counter[State] = Counter()
    for place, question in enumerate(sample_questions()[::7]):
        parent = engine.run(question.question, by_rate())
        for config in OTHER_SETTINGS[place % 3 :: 3]:
            outlook, price = what_if(parent, config), fork_price(parent, config)
            states[outlook.state] += 1
            branch = forked(engine, parent, config)
            fresh = engine.run(question.question, config)
            assert course(branch) == course(fresh), (question.id, config)
            assert what_if(branch, branch.config).same_path
            extra = price.next.built_in_calls - outlook.calls_needed.next.built_in_calls
            assert extra == 0 or config.grade_probe
            if outlook.state == "known":
                assert paid(branch) == extra
            elif outlook.gap == "answer":
                assert paid(branch) == price.next.built_in_calls
            elif outlook.state == "generation":
                # The answer stands after all where the passages that no one had judged do not pass.
                assert price.next.built_in_calls - 1 <= paid(branch) <= price.next.built_in_calls
            elif outlook.gap == "retrieval":
                # Another search may find passages that are judged already.
                assert paid(branch) <= price.worst.built_in_calls
            else:
                assert price.next.built_in_calls <= paid(branch) <= price.worst.built_in_calls
    assert min(states[state] for state in ("known", "generation", "needs_calls")) > 1


def test_everything_reused_is_shown_as_a_cached_call(engine: Engine, rewritten: RunRecord) -> None:
    """SC-10: nothing is paid for twice, and nothing is hidden."""
    branch = forked(engine, rewritten, rewritten.config)
    assert course(branch) == course(rewritten)
    assert [(c.role, c.round, c.reply) for c in branch.model_calls] == [
        (c.role, c.round, c.reply) for c in rewritten.model_calls
    ]
    assert all(call.cached and call.built_in for call in branch.model_calls)
    assert branch.built_in_calls == rewritten.built_in_calls
    assert branch.manifest["reused_from"] == rewritten.id
    assert branch.manifest["grader"] == "builtin"
    assert difference(rewritten, branch).same_path


@pytest.mark.parametrize("round_index", [1, 2, 3])
def test_rounds_before_the_branch_stand_whatever_the_new_settings_say_of_them(
    engine: Engine, rewritten: RunRecord, round_index: int
) -> None:
    """SC-04"""
    # Under these settings round 0 would not have been rewritten at all.
    config = by_rate(grade_pass_threshold=0.0, max_rewrites=0, top_k=3)
    branch = forked(engine, rewritten, config, round=round_index)
    assert branch.fork is not None
    assert branch.fork.settings == ("top_k", "grade_pass_threshold", "max_rewrites")
    assert branch.rounds[:round_index] == rewritten.rounds[:round_index]
    assert branch.decisions[:round_index] == rewritten.decisions[:round_index]
    assert branch.rewrites == rewritten.rewrites[:round_index]
    assert branch.decisions[-1].reason == "passed"
    assert branch.decisions[-1].kept <= 3
    assert len(branch.rounds) == round_index + 1
    assert paid(branch) == fork_price(rewritten, config, round_index).next.built_in_calls <= 1
    assert what_if(branch, config).same_path


def test_a_verdict_set_by_hand_turns_the_decision(engine: Engine, rewritten: RunRecord) -> None:
    """SC-03, SC-04"""
    failed = [passage.id for passage, verdict in rewritten.graded(0) if not verdict.relevant]
    verdicts = dict.fromkeys(failed, True)
    price = fork_price(rewritten, rewritten.config, verdicts=verdicts)
    branch = forked(engine, rewritten, rewritten.config, verdicts=verdicts)
    assert branch.decisions[0].reason == "passed"
    assert branch.decisions[0].pass_rate == 1.0
    assert {branch.rounds[0].verdicts[name].grader for name in failed} == {BY_HAND}
    assert {branch.rounds[0].verdicts[name].confidence for name in failed} == {1.0}
    assert paid(branch) == price.next.built_in_calls == 1
    assert [call.role for call in branch.model_calls if not call.cached] == ["generator"]
    judged = {call.passage_id for call in branch.model_calls if call.role == "grader"}
    assert not judged & set(failed), "no model said this"
    assert what_if(branch, branch.config).same_path


def test_a_verdict_set_by_hand_holds_in_the_rounds_before_too_though_their_decisions_stand(
    engine: Engine, rewritten: RunRecord
) -> None:
    """SC-03: it is about the passage, so a passage called irrelevant may not reach the generator by an older round."""
    assert rewritten.context is not None
    passed = rewritten.context.passages[0].id
    first = next(item.index for item in rewritten.rounds if passed in item.verdicts)
    branch = forked(engine, rewritten, rewritten.config, round=first + 1, verdicts={passed: False})
    assert branch.context is not None
    assert passed not in {passage.id for passage in branch.context.passages}
    assert branch.rounds[first].verdicts[passed].grader == BY_HAND
    assert branch.decisions[first] == rewritten.decisions[first]
    assert what_if(branch, branch.config).same_path


def test_a_query_by_hand_is_searched_in_place_of_the_rewrite(engine: Engine, rewritten: RunRecord) -> None:
    """SC-06"""
    price = fork_price(rewritten, rewritten.config, 1, "truth table of an implication")
    branch = forked(engine, rewritten, rewritten.config, round=1, query=" truth table of an implication ")
    assert branch.rounds[0] == rewritten.rounds[0]
    assert branch.rounds[1].query == "truth table of an implication"
    assert (branch.rewrites[0].strategy, branch.rewrites[0].repeated) == (BY_HAND, False)
    assert branch.question == rewritten.question
    graded = [call for call in branch.model_calls if call.role == "grader" and call.round == 1 and not call.cached]
    assert graded
    assert all(call.messages[0].content.startswith(rewritten.question) for call in graded)
    assert len(graded) <= price.next.built_in_calls
    assert paid(branch) <= price.worst.built_in_calls
    assert what_if(branch, branch.config).same_path


def test_a_query_by_hand_at_round_0_is_searched_and_the_question_is_what_is_judged_by(engine: Engine) -> None:
    """SC-03, SC-06"""
    parent = engine.run("What is a truth table?", by_rate(max_rewrites=1))
    branch = forked(engine, parent, parent.config, query="insulin pens")
    assert branch.question == parent.question
    assert branch.rounds[0].query == "insulin pens"
    assert branch.rounds[0].kept != parent.rounds[0].kept
    assert branch.fork is not None
    assert branch.fork.query == "insulin pens"
    assert what_if(branch, branch.config).same_path
    again = forked(engine, branch, by_rate(max_rewrites=0))
    assert again.rounds[0].query == "insulin pens", "a branch of a branch begins with the query of its parent"
    same = forked(engine, parent, parent.config, query=parent.question)
    assert same.fork is not None
    assert same.fork.query == ""
    assert paid(same) == 0


def test_a_branch_of_a_branch_keeps_what_both_had(engine: Engine, rewritten: RunRecord) -> None:
    """SC-03, SC-04"""
    judged = next(passage.id for passage, verdict in rewritten.graded(0) if not verdict.relevant)
    first = forked(engine, rewritten, by_rate(top_k=4), round=1, verdicts={judged: True})
    second = forked(engine, first, by_rate(top_k=4, grade_pass_threshold=0.0), round=1)
    assert second.rounds[0] == first.rounds[0]
    assert second.rounds[0].verdicts[judged].grader == BY_HAND
    assert len(second.rounds) == 2
    assert fork_price(second, by_rate(top_k=4)) == fork_price(second, by_rate(top_k=4), 1)
    branch = forked(engine, second, by_rate(top_k=4)).fork
    assert branch is not None
    assert (branch.parent, branch.round) == (second.id, 1), "where its what-if begins"
    back = forked(engine, second, by_rate(top_k=4), round=0)
    assert back.rounds[0].verdicts[judged].grader == BY_HAND
    assert paid(back) <= fork_price(second, by_rate(top_k=4), 0).worst.built_in_calls
    for record in (first, second, back):
        assert what_if(record, record.config).same_path


def test_what_cannot_be_branched_off_is_refused_with_the_reason(engine: Engine, rewritten: RunRecord) -> None:
    config = rewritten.config
    with raises(RecordError.fork_imported) as late:
        engine.fork(rewritten, config, round=4)
    assert late.value.params == {"field": "round", "round": "4", "last": "3"}
    with raises(RecordError.fork_imported):
        engine.fork(rewritten, config, round=-1)
    with raises(RecordError.fork_imported) as unseen:
        engine.fork(rewritten, config, verdicts={PassageId("nowhere#1"): True})
    assert unseen.value.params["passage"] == "nowhere#1"
    with raises(RecordError.fork_imported) as elsewhere:
        fork_price(rewritten, replace(config, collection="other"))
    assert elsewhere.value.params["field"] == "collection"
    with raises(RecordError.fork_imported) as long:
        engine.fork(rewritten, config, query="x" * (engine.settings.max_question_chars + 1))
    assert long.value.params["field"] == "query"
    with raises(RecordError.run_not_over):
        engine.fork(replace(rewritten, outcome=None), config)
    with pytest.raises(UnknownRun):
        engine.fork("0" * 32, config)
    with raises(RecordError.fork_imported) as empty:
        engine.fork(replace(rewritten, rounds=()), config)
    assert "searched nothing" in empty.value.fact


def test_a_branch_says_that_the_collection_has_changed_since(tmp_path: Path) -> None:
    """SC-10: what is reused is as it was, and a passage that has another text now is judged again."""
    text = "# Tea\n\n## Green\nGreen tea is brewed at {} degrees for two minutes.\n"
    question, config = (
        "How hot is green tea brewed?",
        by_rate(collection="tea", similarity_threshold=0.0),
    )
    with Engine.open(Settings(data_dir=tmp_path)) as engine:
        engine.ingest([IngestItem("tea.md", data=text.format(80).encode())], "tea")
        parent = engine.run(question, config)
        engine.ingest([IngestItem("tea.md", data=text.format(70).encode())], "tea")
        same = forked(engine, parent, config)
        other = forked(engine, parent, config, query="green tea")
    assert [item.code for item in same.warnings] == ["WB510"]
    assert paid(same) == 0
    assert "80" in same.answer
    assert [call.role for call in other.model_calls if not call.cached][:1] == ["grader"]
    assert "70" in other.answer


def test_grading_the_probe_in_a_branch_is_priced_and_pays_for_the_rest_alone(
    engine: Engine, rewritten: RunRecord
) -> None:
    """SC-02, SC-10"""
    config = replace(rewritten.config, grade_probe=True)
    price = fork_price(rewritten, config)
    branch = forked(engine, rewritten, config)
    assert paid(branch) == price.next.built_in_calls > 0
    assert branch.decisions == rewritten.decisions
    assert paid(forked(engine, branch, config)) == 0


def test_a_model_that_is_another_one_is_asked_again(engine: Engine, rewritten: RunRecord) -> None:
    config = replace(rewritten.config, models=RoleModels(generator=RoleModel("ollama:none")))
    price = fork_price(rewritten, config)
    assert (price.next.calls, price.next.built_in_calls) == (1, 0)
    config = replace(rewritten.config, models=RoleModels(grader=RoleModel("ollama:none")))
    assert fork_price(rewritten, config).next.calls == len(rewritten.rounds[0].kept)


def test_what_was_reused_measures_nothing(engine: Engine, rewritten: RunRecord) -> None:
    """SC-10: a branch that asked no one anything does not make a coming call look as if it took no time."""
    branch = forked(engine, rewritten, rewritten.config)
    wider = replace(rewritten.config, top_k=9, similarity_threshold=0.0)
    assert (fork_price(rewritten, wider).next.seconds or 0) > 0
    assert fork_price(branch, wider).next.seconds is None


def test_a_deeper_probe_is_priced_with_the_passages_that_nobody_has_fetched_yet(
    engine: Engine, rewritten: RunRecord
) -> None:
    """SC-10: a price is never too low, neither for a run nor for a branch whose probe is graded already."""
    config = replace(rewritten.config, grade_probe=True, probe_k=30)
    price = fork_price(rewritten, config)
    branch = forked(engine, rewritten, config)
    assert len(branch.rounds[0].candidates) > len(rewritten.rounds[0].candidates)
    assert 0 < paid(branch) <= price.worst.built_in_calls
    deeper = replace(config, probe_k=40)
    price = fork_price(branch, deeper)
    assert 0 < paid(forked(engine, branch, deeper)) <= price.worst.built_in_calls


def test_rounds_that_a_branch_took_over_are_not_taken_for_its_own_settings(engine: Engine) -> None:
    """SC-10: they were kept and judged by other settings, so what these would have kept there may be unjudged."""
    strict, lenient = (
        by_rate(similarity_threshold=0.6),
        by_rate(similarity_threshold=0.0),
    )
    runs = (engine.run(question.question, strict) for question in sample_questions())
    parents = [run for _, run in zip(range(4), (run for run in runs if len(run.rounds) > 1), strict=False)]
    tried = 0
    for parent in parents:
        branch = forked(engine, parent, lenient, round=1)
        price, outlook = fork_price(branch, lenient, 0), fork_outlook(branch_off(branch, lenient, round_index=0))
        again = forked(engine, branch, lenient, round=0)
        assert paid(again) <= price.worst.built_in_calls
        assert outlook.outcome in (None, again.outcome)
        tried += paid(again) > 0
    assert tried


def test_a_round_that_a_branch_took_over_may_have_been_searched_less_deep_than_it_would_have(engine: Engine) -> None:
    """SC-10: that a search gave fewer passages than these settings fetch does not mean that there were no more."""
    shallow = by_rate(top_k=2, probe_k=2, similarity_threshold=0.0, grade_pass_threshold=1.0)
    deep = replace(shallow, probe_k=20)
    runs = (engine.run(question.question, shallow) for question in sample_questions())
    parent = next(run for run in runs if len(run.rounds) > 1)
    branch = forked(engine, parent, deep, round=1)
    wider = replace(deep, top_k=8, grade_pass_threshold=0.0)
    price, outlook = fork_price(branch, wider, 0), fork_outlook(branch_off(branch, wider, round_index=0))
    again = forked(engine, branch, wider, round=0)
    assert len(again.rounds[0].candidates) == 20
    assert outlook.state == "needs_calls"
    assert 0 < paid(again) <= price.worst.built_in_calls
