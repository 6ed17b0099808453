"""Definition of a setting: its values, and its labels on every page, command and table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal, cast

from engine.errors import InvalidConfig

Widget = Literal["slider", "box", "choice", "switch"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """Range, default and usual range of one number of a run (SC-08)."""

    low: float
    high: float
    default: float
    step: float
    whole: bool
    usual: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: a number within ``limits``, one of ``choices``, or a switch where it has neither."""

    default: Any
    name: str
    """A message, as is ``help``."""
    help: str = ""
    limits: Parameter | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
    """Name of each value."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What is said below while a value is chosen."""
    group: str = ""
    """Heading of the box of the panel in which it stands, closed at first; empty for none."""
    boxed: bool = False
    """Whether its number is typed instead of moved on a slider."""

    @property
    def widget(self) -> Widget:
        """The control that sets it."""
        if self.limits is not None:
            return "box" if self.boxed else "slider"
        return "choice" if self.choices else "switch"


def number(
    bounds: tuple[float, float, float, float],
    name: str,
    help: str = "",
    *,
    whole: bool = False,
    usual: tuple[float, float] | None = None,
    group: str = "",
    boxed: bool = False,
) -> Any:
    """Declare a field that is a number; ``bounds``: lowest, highest, default, step of its slider."""
    low, high, default, step = bounds
    limits = Parameter(low, high, default, step, whole, usual)
    start = int(default) if whole else float(default)
    return _declared(Setting(start, name, help, limits=limits, group=group, boxed=boxed))


def choice(
    choices: Mapping[str, str],
    name: str,
    help: str = "",
    *,
    default: str = "",
    group: str = "",
    notes: Mapping[str, str] | None = None,
) -> Any:
    """Declare a field that is one of a few values, the first of them unless ``default`` is another."""
    usual = default or next(iter(choices))
    return _declared(Setting(usual, name, help, choices=choices, group=group, notes=notes or {}))


def switch(name: str, help: str = "", *, default: bool = False, group: str = "") -> Any:
    """Declare a field that is on or off."""
    return _declared(Setting(default, name, help, group=group))


def _declared(setting: Setting) -> Any:
    return field(default=setting.default, metadata={"setting": setting})


@cache
def settings_in(declared: Hashable) -> Mapping[str, Setting]:
    """The settings that a dataclass declares, by the name of their field, in its order."""
    found = {item.name: item.metadata["setting"] for item in fields(cast(Any, declared)) if "setting" in item.metadata}
    return MappingProxyType(found)


@cache
def numbers_in(declared: Hashable) -> Mapping[str, Parameter]:
    """The ranges of those settings of a dataclass that are numbers."""
    return MappingProxyType({name: item.limits for name, item in settings_in(declared).items() if item.limits})


@dataclass(frozen=True, slots=True)
class Options:
    """Options of one workflow beyond :class:`RunConfig`; a subclass declares each of its settings."""

    def __post_init__(self) -> None:
        check_settings(self)
        self.check()

    def check(self) -> None:
        """Raise ``InvalidConfig`` where the settings do not go together."""

    now_shared: ClassVar[tuple[str, ...]] = ()
    """Settings of ``RunConfig`` that earlier versions had here; they are read here still."""
    has_gates: ClassVar[bool] = False
    """Whether :meth:`gate_of` may say another gate: it is asked for every candidate of every replay."""

    def gate_of(self, item: Any, gate: str) -> str:
        """The gate of a candidate where it may be another than ``gate``, which rank and similarity give it."""
        return gate


def check_settings(value: object) -> None:
    """Hold every declared setting of ``value`` against what it may be; raises ``InvalidConfig``."""
    for name, setting in settings_in(cast(Hashable, type(value))).items():
        given = getattr(value, name)
        if setting.limits is not None:
            object.__setattr__(value, name, checked(name, given, setting.limits))
        elif setting.choices:
            require(name, given, tuple(setting.choices))
        elif not isinstance(given, bool):
            raise InvalidConfig.not_one_of(field=name, allowed=("true", "false"))


def checked(name: str, value: object, parameter: Parameter) -> int | float:
    """The number as a config holds it, rounded to four decimals; raises ``InvalidConfig`` outside its range."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidConfig.not_a_number(field=name, low=parameter.low, high=parameter.high)
    if not parameter.low <= value <= parameter.high:
        raise InvalidConfig.out_of_range(field=name, low=parameter.low, high=parameter.high)
    exact = float(value)
    if not parameter.whole:
        return round(exact, 4)
    if exact != int(exact):
        raise InvalidConfig.not_whole(field=name, low=parameter.low, high=parameter.high)
    return int(exact)


def require(field_name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise ``InvalidConfig`` for a value that is none of ``allowed``."""
    if value not in allowed:
        raise InvalidConfig.not_one_of(field=field_name, allowed=allowed)
