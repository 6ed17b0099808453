"""The page Memory without a browser: the ledger, what was recalled, deleting and switching off (DL-06)."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import words_for
from engine.api.process import use_engine
from engine.engine import Engine
from engine.errors import StoreError
from engine.messages import NC_
from engine.model.config import RunConfig
from engine.model.events import Event, MemoryRecalled, RouteChosen, RunFinished, RunStarted, fold_all
from engine.model.values import Memory, Recall, RouteChoice, RunId, RunRecord
from engine.settings import Settings
from engine.workflows.dual_loop.options import DualLoopOptions
from pages.parts.knowledge.memory import MemoryFigures, ledger_csv, matching, recalled_by
from pages.parts.knowledge.recalls import EFFECTS, effect_of
from pages.parts.knowledge.state import FOR_GOOD
from tests.pages.driving import button, inline, on_pages, opened, visible

EN, ZH = words_for("en"), words_for("zh")
HOSTILE = "<img src=x onerror=alert(1)> ![x](https://evil.example/p.png) **bold** {name} :red[x]"

FAST = Memory(
    id="m1",
    question="Which insulin acts fastest?",
    answer="An ultra-rapid analogue, within 2 to 5 minutes [1]. " + "More of it. " * 40,
    collection="samples",
    run_id="aaaa1111bbbb",
    kept_at="2026-03-01T10:20:30+00:00",
    sources=("dc-insulin.en.md",),
    claim="An ultra-rapid analogue acts fastest.",
    claim_by="ollama:qwen3:8b",
)
FAILED = Memory("m2", "谁？", "不知道。", "notes", "cccc2222dddd", "2026-03-02T10:00:00+00:00", passed=False)
LACED = Memory("m3", HOSTILE, HOSTILE, "samples", "eeee3333ffff", "2026-03-03T10:00:00+00:00", sources=(HOSTILE,))
RECALLED = replace(FAST, similarity=0.93)


def run_of(
    run_id: str, question: str, recall: Recall | None, route: RouteChoice | None, minute: int = 0
) -> tuple[RunId, list[Event]]:
    """A finished run of the dual loop as events, as far as memory is concerned."""
    events: list[Event] = [
        RunStarted(
            run_id=RunId(run_id),
            question=question,
            config=RunConfig(workflow="dual_loop", options=DualLoopOptions()),
            started_at=f"2026-03-04T10:{minute:02}:00+00:00",
        )
    ]
    if recall is not None:
        events.append(MemoryRecalled(recall=recall))
    if route is not None:
        events.append(RouteChosen(choice=route))
    events.append(RunFinished(outcome="answered", reason="answer_relevant"))
    return RunId(run_id), [replace(event, seq=place + 1, t_ms=float(place)) for place, event in enumerate(events)]


DIRECT = RouteChoice("direct", "remembered", "", without_memory="direct_chunk_search")
SEARCHED = RouteChoice("direct_chunk_search", "specific", "", without_memory="direct_chunk_search")
RUNS = (
    run_of("run-off", "Anything?", Recall(off=True), SEARCHED, 0),
    run_of("run-nothing", "What is a tree?", Recall(), SEARCHED, 1),
    run_of("run-stale", HOSTILE, Recall((RECALLED,), stale=("m1",)), SEARCHED, 2),
    run_of("run-direct", "Which insulin acts fastest?", Recall((RECALLED,)), DIRECT, 3),
    run_of("run-early", "Was stopped before memory was asked", None, None, 4),
)


def record_of(name: str) -> RunRecord:
    return fold_all(next(events for run_id, events in RUNS if run_id == name))


def holding(folder: Path, memories: Sequence[Memory], runs: Sequence[tuple[RunId, list[Event]]] = ()) -> Engine:
    engine = Engine.open(Settings(data_dir=folder, ollama_url="http://127.0.0.1:1"))
    engine.wait_until_ready()
    for memory in memories:
        engine._loop.call(engine.resources.knowledge.memory().keep(memory))
    for run_id, events in runs:
        for event in events:
            engine._store.append(run_id, event)
    assert engine.flush()
    return engine


@pytest.fixture(scope="module")
def filled_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with holding(tmp_path_factory.mktemp("filled"), (FAST, FAILED, LACED), RUNS) as engine:
        yield engine


@pytest.fixture
def filled(filled_engine: Engine) -> Iterator[Engine]:
    """An engine with three memories and five runs of the dual loop; tests leave it as it is."""
    use_engine(filled_engine)
    yield filled_engine
    use_engine(None)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Engine]:
    """An engine with two memories, to be changed."""
    with on_pages(holding(tmp_path, (FAST, FAILED))) as engine:
        yield engine


def widget(app: AppTest, key: str) -> Any:
    kinds = (app.text_input, app.button, app.get("button_group"), app.get("download_button"))
    return next(item for kind in kinds for item in kind if getattr(item, "key", None) == key)


def cards(app: AppTest) -> list[str]:
    """Each card of the ledger as the browser is given it."""
    parts = (json.loads(item.proto.json) for item in app.get("bidi_component"))
    trees = [tree for part in parts for tree in part.get("nodes", ())]
    return [
        json.dumps(tree, ensure_ascii=False) for tree in trees if str(tree[1].get("class", "")).startswith("card m")
    ]


def press(app: AppTest, action: str) -> AppTest:
    """What the browser does where a button of the ledger is pressed."""
    app.session_state["memory_ledger"] = {"action": {"name": action, "serial": 1}}
    return app.run()


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
def test_every_memory_is_listed_with_where_it_came_from_and_how_it_ended(filled: Engine, words: Any) -> None:
    """DL-06: memories can be listed; failed answers are marked."""
    app = opened("memory", language=words.language)
    laced, failed, fast = cards(app)
    assert FAST.question in fast and "An ultra-rapid analogue" in fast
    assert words("shortened by {model}", model=FAST.claim_by) in fast
    assert "ollama" not in laced
    assert f"✓ {words('Passed')}" in fast and f"✗ {words(NC_('memory', 'Failed'))}" in failed
    assert "2026-03-01 10:20 UTC" in fast
    assert f"/?run=aaaa1111bbbb&lang={words.language}" in fast
    assert "aaaa1111" in fast
    assert "notes" in failed and "dc-insulin.en.md" in fast
    assert f"{words('Recalled')} 2" in fast
    assert f"{words('Recalled')} 2" not in laced
    assert words.count("1 memory", "{n} memories", 3) in visible(app)
    assert not re.search(r"\{[a-z_]+\}", visible(app))


def test_text_in_a_memory_is_never_markup(filled: Engine) -> None:
    app = opened("memory")
    assert HOSTILE not in visible(app)
    laced = cards(app)[0]
    assert json.dumps(HOSTILE, ensure_ascii=False)[1:-1] in laced
    assert "evil.example" not in "\n".join(str(item.value) for item in (*app.markdown, *app.caption, *app.info))


def test_the_newest_runs_say_what_they_recalled_and_whether_it_changed_the_route(filled: Engine) -> None:
    """DL-06: recalled at the start and shown."""
    words = ZH
    app = opened("memory", language=words.language)
    drawn = inline(app)
    taken, without = words("answered directly"), words("direct passage search")
    assert words("⇄ changed the route") in drawn
    assert words("{taken}; without memory: {without}", taken=taken, without=without) in drawn
    assert all(words(EFFECTS[name][1]) in drawn for name in ("same", "nothing", "off"))
    assert words("outdated, not used") in drawn
    assert words("? effect unknown") not in drawn
    item = f"“{FAST.question}” · 0.93"
    assert drawn.count(json.dumps(item, ensure_ascii=False)[1:-1]) == 2
    assert f"{words('Recalled')} 4" in visible(app), "the run that never asked memory is left out"


def test_the_effect_of_memory_on_a_run_is_read_off_its_record() -> None:
    names = ("run-direct", "run-stale", "run-nothing", "run-off", "run-early")
    assert [effect_of(record_of(name)) for name in names] == ["changed", "same", "nothing", "off", "failed"]
    unread = replace(record_of("run-off"), recall=Recall(failed=True))
    unknown = replace(record_of("run-direct"), route=RouteChoice("direct"))
    assert (effect_of(unread), effect_of(unknown)) == ("failed", "unknown")
    records = [record_of(name) for name in names]
    assert recalled_by(records) == {"m1": 2}
    assert MemoryFigures.of((FAST, FAILED), records) == MemoryFigures(1, 1, 5, 2, 1)


def test_the_ledger_is_searched_and_narrowed_and_the_filters_are_cleared_with_one_button(filled: Engine) -> None:
    app = opened("memory")
    widget(app, "memory_q").set_value("ULTRA-rapid").run()
    assert len(cards(app)) == 1 and FAST.question in cards(app)[0]
    widget(app, "memory_q").set_value("nowhere at all").run()
    assert EN("Nothing matches.") in visible(app)
    button(app, lambda label: label == EN("Clear the filter")).click().run()
    assert len(cards(app)) == 3
    widget(app, "memory_kind").set_value("failed").run()
    assert len(cards(app)) == 1 and FAILED.question in cards(app)[0]


def test_a_search_looks_into_question_answer_collection_and_sources() -> None:
    both = (FAST, FAILED)
    assert matching(both, " ULTRA ", "all") == [FAST]
    assert matching(both, "dc-INSULIN", "all") == [FAST]
    assert matching(both, "不知道", "all") == matching(both, "notes", "all") == matching(both, "", "failed") == [FAILED]
    assert matching(both, "notes", "passed") == []


def test_one_memory_is_deleted_after_it_was_confirmed(own: Engine) -> None:
    """DL-06: memories can be deleted."""
    app = press(opened("memory"), "delete:m1")
    assert EN(FOR_GOOD) in visible(app)
    assert FAST.question in visible(app)
    assert len(own.memories()) == 2
    widget(app, "memory_delete_yes").click().run()
    assert [item.id for item in own.memories()] == ["m2"]
    assert EN("Deleted.") in inline(app)
    assert len(cards(app)) == 1


def test_all_memories_are_deleted_after_it_was_confirmed_and_the_hidden_ones_are_named(own: Engine) -> None:
    app = opened("memory")
    widget(app, "memory_q").set_value("insulin").run()
    widget(app, "memory_delete_all").click().run()
    assert EN(FOR_GOOD) in visible(app)
    assert "1 is hidden by the filters." in [item.value for item in app.warning]
    widget(app, "memory_delete_yes").click().run()
    assert own.memories() == []
    assert EN("Nothing yet.") in visible(app), "an empty page says what to do next"
    assert not app.exception


def test_deleting_what_is_gone_already_is_said(own: Engine) -> None:
    app = press(opened("memory"), "delete:m1")
    own.forget_memory("m1")
    widget(app, "memory_delete_yes").click().run()
    assert "WB215" in inline(app)
    assert len(cards(app)) == 1


def test_an_action_for_a_memory_that_is_not_shown_does_nothing(own: Engine) -> None:
    app = press(opened("memory"), "delete:m9")
    assert not any(item.key == "memory_delete_yes" for item in app.button)
    assert len(own.memories()) == 2


def test_memory_is_switched_off_and_on_again(own: Engine) -> None:
    """DL-06: memories can be switched off."""
    app = opened("memory")
    off = EN("■ memory off")
    app.toggle(key="memory_switch").set_value(False).run()
    assert off in visible(app)
    assert app.session_state["memory"] is False
    assert app.session_state["settings_wanted"] == {"memory": False}
    assert len(cards(app)) == 2, "what is stored stays"
    app.toggle(key="memory_switch").set_value(True).run()
    assert app.session_state["settings_wanted"] == {"memory": True}
    assert off not in visible(app)


def test_the_table_to_take_away_has_whole_answers_and_no_formula() -> None:
    laced = replace(FAILED, question="=1+1", answer="-2 \ud83d", sources=("a.md", "b.md"))
    content = ledger_csv((FAST, laced), ZH)
    assert content.startswith(b"\xef\xbb\xbf")
    head, first, second = csv.reader(io.StringIO(content.decode("utf-8-sig")))
    assert head == ["ID", "通过", "问题", "回答", "知识库", "创建时间", "运行", "来源"]
    assert first[1:4] == ["通过", FAST.question, FAST.answer]
    assert second[1:4] == [ZH(NC_("memory", "Failed")), "'=1+1", "'-2 ?"]
    assert second[-1] == "a.md, b.md"


def test_an_empty_page_says_what_to_do_next(tmp_path: Path) -> None:
    with on_pages(holding(tmp_path, ())):
        app = opened("memory", language="zh")
        assert ZH("Nothing yet.") in visible(app)
        assert cards(app) == []


def test_a_store_that_is_locked_is_said_with_a_button_that_tries_again(
    own: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked() -> list[Memory]:
        raise StoreError.locked(path="knowledge.db")

    monkeypatch.setattr(own, "memories", locked)
    app = opened("memory")
    assert "WB201" in inline(app)
    monkeypatch.undo()
    app.session_state["memory_unreadable"] = {"action": {"name": "again", "serial": 1}}
    app.run()
    app.run()
    assert len(cards(app)) == 2


def test_long_lists_come_in_pages(tmp_path: Path) -> None:
    many = [
        replace(FAST, id=f"m{n:02}", question=f"Question {n}?", kept_at=f"2026-03-01T10:{n:02}:00") for n in range(25)
    ]
    with on_pages(holding(tmp_path, many)):
        app = opened("memory")
        assert len(cards(app)) == 20
        assert "Question 24?" in cards(app)[0]
