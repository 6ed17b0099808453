"""Refusing where the main term or the fact asked for stands nowhere, and not crying wolf."""

from __future__ import annotations

import asyncio

import pytest

from engine.builtin.abstain import abstention
from engine.builtin.answer_reading import begins_with_gap
from engine.builtin.generator import BuiltinGenerator
from engine.builtin.unmentioned import stands_in
from engine.model.language import language_of
from engine.model.values import Passage, PassageId
from engine.roles import GenerationRequest

DOCS_ZH = "FastAPI 可以用 WebSocket 连接客户端。要连接数据库，请先创建引擎。消息会放进后台任务的队列。"
DOCS_EN = "FastAPI can connect clients with WebSockets. To connect a database, create an engine first."


def answer(question: str, *texts: str, title: str = "", verified: bool = True) -> str:
    passages = tuple(
        Passage(PassageId(f"p{number}"), f"p{number}.md", text, 0.5, 0.9, title=title)
        for number, text in enumerate(texts, 1)
    )
    request = GenerationRequest(question, passages, language_of(question), verified)
    return asyncio.run(BuiltinGenerator().generate(request))


@pytest.mark.parametrize(
    ("question", "text", "named"),
    [
        ("FastAPI 如何连接 Kafka 消息队列？", DOCS_ZH, "Kafka"),
        ("How do I connect FastAPI to Kafka?", DOCS_EN, "Kafka"),
        ("Can kafka be used?", DOCS_EN, "kafka"),
        ("FastAPI 怎样开发微信小程序？", DOCS_ZH, "微信"),
        ("How do I connect FastAPI to PostgreSQL?", DOCS_ZH, "PostgreSQL"),
        ("How do I deploy to Kubernetes?", "用一条命令将应用部署到 FastAPI Cloud。", "Kubernetes"),
        ("怎样部署到 Kubernetes？", "Deploy your app to FastAPI Cloud with one command.", "Kubernetes"),
        ("What do insulin pens cost at Walmart?", "Insulin pens cost about 40 dollars each.", "Walmart"),
        ("How does AI change the main rules?", "The main rules of chess change with time, said the chairman.", "AI"),
    ],
)
def test_a_question_whose_main_term_stands_nowhere_is_refused_and_the_term_named(
    question: str, text: str, named: str
) -> None:
    """SC-07: invents nothing, says honestly what is missing."""
    said = answer(question, text)
    assert named in said
    assert "[1]" not in said
    assert "rather not guess" in said or "不作猜测" in said


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How do I use Web-Sockets in FastAPI?", DOCS_EN),
        ("Can I exercise when I'm pregnant?", "Exercise is safe when pregnant, and you can begin at any time."),
        ("Hi, is exercise OK when pregnant? Thanks!", "Exercise is safe when pregnant."),
        ("II型糖尿病怎么诊断？", "2型糖尿病的诊断依据空腹血糖。"),
        ("What causes anaemia?", "Anemia is caused by a lack of iron."),
        ("怎样使用 websocket 连接客户端？", DOCS_ZH),
        ("怎么设置跨域？", "CORS 由 server.cors 设置。"),
        ("怎么设置跨域？", "Set server.cors to configure CORS for the server."),
        ("Does slimming cure diabetes?", "Weight loss can bring diabetes into remission."),
        ("What did Banting discover?", "班廷发现了胰岛素。"),
        ("What did Martin Luther demand?", "Luther demanded a debate about indulgences in his theses."),
        ("How many edges does a tree have, and what is Cayley's formula?", "A tree with n vertices has n − 1 edges."),
        ("胰岛素医保能报销吗？", "胰岛素可以报销一部分。"),
        ("What did Euler prove?", "欧拉证明了七桥问题没有解。"),
        ("中国邮递员问题是谁在哪一年提出的？", "中国邮递员问题由管梅谷于 1960 年提出。"),
        ("中国邮递员问题是谁提出的？", "中国邮递员问题由管梅谷提出。"),
        ("Who solved the bridge problem?", "Euler solved the bridge problem."),
    ],
)
def test_what_is_written_otherwise_or_only_part_of_the_question_is_answered(question: str, text: str) -> None:
    assert "[1]" in answer(question, text)


COMMON = "Type 2 diabetes makes up more than 90 % of cases, and high age must be counted first among its risks."
COMMON_ZH = "2型糖尿病占全部病例的九成以上，可以多年不声不响。"
FIRST = ("Not in the passages: ", "资料中没有直接提到：")


