"""The views Collections and Search: facts, actions that ask first, sources, and what a query finds."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from components.labels import CONTEXT_NAMES
from engine.engine import Engine
from engine.errors import StoreError
from engine.knowledge.ingest import IngestItem
from engine.knowledge.samples import SAMPLES_CONTEXT
from engine.library.values import FoundPassage, GrowthAdvice
from engine.model.values import CONTEXTS, Account, SourceNote
from engine.roles import CollectionInfo, SourceInfo
from pages.parts.knowledge.state import FOR_GOOD
from tests.pages.driving import given, inline, opened, press, visible
from tests.pages.knowledge_fakes import UNREADABLE, FakeIngestions, FakeLibrary, passage

EN, ZH = words_for("en"), words_for("zh")
CATS = b"# Cats\n\n## Food\n\nCats eat fish and mice.\n\n## Sleep\n\nCats sleep sixteen hours a day.\n"
FAR = CollectionInfo(
    name="wiki",
    embedding_model="ollama:nomic-embed-text",
    dim=768,
    query_prefix="search_query: ",
    passage_prefix="search_document: ",
    created_at="2026-11-22T08:00:00+00:00",
    passages=12_480,
    address="http://milvus.example:19530",
    remote_name="wiki_zh_v3",
    read_only=True,
)


@pytest.fixture
def library(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> FakeLibrary:
    """A library that a test says, on the pages' engine; jobs are kept too."""
    fake = FakeLibrary()
    monkeypatch.setattr(engine, "library", fake)
    monkeypatch.setattr(engine, "ingestions", FakeIngestions())
    return fake


