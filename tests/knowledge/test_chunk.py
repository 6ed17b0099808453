"""Cutting documents into passages: nothing lost, order kept, sentences whole."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.knowledge.chunk import Standing, chunk, split
from engine.knowledge.load import Document, load_bytes
from engine.knowledge.loaders.contents import Section
from engine.library.values import DEFAULT_CHUNKS, ChunkOptions
from engine.model.language import tokens
from engine.model.values import Passage, PassageId
from engine.roles import StoredPassage

ENGLISH = "The pancreas makes insulin number {n}. "
CHINESE = "胰岛素由胰腺分泌，这是第{n}句话，用来检查切分。"

sentences = st.sampled_from(
    [
        "Insulin lowers glucose. ",
        "它能降低血糖。",
        "“真的吗？”他问。",
        "What does 3.5 mmol/L mean, e.g. in the morning? ",
        "No end here ",
        "- a list item\n",
        "1. first\n",
        "```\ncode = 1\n\nmore\n```\n",
        "```py\nunclosed\n",
        "| a | b |\n",
        "\n\n",
        "长" * 400 + "。",
        "word " * 500 + "\n",
        "x" * 1500,
    ]
)
texts = st.lists(sentences, max_size=30).map("".join)


@st.composite
def any_options(draw: st.DrawFn) -> ChunkOptions:
    target = draw(st.integers(40, 400))
    most = draw(st.integers(max(60, target), 600))
    return ChunkOptions(target, most, draw(st.integers(0, target // 2)))


options = st.one_of(st.just(DEFAULT_CHUNKS), any_options())


@given(text=texts, chosen=options)
@example(text="长" * 900, chosen=DEFAULT_CHUNKS)
@example(text=CHINESE.format(n=1) * 40, chosen=DEFAULT_CHUNKS)
def test_nothing_is_lost_and_the_order_is_kept(text: str, chosen: ChunkOptions) -> None:
    pieces = split(text, chosen)
    bare = re.sub(r"\s+", "", text)
    place = 0
    for piece in pieces:
        words = re.sub(r"\s+", "", piece)
        # Each piece is a stretch of the text and begins no later than where the one before ended.
        assert any(bare.startswith(words, start) for start in range(place + 1)), piece[:80]
        found = max(start for start in range(place + 1) if bare.startswith(words, start))
        place = max(place, found + len(words))
    assert place == len(bare)


@given(text=texts, chosen=options)
def test_no_piece_is_longer_than_the_limit_or_blank(text: str, chosen: ChunkOptions) -> None:
    for piece in split(text, chosen):
        assert piece == piece.strip()
        assert piece
        assert tokens(piece) <= chosen.most_tokens


KINDS_OF_SENTENCE = ("Sentence {n} is short. ", "第{n}句话，很短。", "Number {n} " + "goes on and on " * 30 + ". ")
numbered = st.lists(st.sampled_from(KINDS_OF_SENTENCE), max_size=80).map(
    lambda parts: "".join(part.format(n=n) for n, part in enumerate(parts))
)


@given(text=numbered, chosen=options)
def test_neighbours_share_at_most_one_sentence_and_none_longer_than_the_overlap(
    text: str, chosen: ChunkOptions
) -> None:
    for before, after in pairwise(split(text, chosen)):
        shared = max((size for size in range(len(after) + 1) if before.endswith(after[:size])), default=0)
        assert tokens(after[:shared]) <= chosen.overlap_tokens + 1
        assert len(re.findall(r"\d+", after[:shared])) <= 1


def test_a_short_sentence_behind_a_long_one_is_repeated() -> None:
    """The last of two sentences that fill a passage leads into the next one too."""
    pairs = [(f"{'The river rises and ' * 15}floods the plain {n}.", f"So it is in year {n}.") for n in range(4)]
    pieces = split(" ".join(f"{long} {short}" for long, short in pairs), ChunkOptions(100, 150, 30))
    assert len(pieces) == 4
    for (_, short), piece in zip(pairs, pieces[1:], strict=False):
        assert piece.startswith(short)


def test_without_overlap_nothing_is_repeated() -> None:
    text = "".join(ENGLISH.format(n=n) for n in range(60))
    pieces = split(text, ChunkOptions(overlap_tokens=0))
    assert len(pieces) > 2
    assert re.sub(r"\s+", "", "".join(pieces)) == re.sub(r"\s+", "", text)


@pytest.mark.parametrize("sentence", [ENGLISH, CHINESE])
def test_a_long_section_is_split_between_sentences_with_one_repeated(sentence: str) -> None:
    wanted = [sentence.format(n=n).strip() for n in range(60)]
    pieces = split("".join(sentence.format(n=n) for n in range(60)))
    assert len(pieces) > 2
    found = [re.findall(r"[^.。]+[.。]", piece) for piece in pieces]
    for before, after in pairwise(found):
        assert after[0].strip() == before[-1].strip()
    assert [item.strip() for group in [found[0], *(group[1:] for group in found[1:])] for item in group] == wanted
    assert all(100 <= tokens(piece) <= DEFAULT_CHUNKS.most_tokens for piece in pieces)


def test_chinese_closing_quotes_stay_with_their_sentence() -> None:
    text = "医生说：“先验血。”" * 60
    assert all(piece.startswith("医生说") and piece.endswith("。”") for piece in split(text))


@pytest.mark.parametrize(
    "sentence",
    [
        "他问：“你说过‘先验血。’”",
        "（他说：“好。”）",
        "她想了想……",
        "他喊：“快走！”，然后跑了。",
        "「真的？」、「当然！」他们说。",
        "什么？！",
    ],
)
def test_a_chinese_sentence_ends_after_all_that_closes_it_and_not_before_a_comma(sentence: str) -> None:
    pieces = split(sentence * 120, ChunkOptions(overlap_tokens=0))
    assert len(pieces) > 1
    assert all(piece.startswith(sentence[:3]) and piece.endswith(sentence[-3:]) for piece in pieces)


def test_a_chinese_list_is_cut_between_its_items() -> None:
    items = "".join(f"{n}、先做第{n}件事。再检查一遍。\n" for n in range(60))
    assert all(re.match(r"\d+、", piece) and piece.endswith("检查一遍。") for piece in split(items))


def test_a_table_or_a_block_of_code_that_fits_stays_whole() -> None:
    table = "| name | value |\n|---|---|\n" + "".join(f"| row {n} | {n * n} |\n" for n in range(20))
    code = "```python\n" + "".join(f"value_{n} = compute({n})\n" for n in range(20)) + "```\n"
    prose = ENGLISH.format(n=1) * 15
    pieces = split(f"{prose}\n\n{table}\n{prose}\n\n{code}\n{prose}")
    assert any(table.strip() in piece for piece in pieces)
    assert any(code.strip() in piece for piece in pieces)


def test_a_table_that_is_too_long_is_cut_between_its_rows() -> None:
    rows = [f"| row {n} | {'value ' * 8}|" for n in range(80)]
    pieces = split("\n".join(rows))
    assert [line for piece in pieces for line in piece.splitlines()] == rows


def test_a_file_of_one_endless_line_is_cut_in_reasonable_time() -> None:
    pieces = split("a,b" * 400_000)
    assert "".join(pieces) == "a,b" * 400_000


def test_options_other_than_the_defaults_are_written_on_each_passage() -> None:
    document = load_bytes("a.txt", (ENGLISH.format(n=1) * 60).encode())
    fine = ChunkOptions(80, 100, 20)
    assert {item.meta.get("chunks") for item in chunk(document)} == {None}
    assert {item.meta.get("chunks") for item in chunk(document, fine)} == {"80/100/20"}
    assert len(chunk(document, fine)) > len(chunk(document))


def test_a_decimal_point_or_an_abbreviation_ends_no_sentence() -> None:
    text = "Fasting glucose of 7.0 mmol/L, e.g. before breakfast, is high. " * 40
    assert all(piece.startswith("Fasting") and piece.endswith("is high.") for piece in split(text))


def test_a_short_section_is_one_passage_word_for_word() -> None:
    text = "One  sentence.\n\n- item\n- item two\n\n```\ncode\n```"
    assert split(f"\n{text}\n") == [text]


def test_code_and_lists_are_cut_between_lines_only() -> None:
    code = "".join(f"    value_{n} = compute(value_{n - 1}, weight={n}.5)  # Step. Next\n" for n in range(60))
    items = "".join(f"- item {n}: Eat slowly. Drink water.\n" for n in range(60))
    pieces = split(f"Before.\n\n```python\n{code}```\n\n{items}")
    lines = {line.strip() for line in f"{code}\n{items}\nBefore.\n```python\n```".splitlines()}
    assert all(line.strip() in lines for piece in pieces for line in piece.splitlines())
    assert len(pieces) > 4


def test_a_sentence_longer_than_a_passage_is_cut_at_commas_or_spaces() -> None:
    pieces = split("，".join(f"第{n}个分句没有句号" for n in range(80)) + "。")
    assert all(piece.endswith(("，", "。")) for piece in pieces)
    words = split("unbroken " * 800)
    assert all(set(piece.split()) == {"unbroken"} for piece in words)


def test_each_section_of_a_sample_like_source_is_one_passage_numbered_from_1() -> None:
    paragraph = "About one in three people with diabetes has some retinopathy. " * 8
    document = load_bytes("eyes.en.md", f"# Eyes\n\n## First: one\n{paragraph}\n\n## Second\n{paragraph}\n".encode())
    passages = chunk(document, added_at="2026-01-01")
    assert [(item.id, item.ordinal, item.section, item.title) for item in passages] == [
        ("eyes.en.md#1", 1, "First: one", "Eyes"),
        ("eyes.en.md#2", 2, "Second", "Eyes"),
    ]
    assert passages[0].text == paragraph.strip()
    assert passages[0].meta == {
        "content_hash": document.content_hash,
        "language": "en",
        "added_at": "2026-01-01",
        "lines": "4",
    }


def test_the_path_of_headings_is_the_section() -> None:
    document = load_bytes("a.md", "# T\n## 甲\n### 乙\n正文。".encode())
    assert [item.section for item in chunk(document)] == ["甲 > 乙"]


@given(text=texts)
def test_ids_are_the_source_and_a_running_number(text: str) -> None:
    if not text.strip():
        return
    passages = chunk(load_bytes("dir/a b.txt", text.encode()))
    assert [item.id for item in passages] == [f"dir/a b.txt#{n}" for n in range(1, len(passages) + 1)]


class _Counted(str):
    """A text that counts the characters that are looked through for places in it."""

    looked: int

    def find(self, *sought: Any) -> int:
        found = super().find(*sought)
        self.looked += (found + len(sought[0]) if found >= 0 else len(self)) - sought[1]
        return found

    def count(self, *sought: Any) -> int:
        self.looked += sought[2] - sought[1]
        return super().count(*sought)


@pytest.mark.parametrize("lines", [(), (1,)])
def test_a_large_file_of_one_line_is_looked_through_a_few_times_and_not_once_a_passage(lines: tuple[int, ...]) -> None:
    text = _Counted("".join(f"word{n} " for n in range(40_000)))
    text.looked = 0
    section = Section((), text, lines)
    passages = chunk(Document("one.md", "one", (section,), "hash"))
    assert len(passages) > 300
    assert text.looked <= 4 * len(text)
    assert {passage.meta.get("lines", "") for passage in passages} == ({"1"} if lines else {""})


def test_a_line_that_leads_to_code_goes_with_it() -> None:
    text = "".join(f"Sentence {n} says something about lamps. " for n in range(12)) + "\n\nRun this command:\n\n"
    text += "```sh\n" + "lamp --glow\n" * 12 + "```\n\nIt glows."
    pieces = split(text, ChunkOptions(target_tokens=120, most_tokens=140, overlap_tokens=0))
    assert len(pieces) > 1
    assert next(piece for piece in pieces if "lamp --glow" in piece).startswith("Run this command:")


@pytest.mark.parametrize(
    ("title", "section", "path"),
    [
        ("Server options", "server.port", "Server options > server.port"),
        ("Server options", "Server options > server.port", "Server options > server.port"),
        ("Server", "Server options > server.port", "Server > Server options > server.port"),
        ("Server options", "Server options", "Server options"),
        ("Server options", "", "Server options"),
        ("", "server.port", "server.port"),
        ("", "", ""),
    ],
)
def test_the_heading_path_of_a_passage_names_its_title_once(title: str, section: str, path: str) -> None:
    stored = StoredPassage(PassageId("a#1"), "a", "text", section=section, title=title)
    found = Passage(PassageId("a#1"), "a", "text", 0.5, 0.5, section=section, title=title)
    assert (stored.heading, found.heading) == (path, path)


@pytest.mark.parametrize(
    ("begins", "said"),
    [
        ("| `size` | 12 |", "| Name | Default |"),
        ("The default is", "--wrap\n:   How lines break."),
        ("- `gzip`:", "- Encodings:"),
        ("level 5", "- Encodings:\n- `gzip`:"),
        ("Nothing above", ""),
        ("| `loose` | 1 |", ""),
        ("inside = 2", ""),
    ],
    ids=["row", "definition", "item", "nested", "paragraph", "row_without_header", "code"],
)
def test_a_piece_knows_the_header_the_term_or_the_items_that_it_continues(begins: str, said: str) -> None:
    text = (
        "| Name | Default |\n|---|---|\n| `age` | 3 |\n| `size` | 12 |\n\n"
        "--wrap\n\n:   How lines break.\n\n    The default is auto.\n\n"
        "- Encodings:\n    - `gzip`:\n        level 5\n\n"
        "Nothing above\n\n| `tight` | 0 |\n| `loose` | 1 |\n\n"
        "- Code:\n    ```\n    outside = 1\n    inside = 2\n    ```\n"
    )
    assert Standing(text).at(text.index(begins)) == said


def test_the_rest_of_a_long_table_has_the_header_as_context_and_not_in_its_text() -> None:
    rows = "".join(f"| `option_{n}` | The option number {n} of this table, at its usual place. |\n" for n in range(60))
    passages = chunk(load_bytes("options.md", f"# Options\n\n| Name | Meaning |\n|---|---|\n{rows}".encode()))
    assert len(passages) > 1
    assert "context" not in passages[0].meta
    assert {item.meta["context"] for item in passages[1:]} == {"| Name | Meaning |"}
    assert all("Meaning" not in item.text for item in passages[1:])
