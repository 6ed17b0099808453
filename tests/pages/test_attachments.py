"""The question box's images and tables: read before they are searched, corrected, remembered with the run (GH-05)."""

from __future__ import annotations

from concurrent.futures import wait
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.ask.attachments import attached_nodes, facts
from components.common.i18n import words_for
from engine.engine import Engine
from engine.model.values import Attachment, CellCitation
from pages.parts.ask.attachments import Box
from tests.pages.driving import ask, button, inline, opened

CSV = b"drug,dose\nmetformin,500 mg\ninsulin,10 IU\n"
HOSTILE = "![x](http://evil.example/a.png) <b>bold</b>"


def editor() -> None:
    import streamlit as st

    from components.common.i18n import words_for
    from engine.model.values import Attachment
    from pages.parts.ask.attachments import image_editor

    read = Attachment("image", "note.png", text=st.session_state["text"], read_by="ocr")
    st.session_state["edited"] = image_editor(read, words_for("en"), key="one")


def uploaded(app: AppTest, *files: tuple[str, bytes, str]) -> AppTest:
    """The page once everything that was chosen is read or has failed."""
    app.file_uploader[0].set_value(list(files)).run()
    wait([item.future for item in app.session_state["attached"]], 60)
    app.run()
    assert not app.exception, app.exception
    return app


def test_a_table_is_shown_before_it_is_searched_and_belongs_to_the_run(engine: Engine) -> None:
    """GH-05"""
    app = uploaded(opened(workflow="graph_hybrid"), ("doses.csv", CSV, "text/csv"))
    shown = inline(app)
    assert "doses.csv" in shown and "3 rows × 2 columns" in shown
    run_id = ask(app, engine, "What dose of metformin?")
    (table,) = engine.record(run_id).attachments
    assert table.rows[1] == ("metformin", "500 mg")
    assert not table.edited
    assert "1 attachment" in inline(app)
    # What was corrected outlives a look at another page.
    app.checkbox(key=f"attach_{app.session_state['attached'][0].id}_header").uncheck().run()
    app.switch_page("runs.py").run()
    app.switch_page("workbench.py").run()
    assert not app.checkbox(key=f"attach_{app.session_state['attached'][0].id}_header").value
    # A link to the run brings back what it was asked with.
    again = opened(workflow="graph_hybrid", run=run_id)
    assert [item.future.result().attachment for item in again.session_state["attached"]] == [table]
    # Another question goes without it, once the box is emptied.
    again.session_state["attached"] = ()
    assert engine.record(ask(again, engine, "What is insulin?")).attachments == ()


def test_what_cannot_be_read_says_why_and_keeps_the_question_from_running(engine: Engine) -> None:
    app = uploaded(opened(workflow="graph_hybrid", language="zh"), ("x.csv", b"%PDF-1.7", "text/csv"))
    assert "WB353" in inline(app)
    before = len(engine.runs())
    button(app, lambda label: label == "运行").click().run()
    assert words_for("zh")("An attachment could not be used: correct or remove it, then run.") in [
        item.value for item in app.info
    ]
    assert len(engine.runs()) == before


def test_only_the_workflow_that_looks_at_attachments_offers_them(engine: Engine) -> None:
    assert not opened().file_uploader


def test_what_was_read_can_be_corrected() -> None:
    """GH-05"""
    app = AppTest.from_function(editor, default_timeout=60)
    app.session_state["text"] = "5OO mg"
    app.run()
    assert app.session_state["edited"].text == "5OO mg" and not app.session_state["edited"].edited
    app.text_area[0].set_value("500 mg").run()
    assert app.session_state["edited"] == Attachment("image", "note.png", text="500 mg", read_by="ocr", edited=True)


@pytest.mark.parametrize(
    ("waiting", "failed", "key"),
    [
        (True, True, "An attachment is still being read. Look at what was read, then run."),
        (False, True, "An attachment could not be used: correct or remove it, then run."),
    ],
)
def test_a_run_waits_for_what_is_read_and_for_what_failed(waiting: bool, failed: bool, key: str) -> None:
    words = words_for("en")
    assert Box((), waiting, failed).problem(words) == words(key)
    assert Box().problem(words) == ""


def test_what_a_run_had_is_drawn_with_the_quoted_cell_marked_and_never_as_markup() -> None:
    """GH-05"""
    words = words_for("zh")
    rows = (("drug", "dose"), *((f"d{n}", f"{n} mg") for n in range(2, 30)))
    table = Attachment("table", HOSTILE, rows=rows, read_by="csv", cut="rows")
    image = Attachment("image", "note.png", text=HOSTILE, read_by="ollama:gemma3:4b", edited=True)
    cited = CellCitation(1, "B20", "20 mg")
    plain: list[Any] = [item.plain() for item in attached_nodes((image, table), (cited,), words)]
    drawn = str(plain)
    assert HOSTILE in drawn
    assert "'mark', {'class': 'quoted'" in drawn
    # A row that is quoted stands outside what is folded, and only that one cell is marked there.
    outside = str([item for item in plain if "details" not in str(item)] + [plain[-1][2][0]])
    assert "20 mg" in outside and "19 mg" not in outside
    assert words("corrected by hand") in facts(image, words) and "gemma3" in facts(image, words)
    assert words("Only the first {n} rows are taken.", n=200) in facts(table, words)