@pytest.mark.parametrize(
    ("question", "text", "named"),
    [
        ("How is type 2 diabetes treated?", COMMON, "treated"),
        ("How is type 2 diabetes prevented in children?", COMMON, "prevented"),
        ("How can type 2 diabetes be treated at home?", COMMON, "treated"),
        ("How do I treat type 2 diabetes?", COMMON, "treat"),
        ("What are the best ways to treat type 2 diabetes?", COMMON, "treat"),
        ("2型糖尿病如何治疗？", COMMON_ZH, "治疗"),
        ("怎样才能治愈2型糖尿病？", COMMON_ZH, "治愈"),
        ("2型糖尿病用什么方法治疗？", COMMON_ZH, "治疗"),
    ],
)
@pytest.mark.parametrize("verified", [True, False])
def test_where_no_passage_says_what_is_to_be_done_the_answer_begins_with_that(
    question: str, text: str, named: str, verified: bool
) -> None:
    """SC-07: says what is missing where one looks, however common the word; what is quoted is about the rest."""
    said = answer(question, text, verified=verified)
    first, _, rest = said.partition("\n\n")
    assert named in first and any(note in first for note in FIRST) and "[1]" in rest
    assert begins_with_gap(said) and first.startswith(FIRST) == verified
    assert not any(note in rest for note in FIRST)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How is type 2 diabetes treated?", "Treatment of type 2 diabetes begins with food."),
        ("How is type 2 diabetes treated?", "Therapy of type 2 diabetes begins with food."),
        ("How is type 2 diabetes prevented?", "Prevention of type 2 diabetes begins with food."),
        ("How is opened insulin stored?", "Storage of opened insulin: below 30 degrees."),
        ("How is opened insulin stored?", "Opened insulin is kept below 30 degrees."),
        ("How is type 2 diabetes treated, and how common is it?", COMMON),
        ("How common is type 2 diabetes, and how is it treated?", COMMON),
        ("How is type 2 diabetes diagnosed and treated?", "Type 2 diabetes is diagnosed by fasting glucose."),
        ("How are opened pens of insulin seen?", "An opened pen of insulin is clear, and one sees through it."),
        ("How do I make insulin last?", "Insulin lasts for 28 days."),
        ("How is type 2 diabetes treated?", COMMON_ZH),
        ("2型糖尿病如何治疗？", "2型糖尿病的疗法先从饮食做起。"),
        ("Which type of diabetes is treated with insulin?", "Type 1 diabetes needs insulin."),
    ],
)
def test_what_is_done_may_be_said_in_a_word_of_its_family_or_in_part(question: str, text: str) -> None:
    said = answer(question, text)
    assert "[1]" in said and not begins_with_gap(said)


def test_a_name_in_the_title_of_the_source_is_mentioned() -> None:
    text = "Run the server and then install the package with pip."
    assert "[1]" in answer("How do I install Uvicorn?", text, title="Uvicorn")
    assert "[1]" not in answer("How do I install Uvicorn?", text)


def test_when_something_happens_needs_no_date_in_a_manual() -> None:
    text = "The code behind `glow` is run after the light was sent."
    assert "[1]" in answer("When is the code behind `glow` run?", text)
    assert "[1]" not in answer("In which year was the code behind `glow` written?", text)


def test_in_a_manual_the_thing_asked_for_must_have_its_name() -> None:
    """Things have one name there; where a page is no manual, the same word may be put otherwise."""
    manual = "The lamp prints pages with `--print`. Which pages, says `--pages` of the lamp."
    refused = answer("Which option of the lamp adds a watermark to pages?", manual)
    assert "[1]" not in refused
    assert "watermark" in refused
    assert "[1]" not in answer("灯用哪个选项设置通配符？", "灯用 `--print` 选项打印页面。")
    assert "[1]" in answer("Which option of the lamp ignores pages?", manual)
    prose = "The lamp prints pages, and an option of the lamp says which ones."
    assert "[1]" in answer("Which option of the lamp adds a watermark to pages?", prose)


@pytest.mark.parametrize(
    ("question", "without", "given"),
    [
        ("How much does FastAPI Cloud cost per month?", "FastAPI Cloud takes the cost of one month off your mind.",
         "FastAPI Cloud costs 20 dollars per month."),
        ("FastAPI 是哪一年发布的？", "FastAPI 发布以后很快流行起来。", "FastAPI 于 2018 年发布。"),
        ("Who wrote the first version of FastAPI?", "The first version of FastAPI was written in a hurry.",
         "The first version of FastAPI was written by Sebastián Ramírez."),
    ],
)  # fmt: skip
def test_a_fact_of_the_kind_asked_for_must_be_there(question: str, without: str, given: str) -> None:
    assert "[1]" not in answer(question, without)
    assert "[1]" in answer(question, given)


def test_a_chinese_term_whose_characters_stand_there_is_not_called_missing() -> None:
    """The words are cut by guess: 四元集合 has the 元 of 元素."""
    said = answer("四个元素的集合上有多少个等价关系？", "四元集合上有 15 个等价关系，这个数叫贝尔数 B(4)。")
    assert "15 个等价关系" in said
    assert "没有直接提到" not in said


def test_an_abbreviation_stands_in_a_text_as_a_word_alone() -> None:
    assert stands_in("CLI", "the cli of the program")
    assert not stands_in("CLI", "the client of the program")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("ระบบรองรับภาษาอะไรบ้าง", "ระบบนี้รองรับภาษาไทยและภาษาอังกฤษ"),
        ("데이터베이스는 무엇을 저장합니까?", "데이터베이스에 기록이 저장됩니다."),
        ("データベースの接続方法は？", "データベースに接続するにはエンジンを作ります。"),
        ("हिन्दी में क्या लिखा है?", "यह हिन्दी में लिखा है।"),
        ("這個產品支持簡體嗎？", "这个产品支持简体和英文。"),
    ],
)
def test_no_piece_of_a_word_is_said_to_be_missing(question: str, text: str) -> None:
    """Of scripts whose words are not cut, and of the other Chinese script."""
    said = answer(question, text)
    assert "[1]" in said
    assert "Not in the passages" not in said and "没有直接提到" not in said


@pytest.mark.parametrize("question", ["ระบบรองรับภาษาอะไรบ้าง", "牛是什么？", "Which ports?"])
def test_a_search_without_a_hit_does_not_call_the_collection_empty(question: str) -> None:
    said = abstention(question, language_of(question), 0, None)
    assert "sources" not in said and "已有资料" not in said
    assert ("Looked for" in said or "查找的关键词" in said) == (question[0] in "牛W")
