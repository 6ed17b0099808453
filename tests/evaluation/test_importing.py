"""Data sets in the forms that others write, whole and damaged."""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import EvaluationError
from engine.evaluation.cases import Case, Expectation, case_from_dict
from engine.evaluation.formats import beir, common
from engine.evaluation.importing import ImportPlan, collection_name, read_query_set
from engine.knowledge.milvus_schema import check_new_name
from tests.support import office_files as made
from tests.support.errors import raises

SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "Green_tea",
            "paragraphs": [
                {
                    "context": "Green tea is brewed at 80 degrees.",
                    "qas": [
                        {"id": "1", "question": "How hot is the water?", "answers": [{"text": "80"}]},
                        {"id": "2", "question": "Who sold it first?", "answers": [], "is_impossible": True},
                        {"id": "1", "question": "At which temperature?", "answers": []},
                        {"id": "3", "question": "  "},
                    ],
                },
                {"context": "绿茶用八十度的水冲泡。", "qas": [{"id": "4", "question": "水温多少？"}]},
                {"context": "Green tea is brewed at 80 degrees. ", "qas": [{"question": "Again?"}]},
                {"context": " ", "qas": [{"id": "5", "question": "Lost?"}]},
            ],
        }
    ],
}
BEIR = {
    "corpus.jsonl": '{"_id": "d1", "title": "Tea", "text": "Brew at 80."}\n{"_id": "d/2", "text": "Black tea."}\n'
    '{"_id": "d3", "title": "", "text": " "}\n{"text": "no id"}\nnot json\n',
    "queries.jsonl": '{"_id": "q1", "text": "How hot?"}\n{"_id": "q2", "text": "Which colour?"}\n'
    '{"_id": "q3", "text": "Nobody judged this"}\n{"_id": "q4", "text": "Gone"}\n',
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td/2\t0\nq2\td/2\t2\nq4\tabsent\t1\nbroken\n",
    "qrels/train.tsv": "query-id\tcorpus-id\tscore\nq3\td1\t1\n",
}


def read(content: str | bytes | Mapping[str, Any], name: str = "set.csv", **options: Any) -> ImportPlan:
    text = json.dumps(content) if isinstance(content, Mapping) else content
    return read_query_set(text.encode() if isinstance(text, str) else text, name, **options)


def zip_of(files: Mapping[str, str | bytes], root: str = "") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(root + name, text)
    return stream.getvalue()


def labels(plan: ImportPlan) -> dict[str, list[tuple[str, str]]]:
    return {case.question: [(item.kind, item.value) for item in case.expected] for case in plan.set.cases}


def test_paragraphs_of_squad_become_sources_that_its_questions_expect() -> None:
    plan = read(SQUAD, "squad.json")
    first, second = ("source", "Green tea/001.txt"), ("source", "Green tea/002.txt")
    assert labels(plan) == {
        "How hot is the water?": [first],
        "Who sold it first?": [],
        "At which temperature?": [first],
        "水温多少？": [second],
        "Again?": [first],
    }
    assert [item.name for item in plan.items] == [first[1], second[1]]
    assert plan.items[1].read().decode() == "绿茶用八十度的水冲泡。"
    ids = [case.id for case in plan.set.cases]
    assert ids[:4] == ["1", "2", "1-2", "4"] and len(set(ids)) == 5
    assert [case.answerable for case in plan.set.cases] == [True, False, True, True, True]
    assert [case.language for case in plan.set.cases] == ["en", "en", "en", "zh", "en"]
    assert {note.kind for note in plan.notes} == {"row", "duplicate_id", "empty_document"}


def test_a_document_that_the_collection_had_is_expected_under_its_name_there() -> None:
    plan = read(SQUAD, "squad.json")
    after = plan.after({"skipped": [{"name": "Green tea/001.txt", "same_as": "tea.md"}]})
    assert after.cases[0].expected == (Expectation("source", "tea.md"),)
    assert after.cases[3].expected == (Expectation("source", "Green tea/002.txt"),)
    assert plan.after({}) == plan.set


