"""Every error states a fact and a remedy under a code of its own, so that no traceback is needed to act."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import engine.errors
from components.common.i18n import words_for
from components.common.phrases import fault_text
from engine.errors import (
    EvaluationError,
    Message,
    ModelError,
    WorkbenchError,
    classes,
    message_of,
    rows,
)
from engine.errors.base import BoundMessage
from engine.model.values import Fault
from engine.version import install_command

ROOT = Path(engine.errors.__file__).parents[2]
PLUGGED: dict[str, dict[str, BoundMessage[Any]]] = {}
"""Errors that plug-ins state outside of classes, by their names and by plug-in."""
for errors in sorted(ROOT.glob("plugins/*/errors.py")):
    for name, value in vars(import_module(f"plugins.{errors.parent.name}.errors")).items():
        if isinstance(value, BoundMessage):
            PLUGGED.setdefault(name, {})[errors.parent.name] = value
KINDS = {kind.__name__: kind for kind in classes(WorkbenchError)}
MADE = re.compile(rf"\b({'|'.join((*KINDS, *PLUGGED))})(\.\w+)?\(")
ROWS = list(rows(WorkbenchError))


def filled(row: BoundMessage[WorkbenchError]) -> WorkbenchError:
    """The error as it is raised; what a system says ends its sentence itself."""
    message = row.message
    ends = {"message", "why"} if message.fact.endswith("}") else set[str]()
    return row(
        **{name: "It said so." if name in ends else f"<{name}>" for name in message.fields - message.fixed.keys()}
    )


def calls() -> Iterator[tuple[str, Message | None, ast.Call]]:
    """Every place that makes an error, with its message; None where none is stated."""
    for folder in ("engine", "components", "pages", "plugins", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            # Reading all of the program and its tests as code would take most of the time of this file.
            for node in ast.walk(ast.parse(text)) if MADE.search(text) else ():
                place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
                match node:
                    case ast.Call(func=ast.Attribute(ast.Name(id=name) | ast.Attribute(attr=name), attr=which)) if (
                        name in KINDS
                    ):
                        if which not in ("restored", "row"):
                            yield place, vars(KINDS[name]).get(which), node
                    case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in KINDS:
                        stated = "fact" in vars(KINDS[name])
                        yield place, next(iter(KINDS[name].messages())) if stated else None, node
                    case ast.Call(func=ast.Name(id=name)) if name in PLUGGED and path.parent.name in PLUGGED[name]:
                        yield place, PLUGGED[name][path.parent.name].message, node


def test_every_call_names_the_parameters_of_its_message() -> None:
    seen = 0
    for place, message, call in calls():
        assert isinstance(message, Message), f"{place} states no message"
        assert not call.args, f"{place} gives a parameter without its name"
        named = {str(item.arg) for item in call.keywords} | message.fixed.keys()
        known = {"program", "command"} if "package" in named else {"program"}
        assert message.fields - known <= named <= message.fields | message.fixed.keys() | {"package"}, place
        seen += 1
    assert seen > 400


def test_every_code_belongs_to_one_class_and_has_one_status() -> None:
    stated = {(row.code, row.status) for row in ROWS}
    assert len(stated) == len({code for code, _ in stated}) > 100
    owners: dict[str, set[type[WorkbenchError]]] = {}
    for row in ROWS:
        if row.message.code or "code" in vars(row.kind):
            owners.setdefault(row.code, set()).add(row.kind)
    for code, kinds in owners.items():
        assert re.fullmatch(r"WB\d{3}", code)
        # Or to classes, one of them the base of the others.
        bases = kinds - {WorkbenchError}
        assert len(kinds) == 1 or any(all(issubclass(kind, base) for kind in kinds) for base in bases), code


def test_every_error_says_what_happened_and_what_to_do() -> None:
    for row in ROWS:
        error = filled(row)
        assert (error.code, error.status) == (row.code, row.status)
        assert error.fact.endswith((".", ":")), error.fact
        assert error.remedy.endswith("."), error.remedy
        assert str(error) == f"{error.fact} {error.remedy}"
        first = row.message.remedy.split()[0]
        assert first[0].isupper() or first.startswith("{advice}"), "a remedy is a sentence that tells what to do"


def test_a_record_keeps_what_a_page_needs_to_say_it_in_another_language() -> None:
    for row in ROWS:
        error = filled(row)
        fault = Fault.of(error, "grade")
        assert (fault.code, fault.fact, fault.remedy, fault.node) == (error.code, error.fact, error.remedy, "grade")
        assert all(isinstance(value, str) for value in fault.params.values())
        found = message_of(fault.code, fault.fact, fault.params)
        assert found is not None and (found.fact, found.remedy) == (row.message.fact, row.message.remedy)


def test_parameters_are_kept_as_they_stand_in_the_sentences() -> None:
    error = engine.errors.InvalidConfig.not_one_of(field="mode", allowed=("naive", "mix"))
    assert error.params == {"field": "mode", "allowed": "naive, mix"}
    assert error.fact == "mode must be one of: naive, mix."
    assert engine.errors.StoreError.slow(seconds=0.1 + 0.2).params == {"seconds": "0.3"}
    assert len(engine.errors.UnknownRun(run="r" * 100_000).params["run"]) == 1000
    assert engine.errors.RecordError.tag_blank().params == {"field": "tag"}


def test_a_sentence_ends_with_one_full_stop_even_where_a_parameter_brings_its_own() -> None:
    """A note, a system's words or another fault may be a whole sentence."""
    error = EvaluationError.data_set_unusable(name="q.csv", cause="line 2: the question is missing.")
    assert error.fact == "'q.csv' cannot be read as a set of questions: line 2: the question is missing."
    assert error.params["cause"] == "line 2: the question is missing"


