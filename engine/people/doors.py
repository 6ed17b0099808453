"""The doors of the engine: each public method of a guarded class asks first whether who acts may do this."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

from engine.errors import NotAllowed
from engine.model.people import Person, Role
from engine.people.acting import LOCAL, acting, acting_as
from engine.people.rights import OPERATIONS, RESULT, Operation, Operations

_C = TypeVar("_C", bound=type)


@dataclass(frozen=True, slots=True)
class Change:
    """Something that somebody changed."""

    person: Person
    operation: str
    """Class and method, as the table of rights names them."""
    on: str
    """What it was done to."""


_note: Callable[[Change], None] | None = None
_noted: ContextVar[bool] = ContextVar("noted", default=False)
"""Whether what goes on is part of a change that is noted as a whole."""


def note_changes(note: Callable[[Change], None] | None) -> None:
    """Tell ``note`` of every change that people make from now on; without sign-in there is none to tell of."""
    global _note  # noqa: PLW0603 - one log for the process, as there is one engine
    _note = note


def admit(person: Person, least: Role) -> None:
    """Raise ``NotAllowed`` unless somebody's role is at least this one."""
    if not person.may(least):
        raise NotAllowed.admins() if least == "admin" else NotAllowed.editors()


def guarded(cls: _C) -> _C:
    """Let every public method and property of a class pass by the table of rights."""
    return guarded_by(OPERATIONS[cls.__name__])(cls)


def guarded_by(known: Operations) -> Callable[[_C], _C]:
    """Let every public method and property of a class pass by ``known``.

    A public name that it lacks makes the class unusable at once, so that none can be forgotten.
    """

    def guard(cls: _C) -> _C:
        public = [name for name, value in vars(cls).items() if not name.startswith("_") and _callable(value)]
        if missing := sorted(set(public) ^ set(known)):
            raise TypeError(f"the table of rights and {cls.__name__} differ in: {', '.join(missing)}")
        for name in public:
            operation = known[name]
            if operation is not None:
                setattr(cls, name, _door(f"{cls.__name__}.{name}", operation, vars(cls)[name]))
        return cls

    return guard


def _callable(value: object) -> bool:
    return isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value)


def _door(name: str, operation: Operation, method: Any) -> Any:
    if isinstance(method, property):
        assert method.fget is not None and method.fset is None
        return property(_through(name, operation, method.fget))
    return _through(name, operation, method)


def _through(name: str, operation: Operation, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def through(*args: Any, **kwargs: Any) -> Any:
        person = acting()
        if person is LOCAL:
            return method(*args, **kwargs)
        admit(person, operation.least)
        if not operation.change or _noted.get():
            with acting_as(person):
                return method(*args, **kwargs)
        return _noting(Change(person, name, ""), operation, method, args, kwargs)

    return through


def _noting(
    change: Change, operation: Operation, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    before = _noted.set(True)
    try:
        with acting_as(change.person):
            result = method(*args, **kwargs)
    finally:
        _noted.reset(before)
    if _note is not None:
        given = inspect.signature(method).bind(*args, **kwargs).arguments
        _note(Change(change.person, change.operation, _named(operation.on, given, result)))
    return result


def _named(on: tuple[str, ...], given: Mapping[str, Any], result: object) -> str:
    """What a change was done to, in one line."""
    names = on or tuple(name for name in given if name != "self")[:1]
    found = [result if name == RESULT else _given(given, name) for name in names]
    return " · ".join(_shown(value) for value in found)


def _given(given: Mapping[str, Any], name: str) -> object:
    first, *rest = name.split(".")
    value: object = given.get(first, "")
    for part in rest:
        value = getattr(value, part)
    return value


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple | list | frozenset | set) else str(value)
