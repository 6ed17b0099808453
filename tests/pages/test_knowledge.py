"""The view Add: files in, a preview before it, jobs that continue without the page, a report that names every file."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from components.labels import BUILTIN_EXTRACTOR, KEPT, NAME_RULE
from engine.engine import Engine
from engine.errors import StoreError
from engine.knowledge.ingest import IngestItem
from engine.knowledge.load import Document, load_bytes
from engine.library.values import ChunkOptions, JobStatus
from engine.model.values import Fault
from engine.settings import Settings
from pages.parts.knowledge.draft import Draft
from tests.pages.driving import given, inline, on_pages, opened, press, visible
from tests.pages.knowledge_fakes import UNREADABLE, FakeIngestions, FakeLibrary, job

EN, ZH = words_for("en"), words_for("zh")
CATS = b"# Cats\n\n## Food\n\nCats eat fish and mice.\n\n## Sleep\n\nCats sleep sixteen hours a day.\n"
HOSTILE_NAME = "![x](http://evil.example) <img src=x> **b**.md"
_PATIENCE_S = 60.0


@pytest.fixture
def jobs(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> FakeIngestions:
    """Jobs that a test says, on the pages' engine."""
    fake = FakeIngestions()
    monkeypatch.setattr(engine, "ingestions", fake)
    monkeypatch.setattr(engine, "library", FakeLibrary())
    return fake


def choose_files(app: AppTest, *files: tuple[str, bytes]) -> None:
    for name, data in files:
        app.file_uploader[0].upload(name, data, "text/plain")
    app.run()


def press_card(app: AppTest, job_id: str, action: str) -> AppTest:
    """A button of a job's card, which the browser draws."""
    app.session_state[f"kb_job_{job_id}"] = {"action": {"name": f"{action}:{job_id}", "serial": 1}}
    app.run()
    assert not app.exception, app.exception
    return app


def previewed(app: AppTest) -> AppTest:
    """The page once the preview is there."""
    press(app, "kb_preview")
    draft: Draft = app.session_state["kb_draft"]
    assert draft.future is not None
    draft.future.exception(_PATIENCE_S)
    app.run()
    assert not app.exception, app.exception
    return app


def ingested(app: AppTest, engine: Engine, collection: str, *files: tuple[str, bytes]) -> JobStatus:
    """Files through the page into a collection that is there, and the page drawn after the end."""
    app.session_state["kb_into"] = collection
    choose_files(app, *files)
    press(app, "kb_start")
    done = engine.ingestions.wait(engine.ingestions.jobs()[0].id, _PATIENCE_S)
    app.run()
    assert not app.exception, app.exception
    return done


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_begins_with_what_is_here_and_offers_files_of_ones_own(engine: Engine, language: UiLanguage) -> None:
    words = words_for(language)
    app = opened("knowledge", language)
    assert words("built-in") in inline(app)
    press(app, "kb_add_to")
    into = app.selectbox(key="kb_into")
    assert into.options[-1] == words("＋ New collection")
    assert next(item for item in app.button if item.key == "kb_start").disabled


def test_files_go_in_and_the_report_says_how_much(engine: Engine) -> None:
    engine.ingest([IngestItem("first.md", data=b"# First\n\nSome words.")], "own_files")
    app = opened("knowledge", view="add")
    done = ingested(app, engine, "own_files", ("cats.md", CATS))
    assert done.added == ("cats.md",)
    assert f"1 source · {done.passages} passages" in inline(app)
    assert [item.source for item in engine.sources("own_files")] == ["cats.md", "first.md"]
    assert app.session_state["kb_collection"] == "own_files"


def test_a_new_collection_is_made_with_its_name_and_description(engine: Engine) -> None:
    app = opened("knowledge", view="add")
    app.selectbox(key="kb_into").set_value("").run()
    app.text_input(key="kb_name").set_value("new_pets")
    app.text_input(key="kb_description").set_value("What cats do").run()
    choose_files(app, ("cats.md", CATS))
    press(app, "kb_start")
    engine.ingestions.wait(engine.ingestions.jobs()[0].id, _PATIENCE_S)
    assert engine.describe("new_pets").description == "What cats do"
    app.run()
    assert app.selectbox(key="kb_into").value == "new_pets"


