"""The tables of README and docs and the pictures of the workflows: ``python -m tests.docs --write`` makes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from pydantic import BaseModel, SecretStr

import engine.errors
from components.common.i18n import UiLanguage, words_for
from components.picture.export import workflow_svg
from engine.errors import WorkbenchError
from engine.errors.base import _ROWS, BoundMessage
from engine.evaluation.bars import OF_EVALUATION
from engine.evaluation.measured_models import measured_models
from engine.evaluation.measures import MEASURES
from engine.flow import compiled, workflows
from engine.flow.graph import graph_of
from engine.model.config import SETTINGS, WORKFLOWS, RunConfig, Setting
from engine.plugins import plugins
from engine.settings import Settings
from tests.docs.figures import kinds_table, loops_table, samples_table, table
from tests.docs.model_tables import (
    costs_table,
    graders_table,
    judges_table,
    rewriters_table,
    runs_table,
    verifiers_table,
)
from tests.support.brought import brought

README = Path(__file__).resolve().parents[2] / "README.md"
WORKFLOW_PAGES = README.parent / "docs" / "workflows"
_HERE = {plugin.name for plugin in plugins()}
_PLUGIN_PAGE = re.compile(r"# .*\n\nThe plug-in `(\w+)`")
"""How the page of a plug-in begins."""


def _is_here(page: Path) -> bool:
    plugin = _PLUGIN_PAGE.match(page.read_text(encoding="utf-8"))
    return plugin is None or plugin[1] in _HERE


CHINESE = README.parent / "docs" / "zh"
"""Pages in Chinese, below the path of the English page that each stands for."""
PAGES = (README, *filter(_is_here, sorted((README.parent / "docs").glob("*.md"))), *sorted(CHINESE.rglob("*.md")))
"""Pages of the core, which may hold tables made from the code, and of the plug-ins that are here."""
IMAGES = README.parent / "docs" / "images"
_BLOCK = re.compile(r"(<!-- table: (?P<name>[a-z0-9.]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def settings_table(settings: type[BaseModel] = Settings) -> str:
    """Every ``WORKBENCH_*`` variable with its default and what it means."""
    rows = [
        (f"`WORKBENCH_{name.upper()}`", _code(_plain(field.default)), str(field.description))
        for name, field in settings.model_fields.items()
    ]
    return table(("variable", "default", "meaning"), rows)


def parameters_table() -> str:
    """Every parameter of a run with its range, default, usual range, and the words the page has for it."""
    defaults = RunConfig()
    rows = []
    for name, setting in sorted(SETTINGS.items(), key=lambda item: item[1].limits is None):
        usual = "{:g}–{:g}".format(*setting.limits.usual) if setting.limits and setting.limits.usual else ""
        rows.append((f"`{name}`", _span(setting), _value(setting, getattr(defaults, name)), usual, _help(setting)))
    return table(("parameter", "range", "default", "usual", "meaning"), rows)


def options_table() -> str:
    """What only one workflow has: its options with range, default, and the words the page has for them."""
    rows = [
        (f"`{workflow}`", f"`{name}`", _span(setting), _value(setting, setting.default), _help(setting))
        for workflow, own in workflows().items()
        for name, setting in own.own_settings.items()
    ]
    return table(("workflow", "option", "range", "default", "meaning"), rows)


def measures_table(language: UiLanguage = "en", heads: tuple[str, str] = ("measure", "meaning")) -> str:
    """Every measure of an evaluation as the command line writes it, and what it is."""
    words = words_for(language)
    rows = [
        (f"`{written}{'@K' if MEASURES[name].ranked else ''}`", words(MEASURES[name].help))
        for written, name in OF_EVALUATION.items()
    ]
    return table(heads, rows)


def _span(setting: Setting) -> str:
    if setting.limits:
        return f"{setting.limits.low:g}–{setting.limits.high:g}"
    return " \\| ".join(f"`{choice}`" for choice in setting.choices or ("false", "true"))


def _value(setting: Setting, value: object) -> str:
    return f"{value:g}" if setting.limits else _code(value)


def pictures() -> dict[Path, str]:
    """A drawing of every workflow in each language, made from its compiled graph."""
    ends: dict[UiLanguage, str] = {"en": ".svg", "zh": ".zh.svg"}
    return {
        IMAGES / f"workflow-{name}{end}": workflow_svg(graph_of(compiled(name)), None, words_for(language)) + "\n"
        for name in WORKFLOWS
        for language, end in ends.items()
    }


def errors_table(*modules: ModuleType) -> str:
    """Every error that modules state, by its code, with its HTTP status, what it says and what to do."""
    own = [row for module in modules for row in _stated_in(module)]
    said = sorted({(row.code, row.status, row.message.fact, row.message.remedy) for row in own})
    return table(
        ("code", "HTTP", "what it says", "what to do"),
        [(f"`{code}`", str(status), _template(fact), _template(remedy)) for code, status, fact, remedy in said],
    )


def _has_errors(plugin: str) -> bool:
    return (README.parent / "plugins" / plugin / "errors.py").is_file()


def _stated_in(module: ModuleType) -> Iterator[BoundMessage[WorkbenchError]]:
    for value in vars(module).values():
        if isinstance(value, BoundMessage):
            yield value
        elif isinstance(value, type) and issubclass(value, WorkbenchError) and value.__module__ == module.__name__:
            yield from (BoundMessage(value, item) for item in value.messages() if item not in _ROWS.get(value, ()))


def _errors_of_core() -> str:
    names = [item.name for item in iter_modules(engine.errors.__path__)]
    return errors_table(*(import_module(f"engine.errors.{name}") for name in names))


def _errors_of(plugin: str) -> str:
    return errors_table(import_module(f"plugins.{plugin}.errors"))


def _template(text: str) -> str:
    return text.replace("!r}", "}").replace("{{", "{").replace("}}", "}").replace("|", "\\|")


TABLES: Mapping[str, Callable[[], str]] = {
    "settings": settings_table,
    "parameters": parameters_table,
    "options": options_table,
    "measures": measures_table,
    "zh.measures": partial(measures_table, "zh", ("指标", "含义")),
    "samples": samples_table,
    "kinds": kinds_table,
    "loops": loops_table,
    "models.graders": lambda: graders_table(measured_models()),
    "models.costs": lambda: costs_table(measured_models()),
    "models.judges": lambda: judges_table(measured_models()),
    "models.rewriters": lambda: rewriters_table(measured_models()),
    "models.runs": lambda: runs_table(measured_models()),
    "models.verifiers": lambda: verifiers_table(measured_models()),
    "errors": _errors_of_core,
    **{f"{item.name}.settings": partial(settings_table, item.settings) for item in plugins() if item.settings},
    **{f"{item.name}.errors": partial(_errors_of, item.name) for item in plugins() if _has_errors(item.name)},
    **brought("TABLES"),
}


def with_tables(text: str) -> str:
    """The text with what stands between its markers made again; raises ``KeyError`` for an unknown table."""
    return _BLOCK.sub(lambda found: f"{found[1]}{TABLES[found['name']]()}\n{found[3]}", text)


def tables_in(text: str) -> list[str]:
    """Names of the tables that the text has markers for."""
    return [found["name"] for found in _BLOCK.finditer(text)]


def _help(setting: Setting) -> str:
    # The usual range has a column of its own.
    return re.sub(r" Usual: [^ ]+\.$", "", setting.help)


def _plain(value: Any) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _code(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text}`" if text else "(empty)"
