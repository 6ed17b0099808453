"""The people of an installation: its tokens, the log of changes, and how much each may run."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from engine.errors import NotAllowed, NotSignedIn
from engine.messages import N_
from engine.model.people import Person, Role
from engine.people.authorization import Change, authorized, internal, needs
from engine.people.current_user import current_user, signing_in
from engine.plugins import Part
from plugins.team.audit import LONGEST_OBJECT, SIGNED_IN, Entry
from plugins.team.people_records import PeopleRecords
from plugins.team.quota import Quota
from plugins.team.tokens import USUAL_DAYS, Token, digest, made, stamp

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.plugins import Inside

MOST_ENTRIES = 1000
"""Lines of the log that one call gives at most."""
_USED_EVERY = timedelta(minutes=1)
"""How often the last use of a token is written down."""
COMMAND_LINE = Person("command line", "Command line", "admin")
"""Who types commands on the machine of a running workbench."""


@authorized
class Team(Part):
    """Safe to call from any thread; every method blocks until it is done."""

    def __init__(self, engine: Engine, inside: Inside) -> None:
        self._records = PeopleRecords(engine.databases.people)
        self._quota = Quota(engine.settings, inside.store)
        self._local_token = engine.local_token
        """Lets in command lines on this machine, which may read the data folder."""

    @internal
    def room(self) -> AbstractContextManager[None]:
        return self._quota.room()

    # -- tokens -----------------------------------------------------------------------------------------------------

    @needs("admin")
    def tokens(self) -> list[Token]:
        """Every token, newest first, those that are over among them."""
        return self._records.tokens()

    @needs("admin", log=N_("Token made"), on=("name",))
    def make_token(
        self, name: str, role: Role = "viewer", days: int = USUAL_DAYS, collections: Sequence[str] | None = None
    ) -> tuple[Token, str]:
        """Make a token; its text is returned here and kept nowhere.

        Raises ``WorkbenchError``, ``NotAllowed.sign_in_off``.
        """
        if not signing_in():
            raise NotAllowed.sign_in_off()
        token, text = made(name, role, days, collections)
        token = replace(token, made_by=current_user().author)
        self._records.add_token(token)
        return token, text

    @needs("admin", log=N_("Token revoked"))
    def revoke_token(self, token_id: str) -> None:
        """Let a token be refused from now on; it stays in the list. Raises ``UNKNOWN_TOKEN``."""
        self._records.revoke_token(token_id, stamp(datetime.now(UTC)))

    # -- the log ----------------------------------------------------------------------------------------------------

    @needs("admin")
    def entries(self, before: int | None = None, limit: int = 100) -> list[Entry]:
        """Lines of the log, newest first, at most ``limit`` of those below a number."""
        return self._records.entries(before, max(1, min(limit, MOST_ENTRIES)))

    # -- for the doors, which know no person yet ----------------------------------------------------------------------

    @internal
    def person_of_token(self, text: str) -> Person:
        """Who a bearer token stands for; raises ``NotSignedIn``."""
        if secrets.compare_digest(text.encode("utf-8", "replace"), self._local_token.encode()):
            return COMMAND_LINE
        now = datetime.now(UTC)
        token = self._records.token_of(digest(text))
        if token is None:
            raise NotSignedIn.token_unknown()
        token.checked(now)
        if not token.used_at or now - datetime.fromisoformat(token.used_at) > _USED_EVERY:
            self._records.note_use(token.id, stamp(now))
        return token.person

    @internal
    def note_change(self, change: Change) -> None:
        """Add a change to the log."""
        who = change.person
        at = stamp(datetime.now(UTC))
        on = change.on[:LONGEST_OBJECT]
        self._records.add_entry(Entry(0, at, who.id, who.name, who.role, change.operation, on))

    @internal
    def note_sign_in(self, person: Person) -> None:
        """Add to the log that a person signed in."""
        self.note_change(Change(person, SIGNED_IN, ""))
