"""Work on the attached tables alone, exact with every model: GH-01."""

from __future__ import annotations

import pytest

from engine.builtin.table_work import on_tables_alone, worked_out
from engine.model.language import language_of
from engine.model.values import Attachment

SALES = Attachment(
    "table",
    "sales.csv",
    rows=(
        ("Item", "Region", "Amount"),
        ("Tea", "North", "$1,200.50"),
        ("Rice", "South", "$31.19"),
        ("Salt", "North", "$0.5"),
        ("Milk", "South", ""),
        ("Egg", "North", "n/a"),
    ),
)
SHOP = Attachment(
    "table",
    "销售.csv",
    rows=(("商品", "地区", "金额"), ("茶", "北京", "10"), ("米", "上海", "20.5"), ("盐", "北京", "3,5")),
)


@pytest.mark.parametrize(
    ("question", "table", "said"),
    [
        ("What is the sum of the amounts?", SALES, "The sum of Amount is $1232.19 (over 3 rows)."),
        ("What is the average amount in the North?", SALES, "is $600.5 (over 2 rows)."),
        ("How many rows are in the table?", SALES, "5 of 5 rows"),
        ("How many rows where the amount is over 30?", SALES, "2 of 5 rows"),
        ("Which item has the highest amount?", SALES, "Tea: $1,200.50 [T1:C2]."),
        ("Sort the items by amount.", SALES, "1. Salt: $0.5 [T1:C4]"),
        ("What is the difference in amount between Tea and Rice?", SALES, "The difference is $1169.31."),
        ("金额的总和是多少？", SHOP, "金额的总和是 34（共 3 行）。"),
        ("金额的总和是多少？", SHOP, "3,5 即 3.5"),
        ("北京的金额平均是多少？", SHOP, "平均值是 6.75（共 2 行）。"),
        ("表里有多少行？", SHOP, "共 3 行"),
        ("哪个商品金额最低？", SHOP, "盐: 3,5 [T1:C4]"),
        ("按金额从高到低排序", SHOP, "1. 米: 20.5 [T1:C3]"),
        ("茶和米的金额相差多少？", SHOP, "相差 10.5。"),
    ],
)
def test_cells_are_worked_with_exactly(question: str, table: Attachment, said: str) -> None:
    """GH-01"""
    found = worked_out(question, (table,), language_of(question))
    assert found is not None and found.known
    assert said in found.text
    assert on_tables_alone(question, (table,))


def test_what_is_left_out_is_said_and_what_cannot_be_worked_out_too() -> None:
    """GH-01"""
    found = worked_out("What is the sum of the amounts?", (SALES,), "en")
    assert found is not None
    assert "Rows without a value, left out: 1." in found.text and "left out: 1 (“n/a”)." in found.text
    mixed = Attachment("table", "m.csv", rows=(("Item", "Price"), ("a", "$1"), ("b", "€2")))
    words = Attachment("table", "w.csv", rows=(("Item", "Maker"), ("a", "x"), ("b", "y")))
    for question, table in (("What is the sum of the prices?", mixed), ("What is the sum of the makers?", words)):
        refused = worked_out(question, (table,), "en")
        assert refused is not None and not refused.known
        assert refused.text.startswith("I cannot work this out")


@pytest.mark.parametrize(
    "question", ["What is diabetes?", "How many people have diabetes?", "什么是糖尿病？", "Hello!"]
)
def test_what_asks_for_knowledge_is_no_work_on_the_table(question: str) -> None:
    """GH-01"""
    assert not on_tables_alone(question, (SALES, SHOP))


@pytest.mark.parametrize("question", ["Translate the table to Chinese.", "把这张表翻译成英文"])
def test_a_translation_is_work_on_the_table_for_whoever_writes(question: str) -> None:
    """GH-01"""
    assert on_tables_alone(question, (SALES,))
    assert worked_out(question, (SALES,), "en") is None
