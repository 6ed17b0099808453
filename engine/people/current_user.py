"""Current user of this thread or task: set where a request enters the process, read wherever it matters.

Without sign-in that is always :data:`LOCAL`. With it, a thread or task that no door has said anything of is refused:
what is forgotten fails closed. Work handed to an event loop or to ``asyncio.to_thread`` carries the person along;
a thread of one's own does so where it is started with :func:`with_current_user`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import ParamSpec, TypeVar

from engine.errors import NotSignedIn
from engine.model.people import Person

_P = ParamSpec("_P")
_T = TypeVar("_T")

LOCAL = Person("", "", "admin")
"""Who sits at a workbench without sign-in, and who types commands on its machine."""
WORKBENCH = Person("", "Workbench", "admin")
"""The program itself: while it starts and ends, and where it continues what a person was allowed to begin."""

_acting: ContextVar[Person | None] = ContextVar("acting", default=None)
_found: Callable[[], Person | None] | None = None


def require_sign_in(found: Callable[[], Person | None] | None) -> None:
    """Let only those act whom a door has set, or whom ``found`` knows of the page that runs in this thread.

    None ends that: everybody is :data:`LOCAL` again. There is one engine in a process, and so one answer to this.
    """
    global _found  # noqa: PLW0603 - as the engine, it belongs to the process
    _found = found


def signing_in() -> bool:
    """Return whether people have to sign in."""
    return _found is not None


def current_user() -> Person:
    """Return the current user; raises ``NotSignedIn`` if unknown."""
    person = _acting.get()
    if person is not None:
        return person
    if _found is None:
        return LOCAL
    person = _found()
    if person is None:
        raise NotSignedIn()
    return person


@contextmanager
def acting_as(person: Person) -> Iterator[None]:
    """Let ``person`` act within this block, and in all that is started in it."""
    before = _acting.set(person)
    try:
        yield
    finally:
        _acting.reset(before)


def with_current_user(work: Callable[_P, _T]) -> Callable[_P, _T]:
    """``work`` for a thread of its own, where it acts for the person who acts now."""
    if _found is None:
        return work
    person, context = current_user(), copy_context()

    def run(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        with acting_as(person):
            return work(*args, **kwargs)

    # A copy for each call: only one thread at a time can be in a context.
    return lambda *args, **kwargs: context.copy().run(run, *args, **kwargs)
