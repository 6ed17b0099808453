"""People who have to sign in, without a plug-in that lets them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engine.engine import Engine
from engine.people import Person
from engine.people.current_user import require_sign_in

VIEWER = Person("vera@example.org", "Vera", "viewer")
EDITOR = Person("edith@example.org", "Edith", "editor")
ADMIN = Person("ada@example.org", "Ada", "admin")
PEOPLE = (VIEWER, EDITOR, ADMIN)


@contextmanager
def signing_in(engine: Engine, of_page: Callable[[], Person | None] = lambda: None) -> Iterator[None]:
    """While this lasts people have to sign in; ``of_page`` is who looks at the page of the test's thread."""

    def found() -> Person | None:
        person = of_page()
        return engine.limits.admitted(person) if person is not None else None

    require_sign_in(found)
    try:
        yield
    finally:
        require_sign_in(None)
