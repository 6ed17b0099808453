"""Declaration of a tool: a method with docstring and typed parameters, and its effects on the workbench."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BeforeValidator, Field

from components.common.i18n import UiLanguage as Language
from components.runs.in_words import InWords
from engine.engine import Engine
from engine.flow import workflow
from engine.model.config import WORKFLOWS, RunConfig
from engine.model.config.role_models import MODEL_PARAMETERS
from engine.model.config.setting import settings_in

Mode = Literal["read", "write"]
Effect = Literal["looks", "adds", "changes"]
"""``adds`` leaves something new and changes nothing that was there."""
_Method = TypeVar("_Method", bound=Callable[..., Any])
_MARK = "__tool__"

RunNamed = Annotated[str, Field(description="id of a run")]
CollectionNamed = Annotated[str, Field(description="name of a collection")]


def with_numbers(given: Any) -> Any:
    """Settings with numbers and switches that a model wrote as texts, such as "3" and "true", as what they are.

    What is none is left for the config to refuse.
    """
    if not isinstance(given, Mapping):
        return given
    return {name: _plain(str(name), value) for name, value in given.items()}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return with_numbers(value)
    if isinstance(value, list):
        return [_plain(name, item) for item in value]
    if not isinstance(value, str) or name not in _NOT_TEXTS:
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


_NOT_TEXTS: Final = frozenset(
    {
        *MODEL_PARAMETERS,
        *(
            name
            for kind in (RunConfig, *(workflow(name).options for name in WORKFLOWS))
            for name, setting in settings_in(kind).items()
            if not setting.choices
        ),
    }
)
"""The settings that are numbers or switches."""
SettingsGiven = Annotated[
    dict[str, Any],
    BeforeValidator(with_numbers),
    Field(description="settings by name, as list_settings has them"),
]
InLanguage = Annotated[Language, Field(description="of the sentences")]


@dataclass(frozen=True, slots=True)
class Effects:
    """Effects of a tool, in the form of MCP's hints."""

    title: str
    effect: Effect = "looks"
    mode: Mode = "read"
    """The least mode that has it."""
    again: bool = True
    """Whether calling it once more with the same arguments changes nothing further."""
    asks: bool = False
    """Whether chat models or the web may be asked."""

    def in_mode(self, mode: Mode) -> bool:
        return mode == "write" or self.mode == "read"


@dataclass(frozen=True, slots=True)
class Bench:
    """Engine and limits that the tools work on."""

    get_engine: Callable[[], Engine]
    """Blocks where it has to open one."""
    mode: Mode
    telling: InWords = InWords()  # noqa: RUF009 - it holds nothing

    @property
    def engine(self) -> Engine:
        engine = self.get_engine()
        if engine.opening_fault is not None:
            # What kept it from opening may be over, such as another process that had the folder.
            engine.open_again()
        return engine


class Tools:
    """A group of tools: its public methods that are marked by :func:`tool`."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench


def tool(
    title: str, effect: Effect = "looks", mode: Mode = "read", *, again: bool = True, asks: bool = False
) -> Callable[[_Method], _Method]:
    """Mark a method as a tool; see :class:`Effects`."""
    effects = Effects(title, effect, mode, again, asks)

    def marked(method: _Method) -> _Method:
        setattr(method, _MARK, effects)
        return method

    return marked


def tools_in(group: type[Tools]) -> Iterator[tuple[str, Effects]]:
    """Names and effects of the tools of a group, in the order in which they are written."""
    for name, value in vars(group).items():
        effects = getattr(value, _MARK, None)
        if isinstance(effects, Effects):
            yield name, effects
