"""People who sign in, without a provider: what the doors of a process do with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engine.api.signed_in import Doors
from engine.engine import Engine
from engine.people import Person
from engine.people.acting import require_sign_in
from engine.people.doors import note_changes
from engine.people.page_cookie import PageCookies

VIEWER = Person("vera@example.org", "Vera", "viewer")
EDITOR = Person("edith@example.org", "Edith", "editor")
ADMIN = Person("ada@example.org", "Ada", "admin")
PEOPLE = (VIEWER, EDITOR, ADMIN)
COOKIES = PageCookies.of("a secret of the tests")


@contextmanager
def people_sign_in(engine: Engine, of_page: Callable[[], Person | None] = lambda: None) -> Iterator[Doors]:
    """While this lasts people have to sign in; ``of_page`` is who looks at the page of the test's thread."""

    def found() -> Person | None:
        person = of_page()
        return engine.team.admitted(person) if person is not None else None

    require_sign_in(found)
    note_changes(engine.team.note)
    try:
        yield Doors(COOKIES, lambda _: None, engine.team.person_of_token, engine.team.admitted)
    finally:
        require_sign_in(None)
        note_changes(None)
