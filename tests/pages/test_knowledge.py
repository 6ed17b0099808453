"""The Knowledge page: files in, progress, a report that names every file, passages to read, and deletion."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.i18n import UiLanguage, words_for
from components.source_list import table_key
from engine.engine import Engine
from engine.errors import StoreLocked
from engine.knowledge.ingest import IngestItem, IngestReport, Progress
from engine.nodes.run_context import fault_of
from engine.process import use_engine
from engine.settings import Settings
from engine.values import Fault
from pages.jobs import IngestJob
from tests.pages.driving import button, inline, opened, setting, visible

EN, ZH = words_for("en"), words_for("zh")
CATS = b"# Cats\n\n## Food\n\nCats eat fish and mice.\n\n## Sleep\n\nCats sleep sixteen hours a day.\n"
HOSTILE_NAME = "![x](http://evil.example) <img src=x> **b**.md"
_PATIENCE_S = 60.0


def put(app: AppTest, collection: str, *files: tuple[str, bytes]) -> IngestJob:
    """Choose files and press the button; the job is under way afterwards."""
    app.session_state["kb_into"] = collection
    for name, data in files:
        app.file_uploader[0].upload(name, data, "text/plain")
    app.run()
    button(app, lambda label: label in (EN("kb.start"), ZH("kb.start"))).click().run()
    assert not app.exception, app.exception
    job: IngestJob = app.session_state["ingest_job"]
    return job


def finished(app: AppTest, job: IngestJob) -> AppTest:
    assert job.future is not None
    job.future.exception(_PATIENCE_S)
    app.run()
    assert not app.exception, app.exception
    return app


def choose(app: AppTest, engine: Engine, collection: str, row: int) -> None:
    """Select a row of the table of sources, as a click in the browser does."""
    app.session_state["kb_collection"] = collection
    key = table_key(f"kb_sources_{collection}", engine.sources(collection))
    app.session_state[key] = {"selection": {"rows": [row], "columns": [], "cells": []}}
    app.run()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_shows_the_samples_and_offers_a_collection_of_ones_own_first(
    engine: Engine, language: UiLanguage
) -> None:
    app = opened("knowledge", language)
    words = words_for(language)
    assert words("kb.intro") in visible(app)
    assert setting(app, "kb_into").options[-1] == "samples"
    assert setting(app, "kb_into").value != "samples"
    assert "252" in inline(app)


def test_files_go_in_and_the_report_says_how_much(engine: Engine) -> None:
    # A collection that is there: which new name the page offers depends on what other tests have made.
    engine.ingest([IngestItem("first.md", data=b"# First\n\nSome words.")], "own_files")
    app = opened("knowledge")
    job = put(app, "own_files", ("cats.md", CATS))
    finished(app, job)
    assert job.report is not None and job.report.added == ("cats.md",)
    assert EN.count("kb.done", 1, passages=job.report.passages) in inline(app)
    assert [item.source for item in engine.sources("own_files")] == ["cats.md", "first.md"]
    assert "own_files" in setting(app, "kb_collection").options


def test_a_duplicate_and_an_unreadable_file_are_named_and_the_good_one_goes_in(engine: Engine) -> None:
    engine.ingest([IngestItem("cats.md", data=CATS)], "mixed")
    app = opened("knowledge")
    job = put(app, "mixed", ("copy.md", CATS), ("broken.txt", b"\x00\xff\xfe\x00\x00"), ("dogs.md", b"# Dogs\n\nBark."))
    finished(app, job)
    shown = inline(app)
    assert EN("kb.skipped", name="copy.md", same="cats.md") in shown
    assert EN("kb.failed", name="broken.txt") in shown
    assert EN("kb.added", name="dogs.md") in shown


def test_the_name_of_a_file_is_never_markup(engine: Engine) -> None:
    engine.ingest([IngestItem("cats.md", data=CATS)], "hostile")
    app = opened("knowledge")
    finished(app, put(app, "hostile", (HOSTILE_NAME, b"# H\n\nText.")))
    markup = [str(item.value) for item in (*app.markdown, *app.caption, *app.info)]
    assert not any("evil" in text or "<img" in text for text in markup)
    assert "evil.example" in inline(app)


def test_a_collection_name_that_will_not_do_is_refused_with_the_rule(engine: Engine) -> None:
    app = opened("knowledge")
    # A new name is typed into the select box, which only a browser can do.
    job = IngestJob.start(engine, [IngestItem("cats.md", data=CATS)], "no spaces!")
    app.session_state["ingest_job"] = job
    finished(app, job)
    assert "WB206" in inline(app)


def test_a_source_is_read_passage_by_passage_and_deleting_it_asks_first(engine: Engine) -> None:
    engine.ingest([IngestItem("cats.md", data=CATS), IngestItem("dogs.md", data=b"# Dogs\n\nBark.")], "to_delete")
    app = opened("knowledge")
    choose(app, engine, "to_delete", 0)
    assert "Cats eat fish and mice." in inline(app)
    assert "Bark." not in inline(app)
    button(app, lambda label: label == EN("kb.delete")).click().run()
    assert EN.count("kb.delete.confirm", 2, name="cats.md") in [item.value for item in app.text]
    assert [item.source for item in engine.sources("to_delete")] == ["cats.md", "dogs.md"]


def test_an_emptied_collection_says_what_to_do(engine: Engine) -> None:
    engine.ingest([IngestItem("cats.md", data=CATS)], "emptied")
    engine.delete_source("emptied", "cats.md")
    app = opened("knowledge")
    app.session_state["kb_collection"] = "emptied"
    app.run()
    assert EN("kb.empty") in visible(app)


class SlowEngine(Engine):
    """An engine whose ingestions report one passage and then wait to be stopped."""

    def start_ingest(
        self,
        items: Sequence[IngestItem],
        collection: str,
        progress: Callable[[Progress], None] | None = None,
        *_prefixes: Any,
        **_named: Any,
    ) -> Future[IngestReport]:
        begun: Future[None] = Future()

        async def work() -> Any:
            assert progress is not None
            progress(Progress(done=1, total=4, per_second=2.0, remaining_s=1.5, source="cats.md"))
            begun.set_result(None)
            await asyncio.Event().wait()

        future: Future[IngestReport] = self._loop.submit(work())
        begun.result(_PATIENCE_S)
        return future


def test_progress_has_rate_and_time_left_and_stop_stops(tmp_path: Path) -> None:
    with SlowEngine(Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1")) as engine:
        engine.wait_until_ready()
        use_engine(engine)
        try:
            app = opened("knowledge")
            job = put(app, "my_documents", ("cats.md", CATS))
            progress = app.get("progress")[0].proto
            assert progress.value == 25
            assert progress.text == EN("kb.progress", done=1, total=4, rate="2.0", left="1.5 s")
            assert button(app, lambda label: label == EN("kb.start")).disabled
            button(app, lambda label: label == EN("kb.stop")).click().run()
            assert job.future is not None
            with pytest.raises(CancelledError):
                job.future.result(_PATIENCE_S)
            app.run()
            assert EN("kb.stopped") in inline(app)
        finally:
            use_engine(None)


class LockedEngine(Engine):
    """An engine whose knowledge base another process has open."""

    @property
    def ready(self) -> bool:
        return False

    @property
    def opening_fault(self) -> Fault:
        return fault_of(StoreLocked.at("/somewhere/knowledge.db"))


@pytest.mark.parametrize("shown", ["", "knowledge"])
def test_a_knowledge_base_open_elsewhere_is_said_with_a_button_that_tries_again(tmp_path: Path, shown: str) -> None:
    with LockedEngine(Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1")) as engine:
        use_engine(engine)
        try:
            app = opened(shown)
            assert "WB201" in inline(app)
            assert "/somewhere/knowledge.db" in inline(app)
            assert EN("ask.again") in inline(app)
        finally:
            use_engine(None)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_says_the_kind_of_every_source_and_how_to_set_it(engine: Engine, language: UiLanguage) -> None:
    """QL-03"""
    words = words_for(language)
    app = opened("knowledge", language)
    plain, dated = f"plain-{language}.md", f"dated-{language}.md"
    files = (plain, f"# {plain}".encode()), (dated, f"---\nkind: temporal\n---\n# {dated}".encode())
    # Into the collection by the engine: which ones the page offers depends on what other tests have made.
    engine.ingest([IngestItem(name, data=data) for name, data in files], f"kinds_{language}")
    app.run()
    app.session_state["kb_collection"] = f"kinds_{language}"
    app.run()
    assert words("kb.kinds") in visible(app)
    table = app.dataframe[0].value
    kinds = dict(zip(table["source"], table["kind"], strict=True))
    assert (kinds[plain], kinds[dated]) == (words("kind.vector"), words("kind.temporal"))
