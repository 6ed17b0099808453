"""The desk of a real engine: pairs of a gathering, judged, taken back, counted, exported and kept over time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import update
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient

from engine.cli.main import main
from engine.database.base import Database
from engine.database.tables import ANSWER_JUDGEMENTS, LABELS, SET_SCORES, Part
from engine.engine import Engine
from engine.errors import EvaluationError, InvalidConfig, UnknownBatch, UnknownQuerySet
from engine.evaluation import judgements
from engine.evaluation.annotation.influence import influences, lattice
from engine.evaluation.annotation.pairs import Kind
from engine.evaluation.annotation.store import DeskStore, Scores
from engine.evaluation.cases import Case, Expectation, QuerySet
from engine.evaluation.values import AnswerJudgement
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.people import Person, acting_as
from engine.settings import Settings
from tests.api.served import ADDRESS, app_of
from tests.support.errors import raises

SET = "four questions"
QUESTIONS = (
    Case("rows", "How many rows does a truth table with five variables need?", gold_answers=("32",)),
    Case("empty", "What is the power set of the empty set?", (Expectation("passage", "dm-sets.en.md#2"),)),
    Case("euler", "When does a connected graph have an Euler circuit?"),
    Case("none", "Who won the football world cup in 1998?", answerable=False),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("judging")


@pytest.fixture(scope="module")
def shared(folder: Path) -> Iterator[Engine]:
    with Engine.open(Settings(data_dir=folder, ollama_url="http://127.0.0.1:1")) as engine:
        engine.wait_until_ready()
        engine.evaluation.save_query_set(QuerySet(SET, QUESTIONS))
        assert engine.batches.wait(engine.batches.start(SET, RunConfig(grade_probe=True), 2), 120)
        yield engine


@pytest.fixture
def engine(shared: Engine) -> Engine:
    """The engine without judgements."""
    with shared._evaluations.desk._writing() as connection:
        for table in (LABELS, ANSWER_JUDGEMENTS, SET_SCORES):
            connection.execute(table.delete())
    return shared


def batch_of(engine: Engine) -> str:
    return engine.evaluation.batches(SET)[0].id


def test_a_pair_shows_nothing_of_what_a_grader_said_and_its_judgement_is_kept(engine: Engine) -> None:
    batch = batch_of(engine)
    desk = engine.judging.desk(batch, "passage", "Ada")
    assert desk.next is not None and desk.next.drawn == "random"
    item = desk.next.item
    assert not {"similarity", "rank", "verdict", "confidence", "score"} & set(type(item).__dataclass_fields__)
    judged = sum(len(record.first_verdicts(by_hand=False)) for _, record in engine.batches.results(batch))
    assert desk.coverage.total == judged and desk.coverage.judged == 0
    engine.judging.say(item, "yes", "Ada", drawn="random", explanation="it says so")
    (label,) = engine.evaluation.labels(item.question)
    assert (label.relevant, label.judge, label.drawn, label.explanation) == (True, "Ada", "random", "it says so")
    after = engine.judging.desk(batch, "passage", "Ada")
    assert (after.coverage.judged, after.coverage.at_random, after.coverage.mine) == (1, 1, 1)
    assert after.next is not None and after.next.item.id != item.id
    assert [(found.first, found.second, found.n) for found in after.agreements] == [("Ada", "builtin", 1)]
    assert engine.judging.desk(batch, "passage", "Bo").coverage.mine == 0
    engine.judging.take_back(item, "Ada")
    assert engine.evaluation.labels(item.question) == ()
    again = engine.judging.desk(batch, "passage", "Ada").next
    assert again is not None and again.item.id == item.id


def test_answers_are_judged_in_part_too_and_refusals_are_no_answers(engine: Engine) -> None:
    batch = batch_of(engine)
    answered = [record for _, record in engine.batches.results(batch) if record.outcome != "abstained"]
    desk = engine.judging.desk(batch, "answer", "Ada")
    assert desk.coverage.total == len(answered) and desk.next is not None
    item = desk.next.item
    assert item.cited and item.passage_id is None
    engine.judging.say(item, "in_part", "Ada", drawn=desk.next.drawn)
    (said,) = engine.evaluation.answer_judgements((item.question, item.text))
    assert engine.judging.desk(batch, "answer", "Ada").agreements == ()
    by_model = AnswerJudgement(item.question, item.text, "no", by="model", judge="ollama:m", shown="d")
    engine.evaluation.judge_answer(by_model)
    (agreement,) = engine.judging.desk(batch, "answer", "Ada").agreements
    assert (agreement.first, agreement.second, agreement.n, agreement.same) == ("Ada", "ollama:m", 1, 0)
    engine.evaluation.remove_answer_judgement(by_model)
    assert (said.right, said.by, said.judge, said.drawn) == ("in_part", "person", "Ada", "random")
    engine.judging.take_back(item, "Ada")
    assert engine.evaluation.answer_judgements((item.question, item.text)) == ()


def test_a_chosen_pair_that_the_draw_comes_to_counts_as_drawn_and_keeps_what_was_said(engine: Engine) -> None:
    batch = batch_of(engine)
    kinds: tuple[Kind, ...] = ("passage", "answer")
    for kind in kinds:
        found = engine.judging.desk(batch, kind, "Ada").next
        assert found is not None
        engine.judging.say(found.item, "no", "Ada", drawn="chosen", explanation="why")
        second = engine.judging.desk(batch, kind, "Ada").next
        assert second is not None and second.drawn == "random" and second.also_random == (found.item,)
        engine.judging.say(second.item, "yes", "Ada", drawn=second.drawn, also=second.also_random)
        coverage = engine.judging.desk(batch, kind, "Ada").coverage
        assert (coverage.judged, coverage.at_random) == (2, 2)
    texts = engine.judging.exported(SET, "jsonl")
    assert texts.count('"explanation": "why"') == 2 and '"chosen"' not in texts


def test_something_hangs_on_pairs_that_part_the_settings_and_nothing_on_the_others(engine: Engine) -> None:
    batch = batch_of(engine)
    records = {case.id: record for case, record in engine.batches.results(batch)}
    evidence, base = engine.batches.evidence(batch), RunConfig(grade_probe=True)
    kinds: tuple[Kind, ...] = ("passage", "answer")
    for kind in kinds:
        found = influences(evidence, records, base, kind)
        assert found and all(0 <= value <= 1 for value in found.values())
        assert any(value > 0 for value in found.values())
    assert base in lattice(base) and len(lattice(base)) > 100
    # Where every setting is the same one, no judgement can tell between them.
    passages = influences(evidence, records, base, "passage")
    assert min(passages.values()) == 0


def test_who_judges_needs_a_name_and_who_signed_in_has_one(engine: Engine) -> None:
    found = engine.judging.desk(batch_of(engine), "passage", "").next
    assert found is not None
    for name in ("", "  ", "x" * 81, "a\nb\x00"):
        with pytest.raises(InvalidConfig):
            engine.judging.say(found.item, "yes", name)
    with pytest.raises(InvalidConfig):
        engine.judging.say(found.item, "yes", "Ada", explanation="x" * 2001)
    engine.judging.say(found.item, "yes", "  Ada   Lovelace ")
    assert "Ada Lovelace" in engine.judging.judges()
    with acting_as(Person("ada@example.org", "Ada", "editor")):
        assert engine.judging.named("another person") == "ada@example.org"


def test_guidelines_belong_to_their_set(engine: Engine) -> None:
    engine.judging.set_guidelines(SET, "  Only what answers wholly.  ")
    assert engine.judging.guidelines(SET) == "Only what answers wholly."
    assert engine.judging.guidelines("samples") == ""
    with pytest.raises(UnknownQuerySet):
        engine.judging.guidelines("nowhere")
    with pytest.raises(InvalidConfig):
        engine.judging.set_guidelines(SET, "x" * 4001)


def test_the_grader_of_the_newest_gathering_is_reported_by_kind_with_what_is_counted(engine: Engine) -> None:
    found = engine.judging.grader(SET)
    assert found is not None and found.batch_id == batch_of(engine)
    (figures,) = found.to_dict()["figures"].values()
    assert figures["n"] + figures["unlabelled_n"] > 0 and set(figures["intervals"]) <= set(figures)
    with pytest.raises(UnknownQuerySet):
        engine.judging.grader("nowhere")


def test_history_keeps_the_scores_as_they_were_and_takes_notes(engine: Engine) -> None:
    (before,) = engine.judging.history(SET)
    assert before.figures["quality"][1] == 4 and before.note == ""
    desk = engine.judging.desk(batch_of(engine), "answer", "Ada")
    assert desk.next is not None
    engine.judging.say(desk.next.item, "no", "Ada", drawn="random")
    engine.judging.note_history(before.batch_id, "new chunking")
    (after,) = engine.judging.history(SET)
    assert (after.figures, after.note) == (before.figures, "new chunking")
    (said,) = engine.evaluation.answer_judgements((desk.next.item.question, desk.next.item.text))
    assert after.at < after.noted_at == before.noted_at <= said.judged_at, "until when judgements are in it"
    with pytest.raises(UnknownBatch):
        engine.judging.note_history("nothing", "x")


def test_history_is_of_the_whole_set_alone(engine: Engine) -> None:
    """Answers that were missing are gathered for some questions: their figures are no score of the set."""
    engine.evaluation.save_query_set(QuerySet("grown", QUESTIONS[2:3]))

    def gathered(*only: str) -> str:
        batch_id = engine.batches.start("grown", RunConfig(), 2, only or None)
        assert engine.batches.wait(batch_id, 60)
        return batch_id

    first = gathered()
    engine.evaluation.save_query_set(QuerySet("grown", QUESTIONS[2:]))
    second, part = gathered(), gathered("none")
    past = [item.batch_id for item in engine.judging.history("grown")]
    assert past == [first, second] and part not in past
    engine.evaluation.save_query_set(QuerySet("grown", QUESTIONS[3:]))
    assert [item.batch_id for item in engine.judging.history("grown")] == [first, second, part], "all that is left"
    engine.evaluation.delete_query_set("grown")


def test_a_gathering_that_failed_is_a_score_once_it_was_tried_again(engine: Engine) -> None:
    """Else its figures would be those of the few questions that ran before a model server was gone."""
    engine.evaluation.save_query_set(QuerySet("torn", QUESTIONS[2:3]))
    config = RunConfig(models=RoleModels(grader=RoleModel("ollama:gone:1b")))
    assert engine.batches.wait(batch_id := engine.batches.start("torn", config, 2), 60)
    assert len(engine.evaluation.batch(batch_id).failures) == 1 and engine.judging.history("torn") == ()
    assert engine.batches.wait(engine.batches.start("torn", RunConfig(), 2), 60)
    assert [item.batch_id == batch_id for item in engine.judging.history("torn")] == [False]
    engine.evaluation.delete_query_set("torn")


def test_a_new_set_of_an_old_name_has_neither_its_guidelines_nor_scores_that_others_may_not_read(
    engine: Engine,
) -> None:
    engine.evaluation.save_query_set(QuerySet("old name", QUESTIONS[3:]))
    engine.judging.set_guidelines("old name", "for members")
    assert engine.batches.wait(engine.batches.start("old name", RunConfig(), 1), 60)
    assert len(engine.judging.history("old name")) == 1
    engine.evaluation.delete_query_set("old name")
    engine.evaluation.save_query_set(QuerySet("old name", QUESTIONS[3:], "elsewhere"))
    assert engine.judging.guidelines("old name") == ""
    with acting_as(Person("o", "Oz", "editor", hidden=frozenset({"samples"}))):
        assert engine.judging.history("old name") == ()
    assert len(engine.judging.history("old name")) == 1
    engine.evaluation.delete_query_set("old name")


def test_judgements_over_http(engine: Engine) -> None:
    with TestClient(app_of(engine), base_url=ADDRESS) as client:
        path = "/api/query-sets/four%20questions/judgements"
        line = {"question": QUESTIONS[0].question, "passage": "dm-sets.en.md#2", "relevant": False}
        taken = client.post(path, json={"content": json.dumps(line) + "\n{}\n", "judge": "Bo"}).json()
        assert (taken["passages"], taken["answers"], taken["left_out_n"]) == (1, 0, 1)
        assert client.get(path, params={"format": "qrels"}).text == "rows 0 dm-sets.en.md#2 0\n"
        assert json.loads(client.get(path).text)["judge"] == "Bo"
        assert client.get(path, params={"format": "xml"}).status_code == 422
        assert client.post(path, json={"content": "rubbish"}).status_code == 422
        assert client.get("/api/query-sets/nowhere/judgements").status_code == 404
        (scores,) = client.get("/api/query-sets/four%20questions/history").json()
        assert scores["figures"]["quality"][1] == 4


def test_who_may_not_read_the_collection_reads_no_judgement_of_its_set(engine: Engine) -> None:
    batch = batch_of(engine)
    with acting_as(Person("o", "Oz", "editor", hidden=frozenset({"samples"}))):
        for look in (
            engine.judging.guidelines,
            engine.judging.history,
            lambda name: engine.judging.exported(name, "jsonl"),
        ):
            with pytest.raises(UnknownQuerySet):
                look(SET)
        with pytest.raises(UnknownBatch):
            engine.judging.desk(batch, "passage", "Oz")


def test_judgements_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("WORKBENCH_OLLAMA_URL", "http://127.0.0.1:1")
    with Engine.open(Settings.load()) as engine:
        engine.evaluation.save_query_set(QuerySet(SET, QUESTIONS))
    file = tmp_path / "ratings.csv"
    file.write_text(f"query,docid,rating\n{QUESTIONS[1].question},dm-sets.en.md#2,3\nWho?,a,1\n", encoding="utf-8")
    assert main(["judgements", "import", SET, str(file), "--judge", "Cy", "--relevant-from", "2"]) == 0
    printed = " ".join(capsys.readouterr().err.split())
    assert "1 passages and 0 answers judged" in printed and "left out: line 3" in printed
    assert main(["judgements", "export", SET, "--format", "quepid"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == f"{QUESTIONS[1].question},dm-sets.en.md#2,1"
    assert main(["judgements", "history", SET]) == 0
    assert capsys.readouterr().out == ""
    assert main(["judgements", "import", SET, str(tmp_path / "none.csv")]) == 1
    assert "cannot be read as judgements" in capsys.readouterr().err


@pytest.fixture
def database(database_of: Callable[[Part], Database]) -> Database:
    return database_of("evaluation")


def test_what_the_desk_keeps_stands_in_both_databases(database: Database) -> None:
    with closing(DeskStore(database)) as store:
        store.set_guidelines("s", "a")
        store.set_guidelines("s", "b")
        store.add_judge("Bo")
        store.add_judge("Ada")
        store.add_judge("Ada")
        assert (store.guidelines("s"), store.guidelines("t"), store.judges()) == ("b", "", ("Ada", "Bo"))
        late, early = (
            Scores(name, "s", at, {"quality": (0.5, 4)}) for name, at in (("b2", "2026-02"), ("b1", "2026-01"))
        )
        store.keep_scores(late)
        store.keep_scores(early)
        store.keep_scores(Scores("b1", "s", "2026-01", {"quality": (0.9, 4)}))
        assert store.note_scores("b2", "why") and not store.note_scores("b3", "why")
        assert [(item.batch_id, item.figures, item.note) for item in store.scores("s")] == [
            ("b1", {"quality": (0.5, 4)}, ""),
            ("b2", {"quality": (0.5, 4)}, "why"),
        ]
        with database.writing() as connection:
            connection.execute(update(SET_SCORES).values(figures="[1]"))
        with pytest.raises(EvaluationError, match="damaged"):
            store.scores("s")


def test_a_file_of_judgements_goes_in_at_once_or_not_at_all(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that stops in between would leave nobody knowing what of it counts."""
    question = QUESTIONS[0].question
    rows = [{"question": question, "passage": f"p{place}", "relevant": True, "judge": "Bo"} for place in range(3)]
    rows.append({"question": question, "answer": "32", "right": "yes", "judge": "Bo"})
    text = "\n".join(map(json.dumps, rows))

    def full(*_: object) -> None:
        raise OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full"))

    with monkeypatch.context() as patch:
        patch.setattr(judgements, "put_answers", full)
        with pytest.raises(EvaluationError):
            engine.judging.imported(SET, text)
    assert engine.evaluation.labels(question) == ()
    taken = engine.judging.imported(SET, text)
    assert (taken.passages, taken.answers) == (3, 1) and len(engine.evaluation.labels(question)) == 3
    assert "Bo" in engine.judging.judges()
    with raises(EvaluationError.judgements_unusable, match="name"):
        engine.judging.imported(SET, json.dumps({**rows[0], "judge": "B\n\u202eo"}))