@pytest.mark.parametrize("form", ["folder", "zip", "zip with a folder"])
def test_beir_is_read_from_a_folder_or_a_zip(form: str, tmp_path: Path) -> None:
    if form == "folder":
        (tmp_path / "scifact" / "qrels").mkdir(parents=True)
        for name, text in BEIR.items():
            (tmp_path / "scifact" / name).write_text(text)
        plan = read_query_set(tmp_path / "scifact", "scifact")
    else:
        plan = read(zip_of(BEIR, "scifact/" if "with" in form else ""), "scifact")
    assert labels(plan) == {"How hot?": [("source", "d1.txt")], "Which colour?": [("source", "d/2.txt")]}
    assert [item.read().decode() for item in plan.items] == ["Tea\n\nBrew at 80.", "Black tea."]
    assert plan.set.collection == "scifact"
    said = [(note.kind, note.file, note.line) for note in plan.notes]
    assert ("split", "scifact", None) in said
    assert ("row", "corpus.jsonl", 4) in said and ("row", "corpus.jsonl", 5) in said
    assert ("row", "qrels/test.tsv", 6) in said
    assert ("no_document", "queries.jsonl", 4) in said
    assert next(note.count for note in plan.notes if note.kind == "no_relevant") == 2


def test_beir_without_relevance_files_is_unlabelled_and_says_so() -> None:
    plan = read(zip_of({name: text for name, text in BEIR.items() if "qrels" not in name}), "x")
    assert all(case.expected == () and case.answerable is None for case in plan.set.cases)
    assert len(plan.set.cases) == 4
    assert "no_qrels" in {note.kind for note in plan.notes}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (zip_of({"word/document.xml": "<w/>"}), "no corpus.jsonl"),
        (zip_of({"corpus.jsonl": "{}"}), "no queries.jsonl"),
        (b"PK\x03\x04 and then nothing of use", "damaged"),
        (zip_of(BEIR)[:-40], "damaged"),
    ],
)
def test_an_archive_that_is_no_beir_is_refused(content: bytes, why: str) -> None:
    with raises(EvaluationError.data_set_unusable, match=why):
        read(content, "x.zip")


def test_a_torn_member_is_our_error() -> None:
    whole = zip_of({**BEIR, "corpus.jsonl": BEIR["corpus.jsonl"] * 50})
    torn = whole[:60] + b"\x00" * 40 + whole[100:]
    with raises(EvaluationError.data_set_unusable):
        read(torn, "x.zip")


def test_a_zip_bomb_is_cut_off_while_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beir, "MOST_BYTES", 1_000_000)
    bomb = zip_of({**BEIR, "corpus.jsonl": b"0" * 5_000_000})
    assert len(bomb) < 10_000
    with raises(EvaluationError.data_set_too_large):
        read(bomb, "bomb.zip")


def test_paths_in_a_zip_lead_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plan = read(zip_of({f"../../{name}": text for name, text in BEIR.items()} | {"/etc/evil": "x"}), "x")
    assert len(plan.set.cases) == 2
    assert list(tmp_path.rglob("*")) == []


CSV = """id,question,expected,answerable
a,How hot?,tea.md#2|coffee.md,
b,"Which, exactly?","[""80 degrees"", ""a | b""]",true
c,Who?,,no
d,When?,,
e,,tea.md,
f,Why?,tea.md,false
g,Where?,,perhaps
h
"""


def test_a_table_names_passages_sources_or_texts() -> None:
    plan = read(CSV)
    assert labels(plan) == {
        "How hot?": [("passage", "tea.md#2"), ("source", "coffee.md")],
        "Which, exactly?": [("text", "80 degrees"), ("text", "a | b")],
        "Who?": [],
        "When?": [],
    }
    assert [case.answerable for case in plan.set.cases] == [True, True, False, None]
    assert [case.id for case in plan.set.cases] == ["a", "b", "c", "d"]
    assert plan.items == () and plan.set.collection == "samples"
    assert [(note.line, note.file) for note in plan.notes] == [
        (6, "set.csv"),
        (7, "set.csv"),
        (8, "set.csv"),
        (9, "set.csv"),
    ]
    facts = " ".join(note.fact for note in plan.notes)
    for reason in ("the question is empty", "marked as not answerable", "neither true nor false", "too few columns"):
        assert reason in facts


