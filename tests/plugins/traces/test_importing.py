"""Traces as runs of an engine: kept once, tuned over as a set, judged here, offered by the API (TR-02 to TR-05)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from starlette.testclient import TestClient

from components.common.i18n import words_for
from engine.api import create_api
from engine.cli.main import main
from engine.engine import Engine
from engine.errors import EvaluationError, NotAllowed, RecordError, UnknownCollection, UnknownRun
from engine.model.config import RoleModel
from engine.people import Person, acting_as
from engine.replay.grid import paths
from engine.replay.settings import GAPS, STATES, SettingsGrid
from engine.settings import Settings
from engine.version import ROOT
from plugins.traces.errors import OWN_RUN, TOO_LARGE
from plugins.traces.routes import judged
from plugins.traces.taking import Traces
from tests.api.test_openapi import routes_in, routes_of
from tests.plugins.traces import PATHS
from tests.plugins.traces.crag_spans import CATS, TIDES, CragTrace, file_of, tides
from tests.support.errors import raises
from tests.support.gates import PATIENCE_S


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("traces")
    with Engine.open(Settings(data_dir=folder, ollama_url="http://127.0.0.1:1", embedding_model="hashing")) as opened:
        yield opened


def ungraded(trace_id: str, question: str = "What pulls the sea?") -> CragTrace:
    made = CragTrace(trace_id, question, project="plain")
    return made.retrieve(question, [("tides", TIDES, 12.5), ("cats", CATS, 11.0)]).generate([TIDES, CATS], "The moon.")


def test_a_look_keeps_nothing_and_a_trace_is_kept_once(engine: Engine) -> None:
    files = file_of(tides("k1").otlp("The moon."))
    seen = Traces.of(engine).preview(files)
    assert not seen.known
    assert not engine.runs(text="tides")
    assert Traces.of(engine).take(files).new == 1
    assert Traces.of(engine).take(files).new == 0
    assert Traces.of(engine).preview(files).known == {seen.records[0].id}
    record = engine.record(seen.records[0].id)
    assert record.origin is not None
    assert (record.origin.tool, record.origin.project, record.collection) == ("otlp", "crag", "imported_crag")
    assert [item.node for item in record.nodes] == ["retrieve", "grade", "rewrite", "retrieve", "grade", "generate"]


def test_an_imported_run_cannot_be_branched_off(engine: Engine) -> None:
    [run] = Traces.of(engine).take(file_of(tides("k2").otlp("The moon."))).runs
    with raises(RecordError.fork_imported, match="imported from a trace"):
        engine.fork(run, engine.record(run).config)


def test_a_project_is_a_query_set_that_settings_are_tried_over(engine: Engine) -> None:
    other = CragTrace("k4", "Do cats sleep?").retrieve("Do cats sleep?", [("cats", CATS, 0.7), ("tides", TIDES, 0.2)])
    other.grade(CATS, "yes").grade(TIDES, "no").generate([CATS], "All day.")
    files = file_of(tides("k3").otlp("The moon."), other.otlp("All day."))
    taken = Traces.of(engine).take(files, set_name="crag")
    assert {case.question for case in engine.evaluation.query_set("crag").cases} == {
        "What causes tides?",
        "Do cats sleep?",
    }
    evidence = engine.batches.evidence(taken.batch_id)
    assert (len(evidence), evidence.failed) == (2, ())
    config = engine.evaluation.batch(taken.batch_id).config
    tried = SettingsGrid.of([config, replace(config, max_rewrites=0), replace(config, top_k=5)])
    states = [[STATES[int(code)] for code in paths(item.table, tried).state] for item in evidence.gathered]
    # As they were, without a rewrite, and deeper than anything recorded.
    assert sorted(states) == [["known", "known", "generation"], ["known", "known", "needs_calls"]]
    assert engine.batches.progress(taken.batch_id).done == 2


def test_a_set_of_an_unusable_name_keeps_no_run(engine: Engine) -> None:
    files = file_of(tides("k5").otlp("The moon."))
    with raises(EvaluationError.set_reserved):
        Traces.of(engine).take(files, set_name="samples")
    assert not Traces.of(engine).preview(files).known


def test_what_was_not_graded_is_judged_here_and_says_by_whom(engine: Engine) -> None:
    """TR-05."""
    [run] = Traces.of(engine).take(file_of(ungraded("j1").otlp("The moon."))).runs
    before = engine.record(run)
    assert (before.decisions, before.outcome) == ((), "answered_unverified")
    assert engine.what_if(before, before.config).gap == "verdicts"
    engine.tag_run(run, "seen")
    price = Traces.of(engine).price([run], RoleModel("ollama:small"))
    assert (price.passages, price.calls) == (2, 2)
    assert Traces.of(engine).price([run], RoleModel()).calls == 0
    assert Traces.of(engine).judge([run], RoleModel()).result() == 2
    after = engine.record(run)
    assert after.origin is not None
    assert after.origin.judged_here == ("builtin",)
    assert {verdict.grader for verdict in after.rounds[0].verdicts.values()} == {"builtin"}
    assert after.decisions == engine.what_if(after, after.config).decisions != ()
    assert after.answer == before.answer
    assert [item.tags for item in engine.runs(text=run)] == [("seen",)]
    with raises(OWN_RUN):
        Traces.of(engine).judge([run], RoleModel())


def test_a_set_is_judged_as_a_whole_and_gathered_once_more(engine: Engine) -> None:
    """TR-05: settings over the set follow from the new verdicts at once."""
    files = file_of(ungraded("s1").otlp("The moon."), ungraded("s2", "Who sleeps all day?").otlp("Cats."))
    taken = Traces.of(engine).take(files, set_name="ungraded")
    config = engine.evaluation.batch(taken.batch_id).config

    def gaps(batch_id: str) -> set[str | None]:
        tried = SettingsGrid.of([config])
        found = (paths(item.table, tried) for item in engine.batches.evidence(batch_id).gathered)
        return {None if item.gap[0] < 0 else GAPS[int(item.gap[0])] for item in found}

    assert gaps(taken.batch_id) == {"verdicts"}
    assert Traces.of(engine).judge(taken.runs, RoleModel(), set_name="ungraded").result() == 4
    newest, *_ = engine.evaluation.batches("ungraded")
    assert newest.id != taken.batch_id
    assert "verdicts" not in gaps(newest.id)


def test_verdicts_of_the_other_program_stay(engine: Engine) -> None:
    made = CragTrace("j2", "What pulls the sea?").retrieve("sea", [("tides", TIDES, 0.9), ("cats", CATS, 0.1)])
    [run] = Traces.of(engine).take(file_of(made.grade(TIDES, "yes").otlp())).runs
    Traces.of(engine).judge([run], RoleModel()).result()
    record = engine.record(run)
    assert {name: verdict.grader for name, verdict in record.rounds[0].verdicts.items()} == {
        "tides": "imported:llama3",
        "cats": "builtin",
    }
    assert engine.what_if(record, record.config).decisions == record.decisions != ()


def test_a_run_of_this_workbench_is_not_judged_that_way(engine: Engine) -> None:
    engine.wait(run := engine.start("What is a truth table?"))
    with raises(OWN_RUN):
        Traces.of(engine).judge([run], RoleModel())


def test_the_api_looks_takes_and_judges(engine: Engine) -> None:
    client = TestClient(create_api(lambda: engine))
    body = {"files": [{"name": "a.json", "content": ungraded("p1").otlp("The moon.")}]}
    looked = client.post("/traces", json={**body, "dry_run": True}).json()
    assert [(item["searches"], item["passages"], item["verdicts"], item["known"]) for item in looked["traces"]] == [
        (1, 2, 0, False)
    ]
    taken = client.post("/traces", json={**body, "set_name": "plain"}).json()
    assert (taken["new"], taken["set_name"]) == (1, "plain")
    lines = {"files": [{"name": "a.jsonl", "content": json.dumps(body["files"][0]["content"])}], "dry_run": True}
    assert client.post("/traces", json=lines).json()["traces"][0]["known"]
    run = taken["traces"][0]["run"]
    assert client.post(f"/runs/{run}/verdicts", json={}).json() == {"run": run, "judged": 2}
    refused = client.post("/traces", json={"files": [{"name": "a", "content": {"x": 1}}]})
    assert (refused.status_code, refused.json()["code"]) == (422, "WB960")


def test_a_caller_of_the_api_who_leaves_ends_the_judging(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that waited for it would stay, and a few of them would hold up every other request (TR-05)."""
    judging: Future[int] = Future()
    begun, go_on = Event(), Event()

    def judge(*_: object) -> Future[int]:
        begun.set()
        assert go_on.wait(PATIENCE_S)
        return judging

    monkeypatch.setattr(Traces.of(engine), "judge", judge)

    async def left() -> None:
        leaving = asyncio.create_task(judged(engine, "any", RoleModel()))
        await asyncio.to_thread(begun.wait, PATIENCE_S)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        go_on.set()
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        judging.add_done_callback(lambda _: loop.call_soon_threadsafe(ended.set))
        async with asyncio.timeout(PATIENCE_S):
            await ended.wait()

    asyncio.run(left())
    assert judging.cancelled()


