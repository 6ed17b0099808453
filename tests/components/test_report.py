"""The report of a run: complete, in both languages, and deaf to anything anybody's text tries to smuggle in."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.ask.diagnosis import title, why_text
from components.common.i18n import UiLanguage, words_for
from components.common.markup import node
from components.common.outcomes import outcome_text
from components.common.workflow_view import view_of
from components.runs.report import html_of, report_html, safe_text
from components.runs.report_charts import ReportMap
from engine.evaluation.values import AnswerJudgement, RunAnswer
from engine.flow import compiled, workflow
from engine.flow.graph import graph_of
from engine.model.events import fold_all
from engine.model.values import Candidate, Claim, RunId, RunRecord
from engine.replay.diagnosis import diagnose
from engine.samples.demos import demo_record
from tests.components.laced_run import HOSTILE, laced
from tests.components.loop_runs import answers_record, dual_record, fallback_record, quality_record
from tests.components.sample_run import sample_record
from tests.components.test_workflow_export import LOOP
from tests.support.recorded import recorded_run

EN, ZH = words_for("en"), words_for("zh")
VOID = frozenset({"meta"})
OWN_TAGS = frozenset(
    "html head meta title style body main header footer section h1 h2 h3 h4 p div span strong small i a ol ul li table "
    "thead tbody tr th td details summary pre ins del mark bdi svg g rect line text path circle".split()
)
OWN_ATTRIBUTES = frozenset(
    "lang charset http-equiv content name class id role aria-label aria-hidden title href scope start style viewbox "
    "xmlns width height x y x1 x2 y1 y2 rx r cx cy d fill stroke stroke-width opacity font-family font-size "
    "font-weight text-anchor textlength lengthadjust data-node".split()
)


class Read(HTMLParser):
    """What a browser would make of a document: elements, attributes, text; raises where tags do not match."""

    def __init__(self, document: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.values: list[tuple[str, str]] = []
        self.ids: list[str] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.comments: list[str] = []
        self.feed(document)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.values += [(name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    @property
    def letters(self) -> str:
        """Without any space: marks cut a text into pieces."""
        return "".join("".join(self.texts).split())


def assert_only_ours(document: str) -> Read:
    read = Read(document)
    assert read.tags <= OWN_TAGS, read.tags - OWN_TAGS
    assert read.attributes <= OWN_ATTRIBUTES, read.attributes - OWN_ATTRIBUTES
    assert read.comments == []
    for name, value in read.values:
        if name == "href":
            assert re.fullmatch(r"#p\d+", value)
        if name == "style":
            assert re.fullmatch(r"(--(fill|tick):[\d.]+%;?)+", value)
    return read


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_word_of_anybody_becomes_an_element_or_an_attribute(hostile: str, language: UiLanguage) -> None:
    document = report_html(laced(hostile), LOOP, words_for(language))
    read = assert_only_ours(document)
    assert " ".join(safe_shown(hostile).split()) in read.text
    document.encode("utf-8")


def safe_shown(text: str) -> str:
    """The text as a reader sees it: control characters by their code, the rest as it is."""
    return Read(f"<p>{safe_text(text)}</p>").texts[0]


@settings(max_examples=15, deadline=None)
@given(st.text(st.sampled_from("<>\"'&/=!-[]() \n\\`{}abonerrscipt\u202e\x00中"), min_size=1, max_size=40))
def test_whatever_is_written_the_document_keeps_its_shape(text: str) -> None:
    plain = Read(report_html(laced("plain"), LOOP, EN))
    read = assert_only_ours(report_html(laced(text), LOOP, EN))
    assert read.tags <= plain.tags | {"strong", "ol", "ul", "li", "mark", "ins", "del"}


def test_the_document_needs_nothing_else_and_says_so_to_the_browser() -> None:
    document = report_html(replace(sample_record(), removed_markers=()), LOOP, EN)
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}' in document
    assert "<script" not in document
    assert "@import" not in document and "url(" not in document
    outside = re.sub(r'xmlns="http://www.w3.org/2000/svg"', "", document)
    assert not re.search(r'(?:src|href|action)="(?!#)', outside)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_report_holds_the_whole_run_in_the_language_of_the_page(language: UiLanguage) -> None:
    words, run = words_for(language), sample_record()
    read = Read(report_html(run, LOOP, words))
    assert run.question in read.text
    for key in (
        "Workflow",
        "Answer",
        "Passages",
        "Rewrites",
        "Timeline",
        "Model calls",
    ):
        assert words(key) in read.text
    assert words("Answered") in read.text
    assert "0.25 < 0.60" in read.text
    for item in (candidate.passage for current in run.rounds for candidate in current.candidates):
        assert "".join(item.text.split()) in read.letters
    assert run.rewrites[0].refused[0] in read.text
    assert run.model_calls[-1].messages[0].content in read.text
    assert words("Min. similarity") in read.text


def test_a_citation_leads_to_its_passage() -> None:
    document = report_html(replace(sample_record(), removed_markers=()), LOOP, EN)
    read = Read(document)
    targets = {value.removeprefix("#") for name, value in read.values if name == "href"}
    assert targets == {"p1", "p2", "p3"}
    assert targets <= set(read.ids)
    assert len(read.ids) == len(set(read.ids)) == 9


def test_a_decision_map_is_drawn_where_there_is_one_with_the_own_settings_outlined() -> None:
    drawn = ReportMap(
        "sim <b>", "rate", ("0.1", "0.3"), ("0.4", "0.6"), (("answered", None), ("abstained", "answered")), (1, 1)
    )
    document = report_html(sample_record(), LOOP, ZH, drawn)
    assert_only_ours(document)
    assert document.count("cell at-") == 4
    assert document.count(" own") == 1
    assert "sim &lt;b&gt; 0.3 · rate 0.4" in document
    assert ZH("What-if map") not in report_html(sample_record(), LOOP, ZH)
    refused = report_html(sample_record(), LOOP, EN, replace(drawn, refused=frozenset({(0, 0)})))
    assert refused.count("cell at-answered-unverified") == 1 and refused.count("cell at-answered own") == 1
    assert EN("from passages that were refused") in refused and EN("from passages that were refused") not in document
    doubted = report_html(sample_record(), LOOP, EN, replace(drawn, unsupported=frozenset({(0, 0)})))
    assert doubted.count("cell at-answered-unverified") == 1 and doubted.count("! Answered, not supported") == 1


Broken = Literal["failed", "cancelled", "interrupted", "fallback", "abstained"]


@pytest.mark.parametrize("outcome", ["failed", "cancelled", "interrupted", "fallback", "abstained"])
def test_a_run_that_went_wrong_is_shown_as_far_as_it_came(outcome: Broken) -> None:
    run = fold_all(recorded_run(1, outcome))
    read = assert_only_ours(report_html(run, LOOP, EN))
    assert outcome_text(run.outcome, EN) in read.text
    if run.error is not None:
        assert run.error.fact in read.text


def test_a_run_without_anything_still_makes_a_report() -> None:
    bare = replace(
        sample_record(), rounds=(), decisions=(), rewrites=(), nodes=(), model_calls=(), context=None, answer=""
    )
    read = assert_only_ours(report_html(replace(bare, citations=(), outcome="failed"), LOOP, ZH))
    assert ZH("The run broke off before its first decision.") in read.text


def test_the_builder_refuses_what_a_report_must_not_hold() -> None:
    for bad in (node("script", "", "x"), node("a", "", "x", href="javascript:alert(1)"), node("p", "", onclick="x")):
        with pytest.raises(ValueError):
            html_of(bad)
    with pytest.raises(ValueError):
        html_of(node("span", "", data_fill="1px;background:red"))


def test_what_cannot_be_seen_is_shown_by_its_code() -> None:
    assert safe_text("a\u202eb\x00c\r\nd") == "a⟨U+202E⟩b⟨U+0000⟩c\nd"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "record",
    [
        quality_record(),
        dual_record(),
        fallback_record(),
        answers_record(),
    ],
    ids=["quality_loop", "dual_loop", "fallback", "answer_evaluation"],
)
def test_a_report_holds_what_the_other_loops_did(record: RunRecord, language: UiLanguage) -> None:
    """QL-02, DL-03, AE-07: quality of every round, every strategy, every answer with its suggestions, and no button."""
    words = words_for(language)
    document = report_html(record, graph_of(compiled(record.workflow)), words)
    read = Read(document)
    assert words(workflow(record.workflow).tab) in read.texts
    assert "button" not in read.tags
    # The same words as in the tab, no matter what else stands between them.
    shown = set(" ".join(read.texts).split())
    assert all(set(tree.text.split()) <= shown for tree in view_of(record.workflow).evidence(record, words))


def test_a_report_of_the_four_node_loop_has_no_such_part() -> None:
    assert 'class="section wb loop"' not in report_html(replace(sample_record(), removed_markers=()), LOOP, EN)


def test_a_report_begins_with_outcome_and_diagnosis_and_folds_what_is_seldom_read() -> None:
    run = demo_record("demo-abstains-en")
    found = diagnose(run)
    assert found is not None
    document = report_html(run, LOOP, EN, found=found)
    read = assert_only_ours(document)
    why = (title(found, EN), why_text(found, EN))
    order = [outcome_text("abstained", EN), *why, EN("Path"), EN("Answer"), EN("Verdicts")]
    places = [read.text.index(part) for part in order]
    assert places == sorted(places)
    folded = document[document.index('<details class="section">') :]
    assert all(f"<h2>{EN(name)}" in folded for name in ("Other passages", "Workflow", "Rewrites", "Settings"))
    assert document.index(EN("Path")) < document.index('<details class="section">')


def test_a_report_shows_both_ranks_of_a_fused_search_and_no_such_column_else() -> None:
    record = sample_record()
    assert EN("Lists") not in Read(report_html(record, LOOP, EN)).texts
    rounds = tuple(replace(item, candidates=tuple(map(_ranked, item.candidates))) for item in record.rounds)
    fused = replace(record, config=replace(record.config, search="fused"), rounds=rounds)
    read = Read(report_html(fused, LOOP, EN))
    assert EN("Lists") in read.texts
    assert "meaning – · words #4 (BM25 1.5)" in read.texts
    assert {EN("Search"), EN("both")} <= set(read.texts)


def _ranked(candidate: Candidate) -> Candidate:
    return replace(candidate, passage=replace(candidate.passage, text_rank=4, text_score=1.5))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_known_of_the_answer_stands_in_it_with_reasons(language: UiLanguage) -> None:
    words = words_for(language)
    claims = (Claim("answer", "It <b>began</b>.", False, "No passage says so."),)
    said = (
        AnswerJudgement("When?", "It began.", "in_part", "No year.", judge="Ada"),
        AnswerJudgement("When?", "It began.", "no", "Nothing.", "model", "ollama:small", claims=claims),
    )
    known = RunAnswer(RunId("r"), False, "judgement", ("1921",), {"f1": 0.25, "faithfulness": 0.0}, said)
    document = report_html(sample_record(), LOOP, words, known=known)
    read = assert_only_ours(document)
    for text in ("1921", "0.25", "Ada", "No year.", "ollama:small", "It <b>began</b>.", "No passage says so."):
        assert text in read.text
    assert words("How the answer was judged") in read.text
    nothing = RunAnswer(RunId("r"), None, None, (), {"f1": None}, ())
    assert words("How the answer was judged") not in report_html(sample_record(), LOOP, words, known=nothing)