@pytest.mark.parametrize(
    "content",
    [
        "question,gold_answer\nHow hot?,80 degrees| 80 °C |80 degrees\n",
        '{"question": "How hot?", "gold_answers": ["80 degrees", "80 °C"]}\n{}',
        '问题,参考答案\nHow hot?,"[""80 degrees"", ""80 °C""]"\n',
        '{"data": [{"paragraphs": [{"context": "80 degrees.", "qas": [{"question": "How hot?", "answers": '
        '[{"text": "80 degrees", "answer_start": 0}, {"text": "80 °C"}, {"text": ""}, 7]}]}]}]}',
        '{"data": [{"paragraphs": [{"context": "80 degrees.", "qas": [{"question": "How hot?", "answers": '
        '["80 degrees", "80 °C"]}]}]}]}',
    ],
    ids=["CSV", "JSONL", "CSV in Chinese with a list", "SQuAD", "CMRC"],
)
def test_gold_answers_come_with_their_question(content: str) -> None:
    case = read(content).set.cases[0]
    assert case.gold_answers == ("80 degrees", "80 °C") and case.answerable
    assert case_from_dict(json.loads(json.dumps(case.to_dict()))) == case


def test_a_column_answer_stays_what_is_expected_and_a_notice_says_so() -> None:
    plan = read("question,answer\nHow hot?,tea.md\nWhich?,tea.md\n")
    assert [case.gold_answers for case in plan.set.cases] == [(), ()]
    assert [note.kind for note in plan.notes] == ["answer_column"]
    (note,) = read("question,answer,expected\nHow hot?,80,tea.md\n").notes
    assert (note.kind, note.names) == ("unused_columns", "answer")
    assert read("question,expected\nHow hot?,tea.md\n").notes == ()


RAGAS = [
    '{"user_input": "How hot?", "retrieved_contexts": ["a"], "response": "90", "reference": "80"}\n',
    '[{"question": "How hot?", "contexts": ["a"], "answer": "90", "ground_truth": "80"}]',
    '{"question": "How hot?", "contexts": ["a"], "answer": "90", "ground_truths": ["80"]}\n',
    "user_input,response,reference,synthesizer_name\nHow hot?,90,80,single_hop\n",
    "question,answer,ground_truth\nHow hot?,90,80\n",
    '{"user_input": [{"type": "human", "content": "Hi"}, {"type": "ai", "content": "Hello"}, '
    '{"type": "human", "content": "How hot?"}], "reference": "80"}\n',
]


@pytest.mark.parametrize("text", RAGAS, ids=lambda text: text[:30])
def test_in_files_of_ragas_the_reference_is_gold_and_what_a_program_said_is_no_expectation(text: str) -> None:
    plan = read(text)
    (case,) = plan.set.cases
    assert (case.question, case.gold_answers, case.expected) == ("How hot?", ("80",), ())
    unused = {name for note in plan.notes for name in note.names.split(", ")}
    known = {"retrieved_contexts", "response", "contexts", "answer", "synthesizer_name"}
    assert unused - {""} == {name for name in known if re.search(rf"\b{name}\b", text)}


@pytest.mark.parametrize(
    ("gold", "why"), [("true", "no text"), ('["x", {}]', "no text"), (f'"{"x" * 2001}"', "2000 characters")]
)
def test_a_gold_answer_that_is_none_leaves_its_line_out(gold: str, why: str) -> None:
    plan = read(f'{{"question": "How hot?", "gold_answers": {gold}}}\n{{"question": "Which?"}}\n')
    assert [case.question for case in plan.set.cases] == ["Which?"]
    assert why in plan.notes[0].fact


