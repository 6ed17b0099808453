"""The catalogues: complete, without leftovers, and with the parameters of the English messages."""

from __future__ import annotations

import ast
import shutil
from io import BytesIO
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract

from components.common.i18n import catalogue
from engine.messages import CONTEXT_END
from engine.plugins import _folders
from tests.messages import (
    CATALOGUES,
    ROOT,
    SHOWN,
    choices,
    english,
    extracted,
    messages,
    python_messages,
    read,
    translated,
    updated,
    write,
)

NEITHER = "Run `python -m tests.messages`, then translate what it added."


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def of_what_is_here(found: Catalog) -> set[tuple[Any, ...]]:
    """Messages of the core, and of the plug-ins that are in this checkout with the names of these."""
    here = {*_folders()}
    return {
        (message.id, message.context, frozenset(here.intersection(message.auto_comments)))
        for message in messages(found)
        if not message.auto_comments or here.intersection(message.auto_comments)
    }


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parents[1].name)
def test_each_message_of_the_code_is_in_the_catalogue_and_nothing_else(path: Path) -> None:
    found = read(path)
    assert of_what_is_here(found) == of_what_is_here(extracted()), NEITHER
    assert not found.obsolete, NEITHER


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parents[1].name)
def test_each_message_is_translated_with_the_same_parameters(path: Path) -> None:
    for message in messages(read(path)):
        assert all(translated(message)), message.id
        assert not message.fuzzy, message.id
        wanted = [fields(text) for text in english(message)]
        assert all(fields(text) in wanted for text in translated(message)), message.id


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parents[1].name)
def test_a_catalogue_is_written_as_the_command_writes_it(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.parents[1].name / "LC_MESSAGES" / path.name
    copy.parent.mkdir(parents=True)
    shutil.copy(path, copy)
    write(copy, updated(read(path), read(path)))
    assert copy.read_text(encoding="utf-8") == path.read_text(encoding="utf-8"), NEITHER


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parents[1].name)
def test_the_program_reads_what_the_catalogue_says(path: Path) -> None:
    program = catalogue(path.parents[1].name)
    for message in messages(read(path)):
        context = f"{message.context}{CONTEXT_END}" if message.context else ""
        one, *many = english(message)
        if many:
            assert {program.ngettext(context + one, context + many[0], number) for number in (1, 2)} == set(
                translated(message)
            )
        else:
            assert (program.gettext(context + one),) == translated(message)


def test_a_message_without_a_translation_is_an_error_and_not_english() -> None:
    for path in CATALOGUES:
        with pytest.raises(KeyError):
            catalogue(path.parents[1].name).gettext("no such message")
        with pytest.raises(KeyError):
            catalogue(path.parents[1].name).ngettext("{n} such message", "{n} such messages", 2)


def test_messages_are_collected_from_f_strings_and_conditional_expressions() -> None:
    """Babel's own way of reading Python passes these by."""
    source = (
        b"""a = f"! {words('in an f-string')}"\n"""
        b"""b = words("one" if one else "other" if other else UNLIKE)\n"""
        b"""c = words(NC_("page", "Ask")), words.count("1 run", "{n} runs", n), {"x": N_("marked")}\n"""
        b"""d = effects.count("changed"), words(text)\n"""
    )
    method: Any = python_messages
    found = {(message, context) for _, message, _, context in extract(method, BytesIO(source), SHOWN)}
    plain = {("in an f-string", None), ("one", None), ("other", None), ("marked", None)}
    assert found == plain | {("Ask", "page"), (("1 run", "{n} runs"), None)}


def test_no_message_is_put_together_where_nothing_can_collect_it() -> None:
    """A message is a whole text, one of a conditional expression, or comes from where it was marked."""
    for folder in ("components", "pages", "plugins"):
        for path in (ROOT / folder).rglob("*.py"):
            for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "words":
                    made = [item for item in choices(call.args[0]) if isinstance(item, ast.JoinedStr | ast.BinOp)]
                    assert not made, f"{path.name}:{call.lineno}"


def test_a_chat_model_has_one_name_in_chinese() -> None:
    (catalogue,) = [path.read_text(encoding="utf-8") for path in CATALOGUES if path.parents[1].name == "zh"]
    assert "对话模型" in catalogue and "聊天模型" not in catalogue