def test_a_duplicate_and_an_unreadable_file_are_named_and_the_good_one_goes_in(engine: Engine) -> None:
    engine.ingest([IngestItem("cats.md", data=CATS)], "mixed")
    app = opened("knowledge", view="add")
    files = ("copy.md", CATS), ("broken.txt", b"\x00\xff\xfe\x00\x00"), ("dogs.md", b"# Dogs\n\nBark.")
    done = ingested(app, engine, "mixed", *files)
    shown = inline(app)
    assert f"{EN('already there')}: cats.md" in shown
    assert "broken.txt" in shown
    assert "dogs.md" in shown
    assert [name for name, _ in done.failed] == ["broken.txt"]


TORN = b'{"a": "one"}\n{"b": \n{"c": "three"}\n'


def test_a_file_that_is_read_in_part_says_so_in_the_preview_and_with_its_job(engine: Engine) -> None:
    """BE-02"""
    engine.ingest([IngestItem("first.md", data=b"# First\n\nSome words.")], "in_part")
    app = opened("knowledge", view="add")
    app.session_state["kb_into"] = "in_part"
    choose_files(app, ("torn.jsonl", TORN), ("cats.md", CATS))
    shown = inline(previewed(app))
    sentence = "1 line is no JSON and was left out (line 2)"
    assert EN("Read in part") in shown and f"! {sentence}" in shown
    assert EN("Nothing is known to be left out.") in shown
    press(app, "kb_start")
    engine.ingestions.wait(engine.ingestions.jobs()[0].id, _PATIENCE_S)
    app.run()
    shown = inline(app)
    assert '"sign warn", "aria-hidden": "true"}, ["!"]], ["span", {}, ["torn.jsonl"]' in shown and sentence in shown
    assert '"sign pass", "aria-hidden": "true"}, ["\u2713"]], ["span", {}, ["cats.md"]' in shown


