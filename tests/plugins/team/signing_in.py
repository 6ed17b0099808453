"""People who sign in, without a provider: what the doors of a process do with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engine.engine import Engine
from engine.people import Person
from engine.people.authorization import note_changes
from plugins.team.page_cookie import PageCookies
from plugins.team.signed_in import Doors
from plugins.team.team import Team
from tests.support.people import signing_in

COOKIES = PageCookies.of("a secret of the tests")


@contextmanager
def people_sign_in(engine: Engine, of_page: Callable[[], Person | None] = lambda: None) -> Iterator[Doors]:
    """:func:`signing_in` as the plug-in does it, with the log of changes."""
    team = Team.of(engine)
    note_changes(team.note_change)
    try:
        with signing_in(engine, of_page):
            yield Doors(COOKIES, lambda _: None, team.person_of_token, engine.limits.admitted)
    finally:
        note_changes(None)