def test_a_question_with_a_gold_answer_cannot_be_unanswerable() -> None:
    plan = read("question,gold_answer,answerable\nHow hot?,80,no\nWhich?,,no\n")
    assert [case.question for case in plan.set.cases] == ["Which?"]


def test_a_line_number_counts_the_lines_inside_of_cells() -> None:
    plan = read('question,expected\n"one\ntwo",x\n,y\n')
    assert [note.line for note in plan.notes] == [4]


@pytest.mark.parametrize(
    "content",
    [
        "问题,期望\n水温多少？,八十度\n".encode(),
        "\ufeff问题;期望\n水温多少？;八十度\n".encode(),
        "问题\t答案\r\n水温多少？\t八十度\r\n".encode("utf-16"),
        "编号,问题,期望\n1,水温多少？,八十度\n".encode("gb18030"),
        '{"query": "水温多少？", "answer": "八十度"}\n'.encode(),
        '[{"Question": "水温多少？", "EXPECTED": ["八十度"]}]'.encode(),
        '{"问题": "水温多少？", "期望": [{"kind": "text", "value": "八十度"}]}\n\n'.encode("gb18030"),
        "\n\n Question , Expected \n水温多少？,八十度".encode(),
    ],
)
def test_encoding_header_and_separator_are_found_out(content: bytes) -> None:
    assert labels(read(content)) == {"水温多少？": [("text", "八十度")]}


def test_a_workbook_is_read_as_its_first_sheet_would_be_as_csv() -> None:
    rows: list[list[object]] = [["编号", "问题", "期望"], [7, "水温多少？", "八十度"], ["8", "", "x"]]
    content = made.xlsx({"空": [], "问题": rows, "草稿": [["x", "y"]]})
    plan = read_query_set(content, "set.xlsx")
    assert labels(plan) == {"水温多少？": [("text", "八十度")]}
    assert [(item.kind, item.line) for item in plan.notes] == [("sheets", None), ("row", 3)]


def test_an_archive_that_is_neither_a_workbook_nor_a_data_set_says_what_it_lacks() -> None:
    with raises(EvaluationError.data_set_unusable, match=r"holds no corpus\.jsonl"):
        read_query_set(made.docx([("Normal", "x")]), "set.zip")


def test_lines_of_json_are_taken_one_by_one(tmp_path: Path) -> None:
    lines = [
        '{"question": "One?", "expected": "a.md|b.md", "id": 0}',
        "{broken",
        "[1, 2]",
        '{"expected": "x"}',
        '{"question": 7}',
        '{"question": "Two\u2028lines?", "expected": {"x": 1}}',
        '{"question": "Three?", "expected": null, "answerable": false}',
        "[" * 100_000,
    ]
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    plan = read_query_set(path, "mine", collection="notes")
    assert [(case.id, case.answerable) for case in plan.set.cases if case.expected] == [("0", True)]
    assert [case.question for case in plan.set.cases] == ["One?", "Three?"]
    assert [note.line for note in plan.notes] == [2, 3, 4, 5, 6, 8]
    assert (plan.set.name, plan.set.collection, plan.set.origin) == ("mine", "notes", "set.jsonl")


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("tea.md", "source"),
        ("notes/tea.MD", "source"),
        ("tea.md#12", "passage"),
        ("C#7", "text"),
        ("handbook", "source"),
        ("handbook#3", "passage"),
        ("Add 3 g of tea.", "text"),
        ("source:C", "source"),
        ("passage: 4711", "passage"),
        ("text:tea.md", "text"),
        ("text:", "text"),
    ],
)
def test_what_a_label_means_shows_in_its_form(label: str, kind: str) -> None:
    plan = read(f"question,expected\nWhat?,{label}\n", known_sources=("handbook",))
    assert plan.set.cases[0].expected[0].kind == kind