def test_a_source_that_is_there_without_its_account_can_be_put_in_again_to_get_it(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BE-02"""
    monkeypatch.setattr(Document, "account", None)
    engine.ingest([IngestItem("cats.md", data=CATS)], "from_before")
    monkeypatch.undo()
    assert [item.account for item in engine.sources("from_before")] == [None]
    app = opened("knowledge", view="add")
    app.session_state["kb_into"] = "from_before"
    choose_files(app, ("cats.md", CATS))
    previewed(app)
    assert EN.count(
        "Import adds the reading record of 1 source.",
        "Import adds the reading records of {n} sources.",
        1,
    ) in visible(app)
    press(app, "kb_start")
    engine.ingestions.wait(engine.ingestions.jobs()[0].id, _PATIENCE_S)
    (source,) = engine.sources("from_before")
    assert source.account == load_bytes("cats.md", CATS).account


def test_the_name_of_a_file_is_never_markup(engine: Engine) -> None:
    engine.ingest([IngestItem("cats.md", data=CATS)], "hostile")
    app = opened("knowledge", view="add")
    app.session_state["kb_into"] = "hostile"
    choose_files(app, (HOSTILE_NAME, b"# H\n\nText."))
    previewed(app)
    markup = [str(item.value) for item in (*app.markdown, *app.caption, *app.info)]
    ingested(app, engine, "hostile", (HOSTILE_NAME, b"# H\n\nText."))
    markup += [str(item.value) for item in (*app.markdown, *app.caption, *app.info)]
    assert not any("evil" in text or "<img" in text for text in markup)
    assert "evil.example" in inline(app)


def test_a_file_that_is_too_large_is_named_in_the_preview_and_not_left_out_by_the_browser(engine: Engine) -> None:
    most = engine.settings.max_upload_mb
    app = opened("knowledge", view="add")
    assert app.file_uploader[0].proto.max_upload_size_mb > most
    choose_files(app, ("large.md", b"x" * (most + 2) * 1_048_576), ("cats.md", CATS))
    previewed(app)
    assert "large.md" in inline(app) and "WB304" in inline(app)


def test_a_collection_name_that_will_not_do_is_refused_with_the_rule(engine: Engine) -> None:
    app = opened("knowledge", view="add")
    app.selectbox(key="kb_into").set_value("").run()
    app.text_input(key="kb_name").set_value("no spaces!").run()
    assert EN(NAME_RULE) in visible(app)
    choose_files(app, ("cats.md", CATS))
    press(app, "kb_start")
    assert "WB206" in inline(app)
    assert "no spaces!" not in [item.name for item in engine.collections()]


def test_a_folder_of_this_machine_goes_in_with_its_broken_files_named(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "cats.md").write_bytes(CATS)
    (tmp_path / "broken.txt").write_bytes(b"\x00\xff\xfe\x00\x00")
    engine.ingest([IngestItem("first.md", data=b"# First\n\nSome words.")], "from_folder")
    app = opened("knowledge", view="add")
    app.session_state["kb_from"] = "folder"
    app.session_state["kb_into"] = "from_folder"
    app.run()
    app.text_input(key="kb_path").set_value(str(tmp_path)).run()
    previewed(app)
    shown = inline(app)
    assert "sub/cats.md" in shown and "broken.txt" in shown
    assert EN("new") in shown and EN("unusable") in shown
    press(app, "kb_start")
    done = engine.ingestions.wait(engine.ingestions.jobs()[0].id, _PATIENCE_S)
    assert done.added == ("sub/cats.md",)
    assert app.text_input(key="kb_path").value == ""


def test_a_preview_shows_totals_states_and_the_overlap_of_chunks(jobs: FakeIngestions) -> None:
    app = opened("knowledge", view="add")
    text = b"Cats sleep. They purr.\n\nDogs bark."
    choose_files(app, ("cats.md", text), ("copy.md", b"x"), ("changed.md", b"y"), ("broken.bin.txt", b"z"))
    previewed(app)
    shown = inline(app)
    assert EN("unusable") in shown and "30 s" not in shown
    assert f"{EN('already there')}: there.md" in shown and EN("changed") in shown
    assert UNREADABLE.fact in shown
    assert EN("also ends passage {n}", n=1) in shown and '"They purr."' in shown
    assert jobs.started == []


def test_moving_a_slider_cuts_again_and_says_which_values_go_together(jobs: FakeIngestions) -> None:
    app = opened("knowledge", view="add")
    choose_files(app, ("cats.md", b"Cats sleep.\n\nDogs bark."))
    previewed(app)
    app.slider(key="kb_cut_target_tokens").set_value(400).run()
    draft: Draft = app.session_state["kb_draft"]
    assert draft.future is not None
    draft.future.exception(_PATIENCE_S)
    assert jobs.previews[-1][1] == ChunkOptions(400, 400, 60)
    assert "Maximum, tokens 400 · Overlap, tokens 60" in visible(app)
    press(app, "kb_cut_reset")
    assert app.slider(key="kb_cut_target_tokens").value == 200


def test_a_long_preview_can_be_cancelled_and_the_page_is_there_meanwhile(jobs: FakeIngestions) -> None:
    jobs.gate = threading.Event()
    app = opened("knowledge", view="add")
    choose_files(app, ("cats.md", CATS))
    press(app, "kb_preview")
    assert EN("Cancel") in inline(app)
    app.session_state["kb_preview_busy"] = {"action": {"name": "cancel", "serial": 1}}
    app.run()
    kept = "kb_draft" in app.session_state
    jobs.gate.set()
    assert not kept
    assert "##### Preview" not in visible(app)


def test_a_preview_that_fails_says_why(jobs: FakeIngestions) -> None:
    jobs.error = StoreError.locked(path="/somewhere/knowledge.db")
    app = opened("knowledge", view="add")
    choose_files(app, ("cats.md", CATS))
    previewed(app)
    assert "WB201" in inline(app)


def test_what_is_chosen_reaches_the_job(jobs: FakeIngestions) -> None:
    app = opened("knowledge", view="add")
    app.selectbox(key="kb_into").set_value("").run()
    app.text_input(key="kb_name").set_value("tuned").run()
    app.selectbox(key="kb_model").set_value("ollama:bge-m3").run()
    app.text_input(key="kb_query_prefix").set_value("q: ").run()
    assert app.button_group(key="kb_context").value == "path"
    app.button_group(key="kb_context").set_value("none").run()
    app.slider(key="kb_cut_overlap_tokens").set_value(0).run()
    assert app.selectbox(key="kb_graph_").value == "none"
    app.selectbox(key="kb_graph_").set_value("builtin").run()
    assert EN(BUILTIN_EXTRACTOR) in visible(app)
    choose_files(app, ("cats.md", CATS))
    press(app, "kb_start")
    (sent,) = jobs.started
    assert sent["graph"] == "builtin"
    assert (sent["collection"], sent["embedding_model"]) == ("tuned", "ollama:bge-m3")
    assert (sent["query_prefix"], sent["passage_prefix"], sent["context"]) == ("q: ", None, "none")
    assert sent["chunks"] == ChunkOptions(200, 320, 0)
    assert sent["hidden"] == {False}


def test_a_preview_prices_sentences_of_context_and_the_job_has_them_written(jobs: FakeIngestions) -> None:
    """BE-04"""
    app = opened("knowledge", view="add")
    app.selectbox(key="kb_into").set_value("").run()
    app.text_input(key="kb_name").set_value("described").run()
    app.button_group(key="kb_context").set_value("written").run()
    app.text_input(key="kb_writer_name").set_value("ollama:qwen3:8b").run()
    choose_files(app, ("cats.md", CATS))
    shown = inline(previewed(app))
    assert "Context by ollama:qwen3:8b: 252 calls · about 123,500 tokens · about 12 min" in shown
    press(app, "kb_start")
    (sent,) = jobs.started
    assert (sent["context"], sent["context_model"]) == ("written", "ollama:qwen3:8b")


def test_a_preview_is_made_again_where_hidden_content_is_to_be_read_and_the_job_reads_it_too(
    jobs: FakeIngestions,
) -> None:
    app = opened("knowledge", view="add")
    choose_files(app, ("cats.md", CATS))
    previewed(app)
    app.checkbox(key="kb_hidden").check().run()
    draft: Draft = app.session_state["kb_draft"]
    assert draft.future is not None
    draft.future.exception(_PATIENCE_S)
    assert len(jobs.previews) == 2 and [item.hidden for item in draft.items] == [True]
    press(app, "kb_start")
    assert [sent["hidden"] for sent in jobs.started] == [{True}]


def test_jobs_have_rate_and_time_left_and_stop_stops(jobs: FakeIngestions) -> None:
    jobs.listed = [job()]
    app = opened("knowledge", view="add")
    assert "Passages 30/120 · 2.0/s · 45 s left" in inline(app)
    press_card(app, "j1", "stop")
    assert jobs.pressed == [("stop", "j1")]
    app.run()
    assert EN(KEPT) in inline(app)


def test_an_interrupted_job_can_be_resumed_or_discarded(jobs: FakeIngestions) -> None:
    jobs.listed = [job(state="interrupted"), job(id="j2", state="failed", fault=UNREADABLE)]
    app = opened("knowledge", view="add")
    assert EN(KEPT) in inline(app)
    assert UNREADABLE.fact in inline(app)
    press_card(app, "j1", "resume")
    press_card(app, "j2", "discard")
    assert jobs.pressed == [("resume", "j1"), ("discard", "j2")]


def test_documents_that_went_in_lead_to_drafted_questions_on_tune(jobs: FakeIngestions) -> None:
    jobs.listed = [job(state="done", collection="samples")]
    app = opened("knowledge", view="add")
    assert "Draft 20 questions" in inline(app)
    press_card(app, "j1", "draft")
    assert not app.exception, app.exception
    assert "Drafting needs a chat model" in visible(app)
    assert app.button(key="tune_import_instead")


def test_a_job_of_another_view_is_reported_in_a_line(jobs: FakeIngestions) -> None:
    jobs.listed = [job(), job(id="j2", state="interrupted")]
    app = opened("knowledge", view="collections")
    shown = visible(app)
    assert "running 1" in shown and "unfinished 1" in shown
    press(app, "kb_jobs_open")
    assert app.session_state["knowledge_view"] == "add"
    assert given(app, "view") == "add"


def test_finished_jobs_beyond_the_newest_are_folded_away(jobs: FakeIngestions) -> None:
    jobs.listed = [job(id=f"j{n}", state="done", passages=3, added=("a.md",)) for n in range(6)]
    app = opened("knowledge", view="add")
    assert "done (3)" in [item.label for item in app.expander]


def test_a_fault_at_the_start_keeps_the_files(jobs: FakeIngestions) -> None:
    app = opened("knowledge", view="add")
    choose_files(app, ("cats.md", CATS))
    jobs.error = StoreError.locked(path="/somewhere/knowledge.db")
    press(app, "kb_start")
    assert "WB201" in inline(app)
    assert not next(item for item in app.button if item.key == "kb_start").disabled


class LockedEngine(Engine):
    """An engine whose knowledge base another process has open."""

    @property
    def ready(self) -> bool:
        return False

    @property
    def opening_fault(self) -> Fault:
        return Fault.of(StoreError.locked(path="/somewhere/knowledge.db"))


@pytest.mark.parametrize("shown", ["", "knowledge"])
def test_a_knowledge_base_open_elsewhere_is_said_with_a_button_that_tries_again(tmp_path: Path, shown: str) -> None:
    with on_pages(LockedEngine(Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1"))):
        app = opened(shown)
        assert "WB201" in inline(app)
        assert "/somewhere/knowledge.db" in inline(app)
        assert EN("Try again") in inline(app)
