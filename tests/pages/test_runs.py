"""The Runs page: the list, its filters and their address, and what is done with runs."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from components.runs.run_list import Press, RunLine, RunListEvent, run_row
from engine.engine import Engine
from engine.errors import RecordError
from engine.model.config import RunConfig
from engine.model.values import AnswerNote, Outcome, RunId
from engine.records import BATCH, PINNED
from engine.records.store import RunStore
from engine.settings import Settings
from pages.parts.runs.run_list import pressed
from tests.pages.driving import button, given, inline, on_pages, opened, visible
from tests.support.recorded import recorded_run

EN, ZH = words_for("en"), words_for("zh")
HOSTILE = "<img src=x onerror=alert(1)> ![x](http://evil.example/q) **bold**"


def record(folder: Path, *runs: tuple[str, Outcome, str], tags: dict[str, tuple[str, ...]] | None = None) -> None:
    """Runs of an earlier process: id, outcome and question, a minute apart, the last one newest."""
    with RunStore(folder / "runs.db") as store:
        for minute, (run_id, outcome, question) in enumerate(runs):
            started_at = f"2025-03-01T10:{minute:02}:00.000+00:00"
            for event in recorded_run(1, outcome, run_id=run_id, question=question, started_at=started_at):
                store.append(RunId(run_id), event)
        for run_id, names in (tags or {}).items():
            for name in names:
                store.tag(run_id, name)


THREE: tuple[tuple[str, Outcome, str], ...] = (
    ("aaaa1111", "answered", "What is a truth table?"),
    ("bbbb2222", "abstained", "妊娠期糖尿病怎么诊断？"),
    ("cccc3333", "interrupted", HOSTILE),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def own(folder: Path) -> Iterator[Engine]:
    """An engine on the runs of an earlier one."""
    record(folder, *THREE, tags={"aaaa1111": (PINNED, "to review"), "bbbb2222": (BATCH,)})
    with on_pages(Engine.open(Settings(data_dir=folder, ollama_url="http://127.0.0.1:1"))) as engine:
        yield engine


@pytest.fixture
def fresh(folder: Path) -> Iterator[Engine]:
    """An engine without any run."""
    with on_pages(Engine.open(Settings(data_dir=folder, ollama_url="http://127.0.0.1:1"))) as engine:
        yield engine


def listed(app: AppTest, *, demos: bool = False) -> list[dict[str, Any]]:
    """The rows that the list is given to draw; none where it is not drawn."""
    parts = (json.loads(item.proto.json) for item in app.get("bidi_component"))
    return next((item["rows"] for item in parts if "rows" in item and item.get("fixed") is demos), [])


def ids(app: AppTest) -> list[str]:
    return [row["id"] for row in listed(app)]


def select(app: AppTest, *run_ids: str) -> None:
    app.session_state["run_list"] = {"selected": list(run_ids)}
    app.run()
    assert not app.exception, app.exception


def widget(app: AppTest, key: str) -> Any:
    return next(
        item for kind in (app.text_input, app.selectbox, app.toggle, app.button) for item in kind if item.key == key
    )


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
def test_runs_are_listed_newest_first_with_what_they_came_to(own: Engine, words: Any) -> None:
    """SC-10, SC-12"""
    app = opened("runs", language=words.language)
    assert ids(app) == ["cccc3333", "aaaa1111"], "runs of batches are left out"
    cut_off, answered = listed(app)
    assert words("Interrupted") in cut_off["outcome"]
    assert words("Answered") in answered["outcome"]
    assert (answered["rewrites"], answered["pinned"]) == ("1", True)
    assert [item["tag"] for item in answered["tags"]] == ["to review"]
    assert answered["href"] == "/?run=aaaa1111"
    assert not re.search(r"\{[a-z_]+\}", visible(app))


def test_runs_of_batches_are_shown_when_asked_for(own: Engine) -> None:
    app = opened("runs")
    widget(app, "batches").set_value(True).run()
    assert ids(app) == ["cccc3333", "bbbb2222", "aaaa1111"]
    batch = listed(app)[1]
    assert [item["text"] for item in batch["badges"]] == [EN("batch")]
    assert batch["tags"] == []


@pytest.mark.parametrize(
    ("typed", "found"),
    [("TRUTH", ["aaaa1111"]), ("review", ["aaaa1111"]), ("cccc33", ["cccc3333"]), ("nowhere", [])],
)
def test_the_search_finds_by_question_tag_and_id(own: Engine, typed: str, found: list[str]) -> None:
    app = opened("runs")
    widget(app, "q").set_value(typed).run()
    assert ids(app) == found
    assert ids(opened("runs", q=typed)) == found, "the address holds the search too"


def test_filters_by_outcome_and_tag_go_into_the_address_and_can_be_cleared(own: Engine) -> None:
    app = opened("runs")
    widget(app, "outcome").set_value("answered").run()
    widget(app, "tag").set_value("to review").run()
    assert ids(app) == ["aaaa1111"]
    assert (given(app, "outcome"), given(app, "tag")) == ("answered", "to review")
    widget(app, "outcome").set_value("failed").run()
    assert ids(app) == []
    assert EN("No run matches these filters.") in [item.value for item in app.info]
    widget(app, "runs_clear_filters").click().run()
    assert ids(app) == ["cccc3333", "aaaa1111"]
    assert (given(app, "outcome"), given(app, "tag")) == ("", "")


def test_an_address_opens_the_list_filtered_and_nonsense_in_it_is_passed_over(own: Engine) -> None:
    assert ids(opened("runs", outcome="interrupted")) == ["cccc3333"]
    assert ids(opened("runs", tag=PINNED)) == ["aaaa1111"]
    assert ids(opened("runs", outcome="eaten", tag="<script>")) == ["cccc3333", "aaaa1111"]


def test_an_empty_list_says_what_to_do_next(fresh: Engine) -> None:
    """SC-12"""
    language: UiLanguage = "zh"
    app = opened("runs", language=language)
    words = words_for(language)
    assert words("No run yet.") in [item.value for item in app.info]
    assert words("Ask a question") in [item.proto.label for item in app.get("page_link")]


def test_with_nothing_but_batches_the_list_says_that_they_are_hidden(fresh: Engine) -> None:
    run = fresh.run("What is a set?")
    fresh.tag_run(run.id, BATCH)
    app = opened("runs")
    assert ids(app) == []
    assert EN("No run of your own yet; those of batches are hidden.") in [item.value for item in app.info]


def test_a_damaged_record_is_marked_hides_no_other_and_can_be_deleted(own: Engine, folder: Path) -> None:
    with closing(sqlite3.connect(folder / "runs.db")) as connection:
        connection.execute("UPDATE events SET data = 'x' WHERE run_id = 'aaaa1111' AND kind = 'decided'")
        connection.commit()
    app = opened("runs")
    assert [(row["id"], row["damaged"]) for row in listed(app)] == [("cccc3333", False), ("aaaa1111", True)]
    assert [item["text"] for item in listed(app)[1]["badges"]] == [EN("✗ damaged")]
    select(app, "aaaa1111")
    widget(app, "runs_delete").click().run()
    assert EN.count(
        "Delete this run with all its evidence? This cannot be undone.",
        "Delete {n} runs with all their evidence? This cannot be undone.",
        1,
    ) in [item.value for item in app.text]
    widget(app, "runs_delete_yes").click().run()
    assert ids(app) == ["cccc3333"]
    assert EN.count("1 run deleted.", "{n} runs deleted.", 1) in [item.value for item in app.success]


def test_several_runs_are_deleted_only_after_the_question_is_answered(own: Engine) -> None:
    app = opened("runs")
    select(app, "aaaa1111", "cccc3333")
    widget(app, "runs_delete").click().run()
    assert len(own.runs()) == 3
    widget(app, "runs_delete_no").click().run()
    assert len(own.runs()) == 3
    widget(app, "runs_delete").click().run()
    widget(app, "runs_delete_yes").click().run()
    assert [item.id for item in own.runs()] == ["bbbb2222"]


def test_what_can_be_done_with_runs_is_there_once_one_is_selected(own: Engine) -> None:
    app = opened("runs")
    assert not [item for item in app.button if item.key == "runs_delete"]
    select(app, "cccc3333", "a run that is not shown")
    assert widget(app, "runs_delete")
    assert EN("{n} selected", n=1) in [item.value for item in app.caption]


def test_selected_runs_are_tagged_and_a_tag_that_will_not_do_is_said(own: Engine) -> None:
    app = opened("runs")
    select(app, "aaaa1111", "cccc3333")
    widget(app, "new_tag").set_value("  slow ")
    button(app, lambda label: label == EN("Add a tag")).click().run()
    assert {item.id: item.tags for item in own.runs(tag="slow")} == {
        "aaaa1111": (PINNED, "slow", "to review"),
        "cccc3333": ("slow",),
    }
    select(app, "aaaa1111")
    button(app, lambda label: label == EN("Add a tag")).click().run()
    assert "WB507" in inline(app)


def test_more_runs_are_shown_when_asked_for(fresh: Engine, folder: Path) -> None:
    with RunStore(folder / "runs.db") as store:
        for number in range(70):
            run_id = f"run-{number:04}"
            for event in recorded_run(0, run_id=run_id, started_at=f"2025-03-01T10:00:00.{number:03}+00:00"):
                store.append(RunId(run_id), event)
    app = opened("runs")
    assert (len(ids(app)), ids(app)[0]) == (50, "run-0069")
    assert EN.count("1 run", "{n} runs", 50) + " …" in [item.value for item in app.caption]
    widget(app, "runs_more").click().run()
    assert len(ids(app)) == 70
    assert not [item for item in app.button if item.key == "runs_more"]


class UnreadableEngine(Engine):
    """An engine whose records cannot be read."""

    def tags(self) -> dict[str, int]:
        raise RecordError.unreadable(path="runs.db", cause="the disk reported an error", advice="Look at it")


def test_records_that_cannot_be_read_are_explained_with_a_button_that_tries_again(folder: Path) -> None:
    """SC-10"""
    with on_pages(UnreadableEngine(Settings(data_dir=folder, ollama_url="http://127.0.0.1:1"))):
        app = opened("runs")
        assert "the disk reported an error" in inline(app)
        assert EN("Try again") in inline(app)


def test_no_question_and_no_tag_reaches_a_markdown_element(own: Engine) -> None:
    own.tag_run("cccc3333", "![t](http://evil.example/t)")
    app = opened("runs")
    select(app, "cccc3333")
    widget(app, "runs_delete").click().run()
    markup = [item.value for item in (*app.markdown, *app.caption, *app.info, *app.success)]
    assert HOSTILE in [item["question"] for item in listed(app)]
    assert not any("evil" in text or "onerror" in text for text in markup)


def test_the_demos_of_the_pages_language_are_listed_and_cannot_be_changed(fresh: Engine) -> None:
    app = opened("runs", language="zh")
    assert listed(app, demos=True) == []
    app.session_state["runs_demos"] = True
    app.run()
    rows = listed(app, demos=True)
    assert len(rows) == 9
    assert all(row["id"].startswith("demo-") and row["id"].endswith(f"-{'zh'}") for row in rows)
    assert ZH("Rewrite rescues") in [badge["text"] for row in rows for badge in row["badges"]]


def test_an_interrupted_run_is_opened_by_its_link_with_all_it_had(own: Engine) -> None:
    """SC-10"""
    app = opened(run="cccc3333")
    shown = inline(app)
    assert EN("Interrupted") in shown
    assert own.record("cccc3333").answer in shown
    assert EN("Rewrites {n}", n=1) in [item.label for item in app.tabs]


def test_a_fork_says_where_it_comes_from() -> None:
    item = RunLine(RunId("b" * 32), "q", "answered", "2025", 5.0, 0, 0, parent="a" * 32)
    (badge,) = run_row(item, EN)["badges"]
    assert badge["text"] == "↳ branch aaaaaaaa"


@pytest.mark.parametrize(
    ("outcome", "note", "said"),
    [
        ("answered", "", "✓ Answered"),
        ("answered", "uncited", "! Answered, no source cited"),
        ("answered_forced", "uncited", "! Answered below the bar, no source cited"),
        ("answered", "cannot_tell", "– Says it cannot tell"),
        ("answered", "unsupported", "! Answered, not supported"),
    ],
)
def test_an_answer_without_support_does_not_count_as_answered_in_the_list(
    outcome: Outcome, note: AnswerNote, said: str
) -> None:
    item = RunLine(RunId("b" * 32), "q", outcome, "2025", 5.0, 0, 0, answer_note=note)
    assert run_row(item, EN)["outcome"] == said


def test_links_stand_below_the_base_path_of_the_server() -> None:
    item = RunLine(RunId("b" * 32), "", None, "2025", 5.0, 0, 0)
    row = run_row(item, EN, "/rag")
    assert row["href"] == f"/rag/?run={'b' * 32}"
    assert row["question"] == EN("(question cannot be read)")
    assert EN("Running") in row["outcome"]


def test_the_question_before_deleting_says_what_the_runs_are_needed_for(own: Engine) -> None:
    app = opened("runs", batches="true")
    select(app, "cccc3333")
    widget(app, "runs_delete").click().run()
    assert not app.warning
    widget(app, "runs_delete_no").click().run()
    select(app, "aaaa1111", "bbbb2222")
    widget(app, "runs_delete").click().run()
    assert [item.value for item in app.warning] == [
        EN.count(
            "One is on the watch list and leaves it.",
            "{n} are on the watch list and leave it.",
            1,
        ),
        EN.count(
            "One was made by a batch: Tune counts its question as unknown until it is run again.",
            "{n} were made by a batch: Tune counts their questions as unknown until they are run again.",
            1,
        ),
    ]


def test_runs_of_one_question_say_in_what_they_differ_and_which_collection_they_searched(engine: Engine) -> None:
    question = "Which runs differ?"
    one, other = engine.run(question, RunConfig(top_k=4)), engine.run(question, RunConfig(top_k=7))
    app = opened("runs", q=question)
    assert f"{EN('Top-k')} 4" in inline(app)
    assert f"{EN('Top-k')} 7" in inline(app)
    assert opened_ids(opened("runs", q=question, collection="samples")) == {one.id, other.id}
    elsewhere = opened("runs", q=question, collection="elsewhere")
    assert EN("No run matches these filters.") in visible(elsewhere)
    assert given(elsewhere, "collection") == "elsewhere"


def opened_ids(app: AppTest) -> set[str]:
    """The runs that the list shows."""
    return {row["id"] for item in app.get("bidi_component") for row in json.loads(item.proto.json).get("rows", [])}


def test_a_press_in_the_list_puts_a_run_on_the_watch_list_and_takes_it_off(own: Engine) -> None:
    run_id = RunId("aaaa1111")
    presses: tuple[tuple[Press, str, tuple[str, ...]], ...] = (
        ("unpin", "", ("to review",)),
        ("untag", "to review", ()),
        ("pin", "", (PINNED,)),
    )
    for press, tag, left in presses:
        pressed(own, RunListEvent(press, run_id, tag, ()))
        assert [item.tags for item in own.runs() if item.id == run_id] == [left]
