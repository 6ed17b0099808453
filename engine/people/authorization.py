"""What each operation needs, declared on the method or route that does it, and the log of changes that people make.

A public method of an :func:`authorized` class without a declaration stops the program at its import; a route without
one is for admins alone (``engine/api/incoming.py``), and fails a test.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final, TypeVar

from engine.errors import NotAllowed
from engine.model.people import Person, Role
from engine.people.current_user import LOCAL, acting_as, current_user

_C = TypeVar("_C", bound=type)
_F = TypeVar("_F", bound=Callable[..., Any])

RESULT: Final = "="
"""Stands for what an operation returns, where that names what it was done to."""
_UNSAID: Final = object()


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that can be done."""

    least: Role
    log: str = ""
    """Its words in the log of changes; empty where it changes nothing, or where what it calls is logged."""
    on: tuple[str, ...] = ()
    """Parameters that name what it is done to; empty: the first one."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change that a person made."""

    person: Person
    operation: str
    """Class and method, such as ``Library.drop``."""
    on: str
    """What it was done to."""


OPERATIONS: dict[type, Mapping[str, Operation | None]] = {}
"""By the class and the name of the method; None for what the process itself calls."""

_note: Callable[[Change], None] | None = None
_noted: ContextVar[bool] = ContextVar("noted", default=False)
"""Whether the present work is part of a change that is logged as a whole."""


def needs(least: Role, *, log: str = "", on: tuple[str, ...] = ()) -> Callable[[_F], _F]:
    """Declare the least role for a method or route, and its line in the log of changes.

    >>> @needs("editor", log="Label set")
    ... def set_label(passage: str) -> None: ...
    >>> declared(set_label).least
    'editor'
    """
    return _declaring(Operation(least, log, on))


def internal(method: _F) -> _F:
    """Declare that the process itself calls a method, no matter who acts: opening, closing, what only says its kind."""
    return _declaring(None)(method)


def declared(function: Callable[..., Any]) -> Operation | None:
    """Return what a method or route needs, None if it is internal; raises ``LookupError`` if it does not say."""
    found = getattr(function, "__needs__", _UNSAID)
    if found is not None and not isinstance(found, Operation):
        raise LookupError(function)
    return found


def note_changes(note: Callable[[Change], None] | None) -> None:
    """Report every change that people make from now on to ``note``; without sign-in there are none."""
    global _note  # noqa: PLW0603 - one log for the process, as there is one engine
    _note = note


def require_role(person: Person, least: Role) -> None:
    """Raise ``NotAllowed`` unless a person's role is at least this one."""
    if not person.may(least):
        raise NotAllowed.admins() if least == "admin" else NotAllowed.editors()


def authorized(cls: _C) -> _C:
    """Make every public method and property of a class, inherited ones too, require the role that it declares.

    Raises ``TypeError`` if one declares none, so that none can be forgotten.
    """
    operations: dict[str, Operation | None] = {}
    members = {name: value for base in reversed(cls.__mro__) for name, value in vars(base).items()}
    for name, value in members.items():
        method = _function(value)
        if name.startswith("_") or method is None:
            continue
        try:
            operations[name] = operation = declared(method)
        except LookupError:
            if name not in vars(cls):  # of a base without rights, such as how a file is closed
                continue
            raise TypeError(f"{cls.__name__}.{name} must say who may call it: @needs(…) or @internal") from None
        if operation is not None:
            through = _through(f"{cls.__name__}.{name}", operation, method)
            setattr(cls, name, through if method is value else type(value)(through))
    OPERATIONS[cls] = operations
    return cls


def _declaring(operation: Operation | None) -> Callable[[_F], _F]:
    def declaring(function: _F) -> _F:
        function.__needs__ = operation  # type: ignore[attr-defined]
        return function

    return declaring


def _function(value: object) -> Callable[..., Any] | None:
    """Return the function behind a public name; None for what is no method."""
    if isinstance(value, property):
        assert value.fget is not None and value.fset is None
        return value.fget
    if isinstance(value, classmethod | staticmethod):
        return value.__func__
    return value if inspect.isfunction(value) else None


def _through(name: str, operation: Operation, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def through(*args: Any, **kwargs: Any) -> Any:
        person = current_user()
        if person is LOCAL:
            return method(*args, **kwargs)
        require_role(person, operation.least)
        if not operation.log or _noted.get():
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
    """Name the object of a change in one line."""
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
