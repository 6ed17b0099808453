"""Query sets, batches, labels and saved settings on disk."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from engine.database.base import Database, put
from engine.database.tables import ANSWER_JUDGEMENTS, SAVED_SETTINGS, Part
from engine.database.tables import CASES as CASES_TABLE
from engine.database.versions import HEAD
from engine.errors import EngineClosed, EvaluationError, RecordError, UnknownBatch, UnknownQuerySet
from engine.evaluation.cases import Case, Expectation, QuerySet, sample_set
from engine.evaluation.judgements import Judged, judged_answers, pair_id, settled
from engine.evaluation.store import EvaluationStore
from engine.evaluation.values import AnswerJudgement, Batch, Spent
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import Claim, Fault
from tests.support.errors import raises

CASES = (
    Case("a", "How hot?", (Expectation("source", "tea.md"),), "en", answerable=True),
    Case("b", "水温多少？", (), "zh", answerable=False),
)
CONFIG = RunConfig(top_k=7, grade_probe=True, models=RoleModels(grader=RoleModel("ollama:qwen3:4b")))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "evaluation.db"


@pytest.fixture
def database(database_of: Callable[[Part], Database]) -> Database:
    return database_of("evaluation")


@pytest.fixture
def store(database: Database) -> Iterator[EvaluationStore]:
    with EvaluationStore(database) as store:
        yield store


def batch(batch_id: str = "b1") -> Batch:
    return Batch(batch_id, "tea", CONFIG, 2, "2026-01-01T00:00:00+00:00", ("a", "b"), {}, {})


def test_the_samples_are_always_there_and_stay_as_they_are(store: EvaluationStore) -> None:
    assert store.query_sets() == ("samples",)
    assert store.query_set("samples") == sample_set()
    with raises(EvaluationError.set_reserved):
        store.save_query_set(QuerySet("samples", CASES))
    with raises(EvaluationError.set_reserved):
        store.add_case(" samples ", CASES[0])
    with raises(EvaluationError.set_reserved):
        store.delete_query_set("samples")


def test_a_set_is_kept_in_order_replaced_and_deleted(store: EvaluationStore, database: Database) -> None:
    kept = QuerySet("tea", CASES, "drinks", "tea.csv")
    store.save_query_set(kept)
    store.save_query_set(QuerySet("茶", CASES[:1]))
    with EvaluationStore(database) as other:
        assert other.query_sets() == ("samples", "tea", "茶")
        assert other.query_set("tea") == kept
    store.save_query_set(replace(kept, cases=CASES[::-1]))
    assert store.query_set("tea").cases == CASES[::-1]
    store.delete_query_set("tea")
    with pytest.raises(UnknownQuerySet):
        store.query_set("tea")
    with pytest.raises(UnknownQuerySet):
        store.delete_query_set("tea")


def test_a_case_is_added_at_the_end_or_takes_the_place_of_its_namesake(store: EvaluationStore) -> None:
    store.add_case("mine", CASES[0], "drinks")
    store.add_case("mine", CASES[1])
    changed = replace(CASES[0], question="How cold?")
    store.add_case("mine", changed)
    assert store.query_set("mine") == QuerySet("mine", (changed, CASES[1]), "drinks", "runs")


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 121, "a\x00"])
def test_a_name_that_nobody_could_read_is_refused(name: str, store: EvaluationStore) -> None:
    with raises(EvaluationError.set_reserved):
        store.save_query_set(QuerySet(name, CASES))
    with raises(EvaluationError.set_reserved):
        store.save_settings(name, CONFIG)


def test_a_set_with_an_id_twice_is_refused_and_nothing_is_lost(store: EvaluationStore) -> None:
    store.save_query_set(QuerySet("tea", CASES))
    with raises(EvaluationError.set_reserved, match="'a' twice"):
        store.save_query_set(QuerySet("tea", (CASES[0], CASES[0])))
    assert store.query_set("tea").cases == CASES


def test_a_batch_keeps_its_cases_when_the_set_changes(store: EvaluationStore) -> None:
    store.add_batch(batch(), CASES, "owner")
    assert store.batch("b1") == batch()
    assert store.batch("b1").left == ("a", "b")
    assert store.batch_cases("b1") == CASES
    assert [item.id for item in store.batches("tea")] == ["b1"]
    assert store.batches("other") == ()
    for ask in (store.batch, store.batch_cases, store.owner_of):
        with pytest.raises(UnknownBatch):
            ask("b2")


def test_the_state_of_a_case_goes_from_begun_to_ended_or_failed(store: EvaluationStore) -> None:
    store.add_batch(batch(), CASES, "owner")
    store.begin_case("b1", "a", "r1")
    assert (store.batch("b1").runs, store.batch("b1").left) == ({"a": "r1"}, ("a", "b"))
    assert not store.end_case("b1", "a", "another run")
    assert store.batch("b1").left == ("a", "b")
    assert store.end_case("b1", "a", "r1", spent=Spent(3, 40))
    assert not store.begin_case("b1", "a", "another run"), "what has ended is begun by nobody"
    assert not store.end_case("b1", "a", "r1"), "nor does it end twice"
    assert store.run_of("b1", "a") == "r1" and store.batch("b1").spent == Spent(3, 40)
    fault = Fault("WB403", "Too slow.", "Wait.", {"model": "m"}, "grade")
    store.begin_case("b1", "b", "r2")
    store.end_case("b1", "b", "r2", fault)
    state = store.batch("b1")
    assert (state.done, state.failures, state.left, state.finished) == (frozenset("a"), {"b": fault}, (), True)
    store.forget_cases("b1", ["a", "b", "absent"])
    assert (store.batch("b1").failures, store.batch("b1").left, store.batch("b1").runs) == ({}, ("b",), {"a": "r1"})
    assert store.batch("b1").done == {"a"}, "what has ended well meanwhile stays so"
    store.forget_cases("b1", ["a"], done=True)
    assert (store.batch("b1").runs, store.batch("b1").spent) == ({}, Spent())
    with pytest.raises(UnknownBatch):
        store.begin_case("b1", "absent", "r3")


def test_a_batch_belongs_to_one_living_process(store: EvaluationStore) -> None:
    store.add_batch(batch(), CASES, "first")
    assert store.claim_batch("b1", "second", lambda owner: owner == "first") is None
    assert store.claim_batch("b1", "first", lambda owner: True) == "first"
    assert store.claim_batch("b1", "second", lambda owner: False) == "first"
    store.release_batch("b1", "first")
    assert store.owner_of("b1") == "second"
    store.release_batch("b1", "second")
    assert store.claim_batch("b1", "third", lambda owner: True) == ""
    store.release_batch("b1", "third", "second")
    assert store.owner_of("b1") == "second"


def test_a_label_is_set_changed_and_taken_back(store: EvaluationStore) -> None:
    store.set_label(" How hot? ", "tea.md#1", True)
    store.set_label("How hot?", "tea.md#1", False)
    store.set_label("How hot?", "tea.md#2", True)
    store.set_label("水温？", "tea.md#1", True)
    assert [(item.passage_id, item.relevant) for item in store.labels("How hot?")] == [
        ("tea.md#1", False),
        ("tea.md#2", True),
    ]
    assert len(store.labels("How hot?", "水温？", "Never asked?")) == 3
    assert store.labels() == ()
    store.set_label("How hot?", "tea.md#1", None)
    assert [item.passage_id for item in store.labels("How hot?")] == ["tea.md#2"]


def test_each_judge_has_a_label_of_their_own(store: EvaluationStore) -> None:
    store.set_label("How hot?", "tea.md#1", True, explanation="It names 80 °C.", drawn="random", judge="Ada")
    store.set_label("How hot?", "tea.md#1", False, judge="Bo")
    store.set_label("How hot?", "tea.md#1", True)
    assert [(item.judge, item.relevant, item.explanation, item.drawn) for item in store.labels("How hot?")] == [
        ("", True, "", ""),
        ("Ada", True, "It names 80 °C.", "random"),
        ("Bo", False, "", ""),
    ]
    assert settled(store.labels("How hot?")) == {("How hot?", "tea.md#1"): True}
    store.set_label("How hot?", "tea.md#1", None, judge="Ada")
    assert [item.judge for item in store.labels("How hot?")] == ["", "Bo"]
    assert settled(store.labels("How hot?")) == {}


SAID = AnswerJudgement(" How hot? ", "At 80 °C.\n\nNot more [1].", "yes", "So it says.", drawn="random", judge="Ada")
READ = AnswerJudgement(
    "How hot?",
    "At 80 °C. Not more [1].",
    "no",
    by="model",
    judge="ollama:qwen3:8b",
    claims=(Claim("gold", "80 °C", True, "It says so."), Claim("answer", "not more", False)),
    shown="1a2b",
)


def test_an_answer_is_judged_by_people_and_models_and_known_by_its_text(store: EvaluationStore) -> None:
    kept = store.judge_answer(SAID)
    store.judge_answer(READ)
    store.judge_answer(replace(SAID, right="in_part", judge="Bo", answer="At 80 °C. Not more [1]. "))
    found = store.answer_judgements(("How hot?", "At 80 °C.  Not more [1]."))
    assert [(item.by, item.judge, item.right, item.drawn) for item in found] == [
        ("model", "ollama:qwen3:8b", "no", ""),
        ("person", "Ada", "yes", "random"),
        ("person", "Bo", "in_part", "random"),
    ]
    assert found[0] == replace(READ, judged_at=found[0].judged_at)
    assert found[1] == replace(kept, question="How hot?")
    assert found[1].judged_at
    assert store.answer_judgements(("How hot?", "At 80 °C."), ("How cold?", READ.answer)) == ()
    store.judge_answer(replace(SAID, right="no"))
    store.remove_answer_judgement(replace(SAID, judge="Bo"))
    again = store.answer_judgements((READ.question, READ.answer))
    assert [(item.by, item.right) for item in again] == [("model", "no"), ("person", "no")]


def test_an_answer_longer_than_an_index_takes_is_judged(store: EvaluationStore) -> None:
    long = AnswerJudgement("How hot?", "".join(f"{number} " for number in range(20_000)), "yes")
    store.judge_answer(long)
    assert [item.right for item in store.answer_judgements((long.question, long.answer))] == ["yes"]


def test_people_decide_over_an_answer_together_and_models_never_do() -> None:
    """EV-01, EV-02"""
    pair = pair_id(SAID.question, SAID.answer)
    assert pair == pair_id(READ.question, READ.answer)
    assert judged_answers([READ]) == {}
    assert judged_answers([SAID, READ]) == {pair: Judged(right=True, at_random=True)}
    assert judged_answers([replace(SAID, drawn="chosen")]) == {pair: Judged(right=True, at_random=False)}
    assert judged_answers([replace(SAID, right="in_part")]) == {pair: Judged(right=False, at_random=True)}
    split = [SAID, replace(SAID, right="no", judge="Bo", drawn="")]
    assert judged_answers(split) == {pair: Judged(right=False, at_random=True)}
    assert judged_answers([*split, replace(SAID, judge="Cy")])[pair].right


def test_a_judgement_that_cannot_be_read_is_said(store: EvaluationStore, database: Database) -> None:
    store.judge_answer(READ)
    with database.writing() as connection:
        connection.execute(update(ANSWER_JUDGEMENTS).values(claims="[{}]"))
    with pytest.raises(EvaluationError, match="an entry is damaged"):
        store.answer_judgements((READ.question, READ.answer))


def test_half_a_surrogate_pair_is_kept_as_something_that_can_be_read(store: EvaluationStore) -> None:
    store.set_label("bad \ud800", "p\udfff", True)
    store.add_case("mine", Case("a", "bad \ud800"))
    assert store.labels("bad \ud800")[0].question == "bad ?"
    assert store.query_set("mine").cases[0].question == "bad ?"


def test_settings_are_saved_by_name(store: EvaluationStore, database: Database) -> None:
    store.save_settings("strict", RunConfig(grade_pass_threshold=0.8))
    store.save_settings("strict", CONFIG)
    store.save_settings("a", RunConfig())
    assert store.settings() == {"a": RunConfig(), "strict": CONFIG}
    store.delete_settings("a")
    store.delete_settings("absent")
    with database.writing() as connection:
        put(connection, SAVED_SETTINGS, {"name": "later", "config": '{"unknown": 1}', "saved_at": ""})
    assert store.settings() == {"strict": CONFIG}


def test_two_threads_and_two_connections_write_at_once_and_nothing_is_lost(
    store: EvaluationStore, database: Database
) -> None:
    with EvaluationStore(database) as other:

        def write(to: EvaluationStore, name: str) -> None:
            for number in range(10):
                to.add_case("shared", Case(f"{name}-{number}", "?"))

        threads = [
            threading.Thread(target=write, args=(to, f"{place}")) for place, to in enumerate((store, store, other))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(other.query_set("shared").cases) == 30


def test_a_closed_store_says_so(path: Path) -> None:
    store = EvaluationStore(path)
    store.close()
    store.close()
    with pytest.raises(EngineClosed):
        store.labels()


def test_a_file_of_a_newer_version_is_left_as_it_is(path: Path) -> None:
    EvaluationStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {HEAD + 1}")
    with raises(RecordError.database_newer, match="Update the workbench"):
        EvaluationStore(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (HEAD + 1,)


def test_a_damaged_file_is_named_and_left_as_it_is(path: Path) -> None:
    path.write_bytes(b"this is no database, whatever its name says" * 100)
    before = path.read_bytes()
    with pytest.raises(EvaluationError, match="damaged"):
        EvaluationStore(path)
    assert path.read_bytes() == before


def test_a_torn_page_shows_when_the_file_is_opened(path: Path) -> None:
    with EvaluationStore(path) as store:
        for number in range(400):
            store.set_label(f"question {number}", "passage " * 20, True)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(EvaluationError, match="damaged"):
        EvaluationStore(path)


def test_an_entry_that_cannot_be_read_is_said_and_the_other_sets_can_be(
    store: EvaluationStore, database: Database
) -> None:
    store.save_query_set(QuerySet("tea", CASES))
    store.save_query_set(QuerySet("good", CASES))
    with database.writing() as connection:
        broken = update(CASES_TABLE).where(CASES_TABLE.c.set_name == "tea", CASES_TABLE.c.id == "a")
        connection.execute(broken.values(data="{"))
    with pytest.raises(EvaluationError, match="an entry is damaged"):
        store.query_set("tea")
    assert store.query_set("good").cases == CASES


def test_a_folder_that_cannot_be_made_is_our_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EvaluationError):
        EvaluationStore(tmp_path / "file" / "evaluation.db")


def test_names_that_no_file_can_hold_are_kept_as_far_as_they_can_be_or_are_unknown(store: EvaluationStore) -> None:
    """A data set of others can hold half a surrogate pair anywhere."""
    cases = (Case("c\ud800", "q\ud800", (Expectation("source", "s\ud800"),)),)
    store.save_query_set(QuerySet("odd", cases, collection="a\udcff", origin="b\udcff.csv"))
    store.add_case("odd", Case("d\ud800", "q"), collection="\udcff")
    found = store.query_set("odd")
    assert [case.id for case in found.cases] == ["c?", "d?"]
    assert (found.collection, found.origin) == ("a?", "b?.csv")
    with pytest.raises(UnknownQuerySet):
        store.query_set("\ud800")
    with pytest.raises(UnknownQuerySet):
        store.delete_query_set("\ud800")
    for ask in (store.batch, store.batch_cases, store.owner_of):
        with pytest.raises(UnknownBatch):
            ask("\ud800")
    assert store.batches("\ud800") == ()
    store.delete_settings("\ud800")


def test_ids_that_become_equal_in_the_file_are_refused_as_equal_ones_are(store: EvaluationStore) -> None:
    with raises(EvaluationError.set_reserved):
        store.save_query_set(QuerySet("odd", (Case("\ud800", "q"), Case("\ud801", "q"))))
    assert store.query_sets() == ("samples",)


def test_a_batch_of_cases_with_odd_ids_is_noted_case_by_case(store: EvaluationStore) -> None:
    store.save_query_set(QuerySet("odd", (Case("\ud800", "q"),)))
    (case,) = store.query_set("odd").cases
    store.add_batch(replace(batch(), case_ids=(case.id,)), (case,), "me")
    store.begin_case("b1", case.id, "r1")
    store.end_case("b1", case.id, "r1")
    assert store.batch("b1").done == {case.id} == {item.id for item in store.batch_cases("b1")}
