"""What is particular to the generator that needs no model: it quotes, word for word, and is short and honest."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.builtin.abstain import abstained_answer, abstention
from engine.builtin.answer_form import form_of, says_what
from engine.builtin.generator import BuiltinGenerator
from engine.builtin.quotable import quotable, shortened
from engine.model.language import language_of
from engine.model.values import Candidate, Gate, Language, Passage, PassageId, Round
from engine.retrieval.citations import resolve
from engine.roles import GenerationRequest
from tests.support.listening import Listening

INSTALL = (
    'Make an environment first. Then install it with:\n\n```console\n$ pip install "fastapi[1]"\n```\n\nNow run it.'
)


def passage(text: str, section: str = "", name: str = "p") -> Passage:
    return Passage(PassageId(name), f"{name}.md", text, 0.5, 0.9, section=section)


def answer(question: str, *texts: str, verified: bool = True, section: str = "") -> str:
    passages = tuple(passage(text, section, f"p{number}") for number, text in enumerate(texts, 1))
    request = GenerationRequest(question, passages, language_of(question), verified)
    return asyncio.run(BuiltinGenerator().generate(request))


def quotable_sentences(text: str, heading: str = "") -> list[str]:
    return [item.text for item in quotable(text, heading)]


ANSWERED: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "the sentence that answers, with its marker": (
        "How many edges does a tree with n vertices have?",
        ("Trees were named by Cayley. A tree with n vertices has exactly n − 1 edges. Forests are made of them.",),
        ("Here is what the sources say: A tree with n vertices has exactly n − 1 edges. [1]",),
    ),
    "Chinese for a Chinese question": (
        "没开封的胰岛素怎样保存？",
        ("没开封的胰岛素放在冰箱冷藏室。",),
        ("资料中是这样说的：没开封的胰岛素放在冰箱冷藏室。[1]",),
    ),
    "a passage in another language, with nothing called missing": (
        "什么是树？",
        ("A tree is a connected graph without cycles.",),
        ("资料使用的是另一种语言，以下按原文引用。A tree is a connected graph without cycles.[1]",),
    ),
    "two passages that contradict each other": (
        "How many grams of sugar should I take for a low?",
        ("For a low, take 15 grams of sugar.", "Our clinic says: take 20 grams of sugar for a low."),
        ("15 grams of sugar. [1]", "20 grams of sugar for a low. [2]"),
    ),
    "the sentence before one that points back": (
        "Who solved the bridge problem?",
        ("Euler studied seven bridges. He solved the bridge problem in 1736.",),
        ("Euler studied seven bridges. [1] He solved the bridge problem in 1736. [1]",),
    ),
    "what it is before what names it": (
        "What is the default colour code of a lamp?",
        (
            "Later you will see how a lamp can return another colour code than the default you set here.",
            "- `7` is the default colour code, which means red.\n- `9` is green.",
        ),
        ("Here is what the sources say: `7` is the default colour code",),
    ),
    "a short whole sentence": (
        "灯塔的作者是谁？",
        ("要点亮灯塔，先把灯塔放在海边的山坡上。作者是王小明，也是灯塔的作者！",),
        ("资料中是这样说的：作者是王小明",),
    ),
    "code before the sentence about it": (
        "Which command creates a new project?",
        ("```sh\nnpm create vue\n```\n\nThis command creates a new project.",),
        ("This command creates a new project. [1]\n\n```\nnpm create vue\n```",),
    ),
    "the command that installs": (
        "How do I install Lampkit?",
        (
            "We need to install Lampkit to light the lamps of the tower in the evening.\n\n"
            "Add it to your project:\n\n```console\n$ lk add lampkit\n```\n\nThe lamps of Lampkit are red.",
        ),
        ("$ lk add lampkit",),
    ),
    "code whose words count for the sentence that leads to it": (
        "How do I delay the glow of a lamp?",
        (
            "A lamp shows a glow of its own in the evening when the tower is dark. Lamps support advanced options:\n\n"
            "```js\nlamp({\n  // Delay before the glow of the lamp is shown\n  delay: 200\n})\n```",
        ),
        ("delay: 200",),
    ),
    "no sentence that could be quoted": (
        "What is a tree?",
        ("---", "   ", "###"),
        ("The passages hold no sentence that could be quoted.",),
    ),
}


@pytest.mark.parametrize("case", ANSWERED)
def test_an_answer_quotes(case: str) -> None:
    """SC-07"""
    question, texts, quoted = ANSWERED[case]
    said = answer(question, *texts)
    assert all(part in said for part in quoted), said


def test_what_no_passage_mentions_is_said() -> None:
    """SC-07: says honestly what is missing."""
    assert "\n\nNot in the passages: refrigerator." in answer(
        "How long does opened insulin keep outside the refrigerator?", "Opened insulin keeps for 28 days outside."
    )
    assert "\n\n资料中没有直接提到：医保。" in answer("胰岛素医保能报销吗？", "胰岛素可以报销一部分。")


def test_another_name_for_the_same_is_not_missing() -> None:
    assert "Not in" not in answer("Does slimming cure diabetes?", "Weight loss can bring diabetes into remission.")


def test_unverified_passages_are_marked_before_anything_is_said() -> None:
    """SC-07: the answer is visibly marked."""
    english = answer("What is a tree?", "A tree is a connected graph.", verified=False)
    assert english.startswith("Unverified: no check has confirmed these passages")
    chinese = answer("什么是树？", "树是连通而没有回路的图。", verified=False)
    assert chinese.startswith("以下内容未经核实")


def test_an_answer_stays_short_however_much_there_is_to_quote() -> None:
    """SC-07: concise."""
    sentence = "Insulin lowers glucose in patient number {} by a fair and welcome amount after breakfast."
    many = " ".join(sentence.format(number) for number in range(200))
    text = answer("How does insulin lower glucose?", many, many.replace("patient", "volunteer"))
    assert len(text.split()) <= 110
    assert len(re.findall(r"\[\d\]", text)) <= 5
    assert len(answer("胰岛素怎样降低血糖？", "胰岛素让肌肉和脂肪吸收血液里的葡萄糖，" * 100)) <= 300


def test_numbers_in_brackets_of_a_passage_never_become_citations() -> None:
    """SC-07: a citation cannot be invented, not even by a quoted one."""
    text = answer("What is the interval?", "The interval [0, 1] is closed, as the interval of [7] shows.")
    resolved = resolve(text, [passage("x")])
    assert [item.marker for item in resolved.citations] == [1]
    assert not resolved.removed
    assert "[ 0, 1]" in text


@pytest.mark.parametrize(
    ("text", "section", "expected"),
    [
        ("## Trees\nA tree has no cycles.", "", ["A tree has no cycles."]),
        ("Trees\nA tree has no cycles.", "Trees", ["A tree has no cycles."]),
        ("- **Honey**: one spoon\n2. [Juice](http://a.example/b): a glass", "", ["Honey: one spoon", "Juice: a glass"]),
        ("| A | B |\n|---|---|\n| 1 | 2 |", "", ["A: 1; B: 2"]),
        ("There are n!/(n − k)! ways, e.g. six. Dr. Hu agrees; so do I.", "",
         ["There are n!/(n − k)! ways, e.g. six.", "Dr. Hu agrees; so do I."]),
        ("他写道：“零不是自然数。”后来变了。", "", ["他写道：“零不是自然数。”", "后来变了。"]),
        ("1. Open it.\n2. Fill it.\nDone.", "", ["(1) Open it; (2) Fill it", "Done."]),
        ("Short line\nof a verse.", "", ["Short line", "of a verse."]),
        ("This much longer line of a document was broken\nfor width.", "",
         ["This much longer line of a document was broken for width."]),
        ("Use a domain (eg. `a.example`) of your own. Then deploy.", "",
         ["Use a domain (eg. `a.example`) of your own.", "Then deploy."]),
        ("Lamps glow.\n\n`src/lamp.py`\n\nThey are red.", "", ["Lamps glow.", "They are red."]),
        (INSTALL, "", ["Make an environment first.", "Then install it with:", "Now run it."]),
        ("return item;\n}\n```\n\nThe server listens on one port.", "", ["The server listens on one port."]),
        ("Parameters:\n\n* `glow` - How bright. Defaults to `5`.\n* `hue` - Its colour. Defaults to red.\n", "",
         ["Parameters: `glow` - How bright. Defaults to `5`; `hue` - Its colour. Defaults to red"]),
        ("Parameters:\n\n" + "".join(f"* `glow{n}` - How bright the lamp is. Defaults to `{n}`.\n" for n in range(9)),
         "", ["Parameters:", *(f"`glow{n}` - How bright the lamp is. Defaults to `{n}`." for n in range(9))]),
    ],
)  # fmt: skip
def test_sentences_are_quoted_without_headings_signs_and_broken_lines(
    text: str, section: str, expected: list[str]
) -> None:
    assert quotable_sentences(text, section) == expected


def test_an_endless_sentence_is_cut_with_an_ellipsis() -> None:
    assert shortened("word " * 500).endswith("word…")
    assert len(shortened("字" * 5000)) < 200


def test_tokens_are_estimated_by_script() -> None:
    count = BuiltinGenerator().count_tokens
    assert count("胰岛素" * 10) == 21
    assert count("word " * 40) == 50


@pytest.mark.parametrize(
    ("kept", "best", "expected"),
    [
        (0, None, "no passages at all"),
        (0, 0.21, "closest had a similarity of 0.21"),
        (1, 0.62, "1 passage was read; it was not judged to answer what you asked."),
        (4, 0.12, "none is really on this subject (best similarity 0.12)"),
    ],
)
def test_an_abstention_says_why_in_english(kept: int, best: float | None, expected: str) -> None:
    """SC-07: with nothing passed it abstains with an honest answer."""
    assert abstention("Сколько?", "other", kept, best).startswith("I could not find an answer")
    text = abstention("What is the maximum dose of metformin?", "en", kept, best)
    assert expected in text
    assert "metformin" in text


@pytest.mark.parametrize("question", ["What is the maximum dose of metformin?", "糖尿病人可以献血吗？"])
@pytest.mark.parametrize(("gate", "score"), [("below_rerank", 0.04), ("below_graph", None)])
def test_near_passages_that_another_threshold_cut_are_not_called_far_away(
    question: str, gate: Gate, score: float | None
) -> None:
    """A reranker on a small model gave every passage 0: the answer said that none was similar enough, the best 0.62."""
    near = Candidate(Passage(PassageId("a"), "a.md", "Text.", 0.62, 0.9), 1, gate, 0.32, rerank_score=score)
    far = replace(
        near,
        passage=replace(near.passage, id=PassageId("b"), similarity=0.1),
        gate="below_threshold",
        rerank_score=None,
    )
    behind = replace(far, passage=replace(far.passage, id=PassageId("c")), rank=6, gate="beyond_top_k", margin=-0.2)
    alone = abstained_answer(question, [Round(0, question, candidates=(far, behind))])
    assert "0.10" in alone
    text = abstained_answer(question, [Round(0, question, candidates=(near, far, behind))])
    assert "0.62" not in text
    assert ("0.04" in text) == (score is not None)
    assert re.search(r"judged: 1\b|有 1 个片段", text)


@pytest.mark.parametrize(("kept", "best"), [(0, None), (0, 0.2), (3, 0.1), (3, 0.6)])
def test_an_abstention_in_chinese_holds_no_english_sentence(kept: int, best: float | None) -> None:
    text = abstention("糖尿病人可以献血吗？", "zh", kept, best)
    assert "献血" in text
    assert not re.search(r"[A-Za-z]{2}", text)


ANY_TEXT = st.text(max_size=200) | st.lists(
    st.sampled_from(
        ["[1]", "[9, 2]", "【3】", "# ", "- ", "|", "\n", "。", ". ", "“", "树", "A tree", "n!", "  ", "\x00", "？"]
    ),
    max_size=30,
).map("".join)
LANGUAGES: st.SearchStrategy[Language] = st.sampled_from(["zh", "en", "other"])


@settings(deadline=None)
@given(ANY_TEXT, st.lists(ANY_TEXT, min_size=1, max_size=4), LANGUAGES, st.booleans())
def test_any_text_gives_an_answer_with_valid_markers_streamed_as_it_is(
    question: str, texts: list[str], language: Language, verified: bool
) -> None:
    """SC-07."""
    passages = tuple(passage(text, section=text[:9], name=f"p{number}") for number, text in enumerate(texts))
    trace = Listening()
    text = asyncio.run(BuiltinGenerator().generate(GenerationRequest(question, passages, language, verified), trace))
    assert text.strip()
    assert "".join(trace.tokens) == text
    assert not resolve(text, passages).removed


@settings(deadline=None)
@given(ANY_TEXT, LANGUAGES, st.integers(0, 20), st.none() | st.floats(0, 1))
def test_any_question_gives_an_abstention(question: str, language: Language, kept: int, best: float | None) -> None:
    assert abstention(question, language, kept, best).strip()


def test_the_code_that_a_sentence_leads_to_is_quoted_below_it() -> None:
    said = answer("How do I install it with pip?", INSTALL)
    assert 'Then install it with: [1]\n\n```\n$ pip install "fastapi[ 1]"\n```' in said
    assert not resolve(said, [passage("x")]).removed


def test_of_several_blocks_in_a_row_the_first_is_quoted_and_only_once() -> None:
    text = answer(
        "Which command makes a new lamp project?",
        "To make a lamp project, run:\n\n```sh\n$ first make lamp\n```\n\n```sh\n$ second make lamp\n```\n\n"
        "This command will make a lamp project with prompts.",
    )
    assert text.count("$ first make lamp") == 1
    assert "$ second" not in text


def test_a_definition_begins_with_what_it_defines_and_need_not_say_is() -> None:
    text = "A lantern tree of a town keeps every lamp lit. If lamps have costs, a minimum lantern tree is the cheapest."
    assert "say: A lantern tree of a town keeps" in answer("What is a lantern tree?", text)
    for question in ("什么是灯塔树？", "灯塔树是什么"):
        form = form_of(question, way=False)
        assert says_what(form, "灯塔树保留全部灯塔，只留下刚好够用的灯。") > says_what(form, "造价最低的是最小灯塔树。")


@pytest.mark.parametrize(
    ("question", "section", "texts", "quoted"),
    [
        (
            "How is type 2 diabetes treated?",
            "Type 2 diabetes",
            (
                "Type 2 diabetes can stay silent for years. Eyes must first be examined through wide pupils in type 2 "
                "diabetes, and in type 2 diabetes use is made of photographs.",
                "Type 2 diabetes makes up more than 90 % of cases. Muscle and liver respond poorly to insulin. "
                "Treatment begins with food, exercise and usually metformin.",
            ),
            "Treatment begins with food",
        ),
        (
            "2型糖尿病如何治疗？",
            "2型糖尿病",
            ("2型糖尿病可以多年不声不响。2型糖尿病的眼底要用照相机检查。", "2型糖尿病占九成以上。治疗先从饮食做起。"),
            "治疗先从饮食做起",
        ),
    ],
)
def test_the_sentence_that_says_what_is_done_comes_first_where_its_heading_says_to_what(
    question: str, section: str, texts: tuple[str, ...], quoted: str
) -> None:
    """Others have more words of the question, and connectives of a way (*use*, *through*), but do not say how."""
    said = answer(question, *texts, section=section)
    assert quoted in said
    assert re.findall(r"\[(\d)\]", said)[0] == "2"


def test_the_class_of_thing_asked_for_is_not_called_missing() -> None:
    text = answer("Which package do I need to read lamps?", "To read lamps you need `lampreader`.")
    assert "lampreader" in text
    assert "Not in the passages" not in text


def test_a_passage_in_the_language_of_the_question_is_quoted_before_one_that_says_the_same_in_another() -> None:
    chinese = "配置里的 server.port 指定开发服务器监听的端口，默认值是 5173，被占用时会尝试下一个。"
    english = "With server.port you say where to listen. It is 5173 unless you change it."
    assert "say: With server.port you say where to listen. [2]" in answer("Which server.port is it?", chinese, english)
    assert "尝试下一个。 [1]" in answer("Which server.port is it?", chinese)


def test_the_entry_of_a_reference_is_named_and_its_default_answers() -> None:
    text = "- Type: `number`\n- Default: `4096` (4 KiB)\n\nAssets smaller than this are inlined as base64 URLs."
    said = answer("At what file size are assets inlined as base64?", text, section="Build > build.inlineLimit")
    assert "build.inlineLimit: Type: `number`; Default: `4096` (4 KiB). [1]" in said
    assert said.count("build.inlineLimit") == 1
    assert "build" not in answer("At what file size are assets inlined?", text, section="Build the limit")
    port = "- 类型： `number`\n- 默认值： `4173`\n\n指定端口。如果端口已被使用，会尝试下一个可用端口。"
    said = answer("默认用哪个端口？", port, section="preview.port")
    assert "preview.port：类型： `number`；默认值： `4173`。[1]" in said