def test_a_part_is_spread_over_the_whole_set() -> None:
    content = "question\n" + "".join(f"q{number}?\n" for number in range(100))
    assert [case.question for case in read(content, limit=4).set.cases] == ["q0?", "q25?", "q50?", "q75?"]
    assert len(read(content, limit=1000).set.cases) == 100


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no question"),
        (b"a,b\n1,2\n", "no column 'question'"),
        (b"question,expected\n", "no question in it"),
        (b"question\n  \n,,\n", "no question in it"),
        (b'{"data": [{"paragraphs": 3}]}', "'paragraphs' is not a list"),
        (b'{"data": ["x"]}', "'data' is not a list of objects"),
        (b'{"question": "a"', "is not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"%PDF-1.7", "PDF"),
        (b"\x00\x01\x02\x03\xff\xfe" * 20, "binary"),
    ],
)
def test_what_is_no_data_set_is_refused_with_its_reason(content: bytes, why: str) -> None:
    with raises(EvaluationError.data_set_unusable, match=why):
        read(content, "x")


def test_a_path_that_cannot_be_read_is_our_error(tmp_path: Path) -> None:
    with raises(EvaluationError.data_set_unusable, match="No such file"):
        read_query_set(tmp_path / "absent.csv", "x")
    with raises(EvaluationError.data_set_unusable, match=r"no corpus\.jsonl"):
        read_query_set(tmp_path, "x")


def test_caps_are_said_and_not_silently_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "MOST_CASES", 3)
    monkeypatch.setattr(common, "MOST_DOCUMENTS", 1)
    monkeypatch.setattr(common, "MOST_NOTES", 2)
    with raises(EvaluationError.data_set_too_large, match="3 questions"):
        read("question\na\nb\nc\nd\n")
    with raises(EvaluationError.data_set_too_large, match="1 documents"):
        read(SQUAD, "squad.json")
    notes = read("question,expected\nfine,\n" + ",x\n" * 9).notes
    assert [note.kind for note in notes] == ["row", "row", "more"] and notes[-1].count == 7


@given(st.text(max_size=80), st.sampled_from(["x.csv", "x.jsonl", "x.json"]))
def test_no_content_ends_in_anything_but_a_set_or_our_error(content: str, name: str) -> None:
    data = content.encode("utf-8", "replace")
    for prefix in (b"", b"question,expected\n", b'{"question": "'):
        cases = cases_of(prefix + data, name)
        assert all(case.question.strip() for case in cases)


def cases_of(data: bytes, name: str) -> tuple[Case, ...]:
    try:
        return read_query_set(data, name).set.cases
    except EvaluationError as error:
        if error.code in (EvaluationError.data_set_unusable.code, EvaluationError.data_set_too_large.code):
            return ()
        raise


@given(st.text(max_size=100))
def test_every_set_gives_a_name_that_a_collection_may_have(name: str) -> None:
    check_new_name(collection_name(name))
    assert collection_name(name) == collection_name(name) != "samples"


@given(st.text(max_size=600))
def test_a_document_of_any_name_gets_a_source_name_that_fits(name: str) -> None:
    source = common.source_name(name)
    assert source.endswith(".txt") and len(source.encode()) <= 300 and source.isprintable()


def test_names_that_differ_only_in_chinese_give_different_collections() -> None:
    assert collection_name("茶") != collection_name("咖啡")
    assert (collection_name("xquad-dev.en"), collection_name("SciFact")) == ("xquad_dev_en", "scifact")


def test_a_file_that_gives_everything_one_name_is_read_in_less_than_a_minute() -> None:
    """Trying every number again for every line would take minutes for questions and hours for documents."""
    began = time.perf_counter()
    made = common.Import("set.csv")
    for number in range(common.MOST_CASES):
        made.add_case(Case("same", "q"))
        made.add_document("same", f"text {number}")
    assert time.perf_counter() - began < 60
    assert len({case.id for case in made.cases}) == len({item.name for item in made.items}) == common.MOST_CASES
    assert (made.cases[2].id, made.items[2].name) == ("same-3", "same-3.txt")


def test_a_made_up_id_never_takes_one_that_the_file_gives() -> None:
    lines = ("id,question", "a,one", "a,two", "a-2,three", "a,four")
    assert [case.id for case in read("\n".join(lines)).set.cases] == ["a", "a-2", "a-2-2", "a-3"]
