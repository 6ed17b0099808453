"""Where two runs differ: settings, path, passages, verdicts, context, answer, times and calls."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.events import fold_all
from engine.model.settings_difference import settings_difference
from engine.model.values import Citation, PassageId, RunRecord, Verdict
from engine.replay.answer_difference import answer_difference
from engine.replay.difference import RunDifference, difference
from tests.components.sample_run import CONFIG, sample_record
from tests.support.recorded import recorded_run


def recorded(rewrites: int = 1, **config: object) -> RunRecord:
    return fold_all(recorded_run(rewrites, **config))  # type: ignore[arg-type]


def answered(text: str, *cited: str) -> RunRecord:
    """A run whose answer is ``text``; its markers point to ``cited`` in order."""
    citations = tuple(Citation(place, PassageId(name), "a.md") for place, name in enumerate(cited, 1))
    return replace(sample_record(), answer=text, citations=citations)


def passage(found: RunDifference, name: str) -> tuple[str, int]:
    item = next(item for item in found.passages if item.passage.id == name)
    return item.move, item.climbed


def test_a_run_compared_with_itself_differs_in_nothing() -> None:
    found = difference(sample_record(), sample_record())
    assert found.equal
    assert (found.settings, found.parting, found.verdicts) == ((), None, ())
    assert {item.kind for item in found.answer} == {"same"}
    assert {item.move for item in found.passages} == {"same"}
    assert (found.context.gained, found.context.lost) == ((), ())


def test_settings_that_differ_are_named_with_both_values() -> None:
    other = replace(CONFIG, top_k=3, grade_pass_threshold=0.4)
    found = [(item.name, item.a, item.b) for item in settings_difference(CONFIG, other)]
    assert found == [("top_k", 5, 3), ("grade_pass_threshold", 0.6, 0.4)]


def test_models_are_compared_by_role_and_built_in_ones_have_no_numbers() -> None:
    chat = RunConfig(models=RoleModels(grader=RoleModel("ollama:qwen3:8b", temperature=0.7)))
    found = [(item.name, item.a, item.b) for item in settings_difference(RunConfig(), chat)]
    assert found == [("models.grader", "builtin", "ollama:qwen3:8b"), ("models.grader.temperature", 0.0, 0.7)]
    silent = RunConfig(models=RoleModels(grader=RoleModel(seed=99)))
    assert settings_difference(RunConfig(), silent) == ()


def test_a_model_pulled_again_and_a_changed_collection_are_known_from_the_manifest() -> None:
    old = replace(sample_record(), manifest={"grader": "ollama:m@1", "collection_fingerprint": "aa", "langgraph": "1"})
    new = replace(sample_record(), manifest={"grader": "ollama:m@2", "collection_fingerprint": "bb", "langgraph": "1"})
    found = [(item.name, item.a, item.b) for item in difference(old, new).settings if item.manifest]
    assert found == [("grader", "ollama:m@1", "ollama:m@2"), ("collection_fingerprint", "aa", "bb")]


def test_a_line_of_the_manifest_that_a_setting_says_already_is_left_out() -> None:
    chat = replace(CONFIG, models=RoleModels(grader=RoleModel("ollama:m")))
    old = replace(sample_record(), manifest={"grader": "builtin"})
    new = replace(sample_record(chat), manifest={"grader": "ollama:m@2", "grader_prompt": "v1"})
    assert [item.name for item in difference(old, new).settings if item.manifest] == ["grader_prompt"]


def test_the_runs_part_in_the_first_round_that_went_another_way() -> None:
    found = difference(recorded(2), recorded(0))
    assert found.parting == 0
    assert {"route", "reason"} <= set(found.path[0].differs)
    assert [pair.differs for pair in found.path[1:]] == [("missing",), ("missing",)]
    assert not found.same_path


def test_another_query_is_where_the_runs_part_even_if_it_leads_to_the_same() -> None:
    run = sample_record()
    asked = replace(run, rounds=(run.rounds[0], replace(run.rounds[1], query="口渴 多尿")))
    found = difference(run, asked)
    assert (found.parting, found.path[1].differs) == (1, ("query",))


def test_a_run_that_broke_off_before_its_decision_is_compared_as_far_as_it_came() -> None:
    run = sample_record()
    cut = replace(run, decisions=run.decisions[:1], outcome="interrupted", context=None, answer="", citations=())
    found = difference(run, cut)
    assert (found.parting, found.path[1].decision_b) == (1, None)
    assert {item.kind for item in found.answer} == {"removed"}
    assert found.context.lost == ("symptoms", "thirst", "alarm")
    assert not difference(run, replace(run, rounds=(), decisions=())).equal


def test_passages_are_gained_and_lost_by_being_kept() -> None:
    wide, narrow = sample_record(), sample_record(replace(CONFIG, similarity_threshold=0.45))
    found = difference(wide, narrow)
    assert passage(found, "hostile") == ("lost", 0)
    assert passage(difference(narrow, wide), "hostile") == ("gained", 0)
    hostile = next(item for item in found.passages if item.passage.id == "hostile")
    assert hostile.a is not None and hostile.a.kept
    assert hostile.b is not None and hostile.b.gate == "below_threshold"
    assert passage(found, "sugar")[0] == "same"


def test_a_passage_that_only_changed_its_rank_has_moved() -> None:
    run = sample_record()
    first = run.rounds[0]
    ranks = [replace(item, rank=item.rank % len(first.candidates) + 1) for item in first.candidates]
    moved = replace(run, rounds=(replace(first, candidates=tuple(ranks)), run.rounds[1]))
    assert passage(difference(run, moved), "hostile") == ("moved", -1)


def test_passages_stand_with_those_given_to_the_generator_first() -> None:
    found = difference(sample_record(), sample_record())
    assert [item.passage.id for item in found.passages[:3]] == ["symptoms", "thirst", "alarm"]
    assert found.passages[0].a is not None
    assert (found.passages[0].a.marker, found.passages[0].a.cited, found.passages[0].a.first_rank) == (1, True, None)


def test_a_verdict_that_flipped_comes_before_one_whose_probability_moved() -> None:
    run = sample_record()
    first = run.rounds[0]
    other = {
        **first.verdicts,
        PassageId("history"): Verdict(True, 0.7, ""),
        PassageId("silent"): Verdict(False, 0.7, ""),
    }
    second = {name: value for name, value in run.rounds[1].verdicts.items() if name not in ("history", "silent")}
    changed = replace(run, rounds=(replace(first, verdicts=other), replace(run.rounds[1], verdicts=second)))
    found = difference(run, changed).verdicts
    assert [(item.passage.id, item.flipped) for item in found] == [("history", True), ("silent", False)]


def test_a_probability_that_moved_by_five_hundredths_or_less_is_passed_over() -> None:
    run = sample_record()
    first = run.rounds[0]
    near = {**first.verdicts, PassageId("hostile"): Verdict(None, 0.0, "")}
    thirst = replace(first.verdicts[PassageId("thirst")], confidence=0.86)
    last = replace(run.rounds[1], verdicts={**run.rounds[1].verdicts, PassageId("thirst"): thirst})
    assert difference(run, replace(run, rounds=(replace(first, verdicts=near), last))).verdicts == ()


def test_rewrites_are_paired_by_round() -> None:
    found = difference(recorded(2), recorded(1)).rewrites
    assert [(pair.round, pair.a is None, pair.b is None, pair.same) for pair in found] == [
        (0, False, False, True),
        (1, False, True, False),
    ]


def test_times_are_summed_by_node_and_calls_counted_by_role() -> None:
    found = difference(sample_record(), recorded(0))
    grade = next(item for item in found.times if item.node == "grade")
    assert (grade.a_ms, grade.a_visits, grade.b_visits) == (57.0, 2, 1)
    roles = {item.role: item for item in found.calls}
    assert (roles["grader"].a_chat, roles["grader"].a_built_in) == (1, 5)
    assert roles["generator"].a_chat == 1


@pytest.mark.parametrize(
    ("a", "b", "kinds"),
    [
        ("血糖高会口渴。体重下降。", "血糖高会口渴。伤口难愈合。", ["same", "removed", "added"]),
        ("Thirst is usual. It starts in weeks.", "Thirst is usual. It starts in days.", ["same", "changed"]),
        ("One thing. Two things.", "Two things.", ["removed", "same"]),
        ("One thing.", "One  thing.", ["same"]),
        ("", "空的现在有了。", ["added"]),
        # What a semicolon divides is one sentence.
        ("Thirst is usual; weight falls in weeks.", "Thirst is usual; weight falls in days.", ["changed"]),
        ("血糖高会口渴；体重数周内下降。", "血糖高会口渴；体重数日内下降。", ["changed"]),
        ("", "", []),
        ("中文一句。An English one. 又一句！", "中文一句。又一句！", ["same", "removed", "same"]),
    ],
)
def test_answers_are_aligned_by_sentence_in_either_language(a: str, b: str, kinds: list[str]) -> None:
    assert [item.kind for item in answer_difference(answered(a), answered(b))] == kinds


def test_a_marker_behind_the_full_stop_stays_with_its_sentence() -> None:
    found = answer_difference(answered("血糖高会口渴。[1]体重下降。[2]", "p", "q"), answered("血糖高会口渴。[1]", "p"))
    assert [(item.kind, item.a) for item in found] == [("same", "血糖高会口渴。[1]"), ("removed", "体重下降。[2]")]


def test_a_citation_is_the_same_where_it_names_the_same_passage_whatever_its_number() -> None:
    renumbered = answer_difference(answered("Thirst is usual [2].", "q", "p"), answered("Thirst is usual [1].", "p"))
    assert [item.kind for item in renumbered] == ["same"]
    elsewhere = answer_difference(answered("Thirst is usual [1].", "q"), answered("Thirst is usual [1].", "p"))
    assert [item.kind for item in elsewhere] == ["changed"]


_texts = st.lists(st.sampled_from(["口渴。", "体重下降。", "Thirst. ", "It starts in weeks. ", "It starts in days. "]))


@given(_texts, _texts)
def test_every_sentence_of_both_answers_is_reported_once_and_in_order(a: list[str], b: list[str]) -> None:
    found = answer_difference(answered("".join(a)), answered("".join(b)))
    assert [item.a for item in found if item.a] == [text.strip() for text in a]
    assert [item.b for item in found if item.b] == [text.strip() for text in b]
    assert all((item.kind == "added") == (not item.a) and (item.kind == "removed") == (not item.b) for item in found)


@given(st.integers(0, 4), st.integers(0, 4))
def test_the_other_way_round_gained_is_lost_and_the_parting_is_the_same(first: int, second: int) -> None:
    a, b = recorded(first), recorded(second)
    there, back = difference(a, b), difference(b, a)
    assert there.parting == back.parting
    assert there.equal == back.equal
    assert set(there.context.gained) == set(back.context.lost)
    opposite = {"gained": "lost", "lost": "gained"}
    moves = {item.passage.id: opposite.get(item.move, item.move) for item in there.passages}
    assert moves == {item.passage.id: item.move for item in back.passages}