@pytest.fixture
def far(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> CollectionInfo:
    """A connected collection next to the engine's own."""
    own = engine.collections
    monkeypatch.setattr(engine, "collections", lambda: [*own(), FAR])
    monkeypatch.setattr(engine, "sources", lambda _name: [])
    return FAR


def looking_at(collection: str, language: UiLanguage = "en", **query: str) -> AppTest:
    return opened("knowledge", language, view="collections", kb_collection=collection, **query)


def in_sources(app: AppTest, collection: str, **state: Any) -> AppTest:
    """What a press or a tick in the list of sources sends."""
    app.session_state[f"kb_sources_{collection}"] = state
    app.run()
    assert not app.exception, app.exception
    return app


def test_a_source_tells_what_was_read_of_it_and_what_was_left_out(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BE-02"""
    engine.ingest([IngestItem("cats.md", data=CATS)], "accounts")
    account = Account(
        {"sheets": 1}, (SourceNote("rows_hidden", {"count": "3"}), SourceNote("comments", {"count": "1"}))
    )
    rows = [SourceInfo("a.xlsx", "", 1, "h", "", account=account), SourceInfo("old.md", "", 1, "h", "")]
    monkeypatch.setattr(engine, "sources", lambda _name: rows)
    monkeypatch.setattr(engine, "passages", lambda _name, _source: [])
    app = looking_at("accounts", "zh")
    hidden = ZH.count("{count} hidden row was left out", "{count} hidden rows were left out", 3, count=3)
    comment = ZH.count("{count} comment was left out", "{count} comments were left out", 1, count=1)
    assert f"! {hidden} · {ZH('… and {n} more', n=1)}" in inline(app)
    assert f"{ZH('Read in part')} 1" in visible(app)
    assert f"{ZH('No reading record')} 1" in visible(app)
    shown = inline(in_sources(app, "accounts", press={"source": "a.xlsx", "serial": 1}))
    assert f"! {hidden}" in shown and f"! {comment}" in shown
    shown = inline(in_sources(app, "accounts", press={"source": "old.md", "serial": 2}))
    assert ZH("What was read of it, and what was left out, was not recorded.") in shown
    assert ZH("Add the file again to record it.") in shown


def keys(app: AppTest) -> set[str]:
    return {str(item.key) for item in app.button}


def test_the_samples_have_their_facts_and_cannot_be_deleted(engine: Engine) -> None:
    app = looking_at("samples", "zh")
    shown = inline(app)
    assert "252" in shown and ZH("built-in") in shown and ZH("Built in · multilingual E5 small") in shown
    assert "kb_do_drop" not in keys(app) and "kb_do_rename" not in keys(app)
    assert "kb_ask" in keys(app)


def test_a_source_is_read_passage_by_passage_and_deleting_it_asks_first(engine: Engine) -> None:
    engine.ingest([IngestItem("cats.md", data=CATS), IngestItem("dogs.md", data=b"# Dogs\n\nBark.")], "to_delete")
    app = looking_at("to_delete")
    in_sources(app, "to_delete", press={"source": "cats.md", "serial": 1})
    assert "Cats eat fish and mice." in inline(app)
    assert "Bark." not in inline(app)
    press(app, "kb_delete")
    assert EN(FOR_GOOD) in [item.value for item in app.text]
    assert [item.source for item in engine.sources("to_delete")] == ["cats.md", "dogs.md"]


def test_several_sources_are_deleted_together_after_asking(engine: Engine) -> None:
    files = [IngestItem(f"note{n}.md", data=f"# Note {n}\n\nWords of {n}.".encode()) for n in range(3)]
    engine.ingest(files, "several")
    app = looking_at("several")
    in_sources(app, "several", selected=["note0.md", "note2.md"])
    press(app, "kb_delete_some")
    assert "note0.md\nnote2.md" in [item.value for item in app.text]
    press(app, "kb_delete_yes")
    assert [item.source for item in engine.sources("several")] == ["note1.md"]
    assert EN("Deleted.") in inline(app)


def test_sources_are_found_by_name_or_title(engine: Engine) -> None:
    engine.ingest([IngestItem("cats.md", data=CATS), IngestItem("dogs.md", data=b"# Dogs\n\nBark.")], "filtered")
    app = looking_at("filtered")
    app.text_input(key="kb_filter").set_value("DOGS").run()
    assert "1/2" in visible(app)
    app.text_input(key="kb_filter").set_value("no such thing").run()
    assert EN("Nothing matches.") in visible(app)
    press(app, "kb_clear_filter")
    assert EN.count("1 source", "{n} sources", 2) in visible(app)


def test_three_hundred_sources_come_in_pages(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = engine.sources("samples")[0]
    many = [replace(sample, source=f"long/path/to/document {n:03}.md") for n in range(300)]
    monkeypatch.setattr(engine, "sources", lambda _name: many)
    app = looking_at("samples")
    shown = inline(app)
    assert "document 000.md" in shown and "document 019.md" in shown and "document 020.md" not in shown
    assert EN.count("1 source", "{n} sources", 300) in visible(app)


def test_an_emptied_collection_says_what_to_do(engine: Engine) -> None:
    engine.ingest([IngestItem("cats.md", data=CATS)], "emptied")
    engine.delete_source("emptied", "cats.md")
    app = looking_at("emptied")
    assert EN("This collection is empty.") in visible(app)
    press(app, "kb_empty_add")
    assert app.session_state["knowledge_view"] == "add"


def test_the_page_says_the_kind_of_every_source(engine: Engine) -> None:
    """QL-03"""
    language: UiLanguage = "zh"
    words = words_for(language)
    plain, dated = f"plain-{language}.md", f"dated-{language}.md"
    files = (plain, f"# {plain}".encode()), (dated, f"---\nkind: temporal\n---\n# {dated}".encode())
    engine.ingest([IngestItem(name, data=data) for name, data in files], f"kinds_{language}")
    app = looking_at(f"kinds_{language}", language)
    listed = next(item for item in inline(app).splitlines() if '"rows"' in item and plain in item)
    assert words("knowledge base") in listed and words("dated history") in listed


def test_a_collection_is_renamed_described_and_aliased(engine: Engine) -> None:
    engine.ingest([IngestItem("cats.md", data=CATS)], "before")
    app = looking_at("before")
    press(app, "kb_do_rename")
    app.text_input(key="kb_rename_before").set_value("after")
    press(app, "kb_dialog_yes")
    assert engine.describe("after").aliases == ("before",)
    assert EN("Saved.") in inline(app)
    app = looking_at("after")
    press(app, "kb_do_describe")
    app.text_area[0].set_value("All about cats")
    press(app, "kb_dialog_yes")
    assert engine.describe("after").description == "All about cats"
    assert given(looking_at("before"), "collection") == "after"


def test_a_collection_with_passages_is_deleted_only_when_its_name_is_typed(engine: Engine) -> None:
    engine.ingest([IngestItem("cats.md", data=CATS)], "doomed")
    app = looking_at("doomed")
    press(app, "kb_do_drop")
    assert next(item for item in app.button if item.key == "kb_dialog_yes").disabled
    app.session_state["kb_drop_doomed"] = "doomed"
    press(app, "kb_do_drop")
    press(app, "kb_dialog_yes")
    assert EN("Deleted.") in inline(app)
    assert "doomed" not in [item.name for item in engine.collections()]


def test_re_embedding_takes_another_model_or_another_form_and_begins_a_job(
    engine: Engine, library: FakeLibrary
) -> None:
    other = next(form for form in CONTEXTS if form != SAMPLES_CONTEXT)

    def dialog(**chosen: str) -> AppTest:
        app = looking_at("samples")
        for name, value in chosen.items():
            app.session_state[f"kb_reembed_{name}_samples"] = value
        press(app, "kb_do_reembed")
        return app

    app = dialog(context=SAMPLES_CONTEXT)
    assert EN("Nothing would change. Choose another context or another embedding model.") in visible(app)
    assert f"context: {EN(CONTEXT_NAMES[SAMPLES_CONTEXT])}." in visible(app), "as it is embedded now"
    assert EN("Built in · multilingual E5 small") in str(app.selectbox(key="kb_reembed_model_samples").options[0])
    assert app.button(key="kb_dialog_yes").disabled, "it is so already"
    press(dialog(context=SAMPLES_CONTEXT, model="hashing"), "kb_dialog_yes")
    press(dialog(context=other), "kb_dialog_yes")
    press(dialog(context=other, model="hashing"), "kb_dialog_yes")
    assert engine.ingestions.pressed == [  # type: ignore[attr-defined]
        ("reembed", f"samples samples_hashing hashing False {SAMPLES_CONTEXT}"),
        ("reembed", f"samples samples_{other} builtin False {other}"),
        ("reembed", f"samples samples_{other}_hashing hashing False {other}"),
    ]


def test_sentences_of_context_are_priced_before_they_are_begun(engine: Engine, library: FakeLibrary) -> None:
    """BE-04"""
    for model in ("", "ollama:qwen3:8b"):
        app = looking_at("samples")
        app.session_state["kb_reembed_context_samples"] = "written"
        app.session_state["kb_reembed_writer_samples_name"] = model
        press(app, "kb_do_reembed")
        assert EN("Built-in rules") not in app.selectbox(key="kb_reembed_writer_samples").options
        assert app.button(key="kb_dialog_yes").disabled == (not model)
    assert "252 calls · about 123,500 tokens · about 12 min" in visible(app)
    press(app, "kb_dialog_yes")
    begun = ("reembed", f"samples samples_written builtin False written {model}")
    assert engine.ingestions.pressed == [begun]  # type: ignore[attr-defined]


def test_a_connected_collection_is_read_only(far: CollectionInfo, library: FakeLibrary) -> None:
    app = looking_at("wiki")
    shown = inline(app)
    assert EN("read only") in shown and EN("connected") in shown and far.remote_name in shown
    assert EN("Its passages name no source.") in visible(app)
    assert EN("none recorded there; similarity is measured as without") in shown
    assert keys(app).isdisjoint({"kb_do_drop", "kb_do_rename", "kb_do_reembed", "kb_add_to"})
    assert "wiki" not in [str(option) for option in opened("knowledge", view="add").selectbox(key="kb_into").options]


def test_a_collection_whose_model_is_gone_says_so(far: CollectionInfo, library: FakeLibrary) -> None:
    app = looking_at("wiki", "zh")
    assert ZH("model missing") in inline(app)


def test_a_connected_collection_that_cannot_be_read_shows_its_fault(
    engine: Engine, library: FakeLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = replace(FAR, fault=UNREADABLE)
    own = engine.collections()
    monkeypatch.setattr(engine, "collections", lambda: [*own, broken])
    app = looking_at("wiki")
    assert UNREADABLE.fact in inline(app) and EN("unreadable") in inline(app)


def test_no_number_of_passages_is_said_of_a_collection_that_was_never_seen(
    engine: Engine, library: FakeLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    unseen = replace(FAR, fault=UNREADABLE, passages=0)
    monkeypatch.setattr(engine, "collections", lambda: [unseen])
    shown = inline(looking_at("wiki"))
    assert '"data-label": "Passages"}, ["–"]]' in shown and '{"class": "label"}, ["Passages"]]' not in shown


def test_growth_advice_stands_above_the_collection_it_is_for(engine: Engine, library: FakeLibrary) -> None:
    library.grown = GrowthAdvice("lite_large", 120_000, 850.0)
    app = looking_at("samples")
    assert "120,000 passages: a search takes about 850 ms" in inline(app)


def hit(rank: int, **changes: Any) -> FoundPassage:
    usual = FoundPassage(passage("cats.md", rank, f"Cats eat fish, part {rank}.", "Food"), 0.8 - rank / 10, 0.9, rank)
    return replace(usual, **changes)


def test_a_search_shows_similarity_and_marks_the_words_of_the_query(engine: Engine, library: FakeLibrary) -> None:
    library.hits = [hit(1), hit(2)]
    app = opened("knowledge", view="search", kb_collection="samples", kb_query="what do cats eat")
    shown = inline(app)
    assert library.asked[-1][:3] == ("search", "samples", "what do cats eat")
    assert '"0.70"' in shown and "cos 0.90" in shown
    assert '["mark", {}, ["Cats"]]' in shown and '["mark", {}, ["eat"]]' in shown
    assert "kb_found_csv" in {item.key for item in app.get("download_button")}


def test_rows_of_a_table_that_was_found_keep_their_lines(engine: Engine, library: FakeLibrary) -> None:
    rows = passage("prices.xlsx", 1, "- model: A1;   price: 3\n\n- model: A2; price: 4", "Prices")
    library.hits = [hit(1, passage=rows)]
    app = opened("knowledge", view="search", kb_collection="samples", kb_query="weight")
    assert json.dumps("- model: A1; price: 3\n- model: A2; price: 4") in inline(app)


def test_both_ranks_are_shown_where_both_lists_were_joined(engine: Engine, library: FakeLibrary) -> None:
    library.hits = [hit(1, text_rank=4, text_score=7.25), hit(2)]
    app = opened("knowledge", view="search", kb_collection="samples", kb_query="cats", kb_method="fused")
    if not engine.describe("samples").full_text:
        pytest.skip("this store has no full text")
    shown = inline(app)
    assert "Meaning #1" in shown and "Words #4" in shown
    assert "BM25 7.25" in shown and "Words –" in shown


def test_without_full_text_a_collection_is_searched_by_meaning_and_says_so(
    far: CollectionInfo, library: FakeLibrary
) -> None:
    library.hits = [hit(1)]
    app = opened("knowledge", view="search", kb_collection="wiki", kb_query="cats", kb_method="fused")
    assert EN("Searched by meaning only.") in visible(app)
    assert library.asked[-1][-1] == "vector"


def test_a_search_that_finds_nothing_or_fails_says_what_to_do(
    engine: Engine, library: FakeLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened("knowledge", view="search", kb_collection="samples", kb_query="zebra")
    assert EN("Nothing found.") in visible(app)

    def fails(*_asked: Any) -> list[FoundPassage]:
        raise StoreError.locked(path="/somewhere/knowledge.db")

    monkeypatch.setattr(library, "search", fails)
    app.text_input(key="kb_query").set_value("another").run()
    assert "WB201" in inline(app)


def test_a_view_that_does_not_exist_is_the_first_one(engine: Engine) -> None:
    app = opened("knowledge", view="no_such_view")
    assert app.session_state["knowledge_view"] == "collections"


def test_a_real_search_finds_the_passage_that_was_put_in(engine: Engine) -> None:
    engine.ingest([IngestItem("cats.md", data=CATS)], "searched")
    app = opened("knowledge", view="search", kb_collection="searched", kb_query="How long do cats sleep?")
    assert "Cats" in inline(app) and "cats.md" in inline(app)