def test_who_knows_the_id_of_a_trace_does_not_read_what_others_imported_of_it(engine: Engine) -> None:
    """TM-14: else its question would stand in a query set of theirs."""
    files = file_of(ungraded("limited", "What pulls the secret sea?").otlp("The moon."))
    Traces.of(engine).take(files)
    made = CragTrace("limited", "Anything?", project="mine").retrieve("Anything?", [("tides", TIDES, 0.5)])
    forged = file_of(made.otlp("The moon."))
    other = Person("o@example.org", "O", "editor", hidden=frozenset({"imported_plain"}))
    with acting_as(other):
        for ask in (
            Traces.of(engine).preview,
            Traces.of(engine).take,
            partial(Traces.of(engine).take, set_name="forged"),
        ):
            with raises(TOO_LARGE, match="collection that you may not see"):
                ask(forged)
        both = [*forged, *file_of(ungraded("their own", "Why?").otlp("A."))]
        seen, taken = Traces.of(engine).preview(both), Traces.of(engine).take(both)
        # What is said of it is not the id of a run that they do not find.
        assert [trace.trace_id for trace in seen.found.traces] != [] and not seen.known
        assert [item.code for item in seen.found.left_out] == ["hidden"] and taken.new == 1
        assert all(engine.record(run_id).question == "Why?" for run_id in taken.runs)
    assert "forged" not in engine.evaluation.query_sets()
    assert Traces.of(engine).preview(files).known