def test_an_error_of_another_process_keeps_its_sentences() -> None:
    error = engine.errors.SourceEmpty.restored("'{a}' is empty.", "Fill it.", {"name": "{a}"})
    assert (error.code, str(error), error.params) == ("WB303", "'{a}' is empty. Fill it.", {"name": "{a}"})


def test_a_foreign_exception_is_named_without_its_text() -> None:
    fault = Fault.of(RuntimeError("password=secret"))
    assert "secret" not in f"{fault.fact}{fault.remedy}{dict(fault.params)}"
    assert "RuntimeError" in fault.fact


def test_a_remedy_names_the_command_of_the_environment_that_it_is_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bare `pip install` would change another environment: the one that a shell finds first."""

    def remedy() -> str:
        return ModelError.cross_encoder_without_package(model="m").remedy

    monkeypatch.setattr("sys.prefix", str(tmp_path))
    for python, shown in (
        (ROOT / ".venv" / "bin" / "python", ".venv/bin/python"),
        (Path("/opt/rag/bin/python"), "/opt/rag/bin/python"),
        (Path("/my files/bin/python"), '"/my files/bin/python"'),
    ):
        monkeypatch.setattr("sys.executable", str(python))
        assert f"`{shown} -m pip install fastembed`" in remedy()
    (tmp_path / "uv-receipt.toml").touch()
    assert "`uv tool install --with fastembed rag-workbench`" in remedy()
    (tmp_path / "pipx_metadata.json").touch()
    assert "`pipx install rag-workbench && pipx inject rag-workbench fastembed`" in remedy()
    (tmp_path / "venvs" / "rag-workbench").mkdir(parents=True)
    (tmp_path / "venvs" / "rag-workbench" / "pipx_metadata.json").touch()
    monkeypatch.setattr("sys.prefix", str(tmp_path / "venvs" / "rag-workbench"))
    assert "`pipx inject rag-workbench fastembed`" in remedy()
    assert install_command("psycopg[binary]") == 'pipx inject rag-workbench "psycopg[binary]"'


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        ('{"url": "file:///my%20files/a.whl", "archive_info": {}}', '"/my files/a.whl"'),
        ('{"url": "file:///checkout", "dir_info": {}}', "/checkout"),
        ('{"url": "https://host.example/rag", "vcs_info": {"vcs": "git"}}', "git+https://host.example/rag"),
    ],
)
def test_a_remedy_installs_again_from_where_the_program_came(
    origin: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that came from a file is on no index."""
    described = tmp_path / "rag_workbench-0.1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: rag-workbench\nVersion: 0.1.0\n")
    (described / "direct_url.json").write_text(origin)
    (tmp_path / "uv-receipt.toml").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    assert f"`uv tool install --with fastembed {said}`" in ModelError.cross_encoder_without_package(model="m").remedy


def test_a_fault_of_an_earlier_record_is_said_with_what_messages_know_today() -> None:
    """A record keeps the parameters of its time, which did not hold the command."""
    fault = Fault("WB341", "m needs a package that is not installed here.", "…", {"package": "fastembed", "model": "m"})
    assert "-m pip install fastembed`" in fault_text(fault, words_for("zh"))[1]
