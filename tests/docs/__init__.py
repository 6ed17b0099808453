"""The tables of README and docs and the pictures of the workflows: ``python -m tests.docs --write`` makes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

from pydantic import SecretStr

from components.common.i18n import words_for
from components.labels.settings import SETTING_HELPS
from components.picture.export import workflow_svg
from engine.model.config import (
    OPTION_PARAMETERS,
    OPTIONS,
    PARAMETERS,
    WORKFLOWS,
    ContextPolicy,
    GatePolicy,
    Mode,
    RunConfig,
    SearchMethod,
)
from engine.settings import Settings
from engine.workflows import compiled
from engine.workflows.graph import graph_of
from engine.workflows.graph_hybrid.options import ModeFrom, Reranking
from engine.workflows.quality_loop.options import GradeOn
from tests.docs.figures import kinds_table, loops_table, samples_table, table

README = Path(__file__).resolve().parents[2] / "README.md"
WORKFLOW_PAGES = README.parent / "docs" / "workflows"
PAGES = (README, *sorted((README.parent / "docs").glob("*.md")))
"""Pages that may hold tables made from the code."""
IMAGES = README.parent / "docs" / "images"
_BLOCK = re.compile(r"(<!-- table: (?P<name>[a-z]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_OPTION_CHOICES: Mapping[str, tuple[str, ...]] = {
    "grade_on": get_args(GradeOn),
    "rerank": get_args(Reranking),
    "mode_from": get_args(ModeFrom),
}
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "mode": get_args(Mode),
    "search": get_args(SearchMethod),
    "gate": get_args(GatePolicy),
    "context": get_args(ContextPolicy),
    "answer_unverified": ("false", "true"),
    "grade_probe": ("false", "true"),
    "ignore_cache": ("false", "true"),
}


def settings_table() -> str:
    """Every ``WORKBENCH_*`` variable with its default and what it means."""
    rows = [
        (f"`WORKBENCH_{name.upper()}`", _code(_plain(field.default)), str(field.description))
        for name, field in Settings.model_fields.items()
    ]
    return table(("variable", "default", "meaning"), rows)


def parameters_table() -> str:
    """Every parameter of a run with its range, default, usual range, and the words the page has for it."""
    numbers = [
        (
            f"`{name}`",
            f"{limits.low:g}–{limits.high:g}",
            f"{limits.default:g}",
            "{:g}–{:g}".format(*limits.usual) if limits.usual else "",
            _help(name),
        )
        for name, limits in PARAMETERS.items()
    ]
    defaults = RunConfig()
    choices = [
        (f"`{name}`", " \\| ".join(f"`{choice}`" for choice in values), _code(getattr(defaults, name)), "", _help(name))
        for name, values in _CHOICES.items()
    ]
    return table(("parameter", "range", "default", "usual", "meaning"), [*numbers, *choices])


def options_table() -> str:
    """What only one workflow has: its options with range, default, and the words the page has for them."""
    rows = []
    for workflow in WORKFLOWS:
        for item in fields(OPTIONS[workflow]):
            limits = OPTION_PARAMETERS[workflow].get(item.name)
            choices = _OPTION_CHOICES.get(item.name, ("false", "true"))
            span = f"{limits.low:g}–{limits.high:g}" if limits else " \\| ".join(f"`{choice}`" for choice in choices)
            default = getattr(OPTIONS[workflow](), item.name)
            shown = f"{default:g}" if limits else _code(default)
            rows.append((f"`{workflow}`", f"`{item.name}`", span, shown, _help(item.name)))
    return table(("workflow", "option", "range", "default", "meaning"), rows)


def pictures() -> dict[Path, str]:
    """A drawing of every workflow, made from its compiled graph."""
    words = words_for("en")
    return {
        IMAGES / f"workflow-{name}.svg": workflow_svg(graph_of(compiled(name)), None, words) + "\n"
        for name in WORKFLOWS
    }


TABLES: Mapping[str, Callable[[], str]] = {
    "settings": settings_table,
    "parameters": parameters_table,
    "options": options_table,
    "samples": samples_table,
    "kinds": kinds_table,
    "loops": loops_table,
}


def with_tables(text: str) -> str:
    """The text with what stands between its markers made again; raises ``KeyError`` for an unknown table."""
    return _BLOCK.sub(lambda found: f"{found[1]}{TABLES[found['name']]()}\n{found[3]}", text)


def tables_in(text: str) -> list[str]:
    """Names of the tables that the text has markers for."""
    return [found["name"] for found in _BLOCK.finditer(text)]


def _help(name: str) -> str:
    # The usual range has a column of its own.
    return re.sub(r" Usual: [^ ]+\.$", "", SETTING_HELPS[name])


def _plain(value: Any) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _code(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text}`" if text else "(empty)"