def test_of_a_collection_that_is_kept_from_a_person_nothing_is_taken_or_judged(engine: Engine) -> None:
    """TM-14; and viewers neither import nor have anything judged."""
    files, traces = file_of(ungraded("kept").otlp("The moon.")), Traces.of(engine)
    [run] = traces.take(files).runs
    asks: tuple[Callable[[], object], ...] = (
        partial(traces.preview, files, collection="imported_plain"),
        partial(traces.take, files, collection="imported_plain"),
        partial(traces.price, [run], RoleModel()),
        partial(traces.judge, [run], RoleModel()),
    )
    people = {
        Person("o@example.org", "O", "editor", hidden=frozenset({"imported_plain"})): (UnknownCollection, UnknownRun),
        Person("v@example.org", "V", "viewer"): (NotAllowed,),
    }
    for person, refused in people.items():
        with acting_as(person):
            for ask in asks:
                with pytest.raises(refused):
                    ask()


def test_the_log_of_changes_says_what_was_imported_and_judged() -> None:
    change_text = pytest.importorskip("plugins.team.people_panel").change_text
    said = [change_text(f"Traces.{name}", words_for("en")) for name in ("take", "judge")]
    assert said == ["Traces imported", "Passages of imported runs judged"]


def test_the_command_line_looks_and_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path / "data"))
    file = tmp_path / "spans.json"
    file.write_text(json.dumps(tides("c1").otlp("The moon.")), encoding="utf-8")
    assert main(["import-traces", str(file), "--dry-run"]) == 0
    assert "nothing was kept" in capsys.readouterr().out
    assert main(["import-traces", str(file), "--as-set", "mine"]) == 0
    assert "Runs imported: 1; there already: 0." in capsys.readouterr().out
    assert main(["import-traces", str(tmp_path / "gone.json")]) == 2
    assert "gone.json" in capsys.readouterr().err


def test_the_page_of_the_documentation_names_the_routes() -> None:
    assert routes_of(PATHS) <= routes_in(ROOT / "docs" / "traces.md")
