"""The people of an installation: its tokens, the limits of its collections, and the log of changes."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from engine.errors import NotAllowed, SignInOff, TokenRefused
from engine.model.people import Person, Role
from engine.people.acting import acting, signing_in
from engine.people.audit import LONGEST_OBJECT, SIGNED_IN, Entry
from engine.people.doors import Change, guarded
from engine.people.tokens import USUAL_DAYS, Token, digest, made, stamp

MOST_ENTRIES = 1000
"""Lines of the log that one call gives at most."""
_USED_EVERY = timedelta(minutes=1)
"""How often the last use of a token is written down."""
_LIMITS_KEPT_S = 1.0
"""How long another process may take to notice a limit that was set here."""
COMMAND_LINE = Person("command line", "Command line", "admin")
"""Who types commands on the machine of a running workbench."""
Limits = Mapping[str, frozenset[str]]
"""Groups by the name of the collection that is limited to them."""


class TeamRecords(Protocol):
    """Where it is all kept, in calls that block; raises ``PeopleUnusable``."""

    def tokens(self) -> list[Token]:
        """All of them, newest first."""

    def token_of(self, digest: str) -> Token | None: ...

    def add_token(self, token: Token) -> None: ...

    def revoke_token(self, token_id: str, at: str) -> None:
        """Note when a token was revoked first; raises ``UnknownToken``."""

    def note_use(self, token_id: str, at: str) -> None: ...

    def add_entry(self, entry: Entry) -> None:
        """Add a line; its number is given here."""

    def entries(self, before: int | None, limit: int) -> list[Entry]:
        """Lines, newest first, below a number."""

    def limits(self) -> dict[str, frozenset[str]]: ...

    def set_limit(self, collection: str, groups: Iterable[str]) -> None:
        """Limit a collection to groups, or to none of them, which ends the limit."""


@guarded
class Team:
    """Safe to call from any thread; every method blocks until it is done."""

    def __init__(self, records: TeamRecords) -> None:
        self._records = records
        self._guard = threading.Lock()
        self._limits: tuple[float, Limits] | None = None
        self.local_token = secrets.token_urlsafe()
        """By which command lines on this machine, which may read the data folder, are let in while this runs."""

    # -- tokens -----------------------------------------------------------------------------------------------------

    def tokens(self) -> list[Token]:
        """Every token, newest first, those that are over among them."""
        return self._records.tokens()

    def make_token(
        self, name: str, role: Role = "viewer", days: int = USUAL_DAYS, collections: Sequence[str] | None = None
    ) -> tuple[Token, str]:
        """Make a token; its text is returned here and kept nowhere. Raises ``InvalidToken``, ``SignInOff``."""
        if not signing_in():
            raise SignInOff()
        token, text = made(name, role, days, collections)
        token = replace(token, made_by=acting().author)
        self._records.add_token(token)
        return token, text

    def revoke_token(self, token_id: str) -> None:
        """Let a token be refused from now on; it stays in the list. Raises ``UnknownToken``."""
        self._records.revoke_token(token_id, stamp(datetime.now(UTC)))

    # -- the log ----------------------------------------------------------------------------------------------------

    def entries(self, before: int | None = None, limit: int = 100) -> list[Entry]:
        """Lines of the log, newest first, at most ``limit`` of those below a number."""
        return self._records.entries(before, max(1, min(limit, MOST_ENTRIES)))

    # -- limits -----------------------------------------------------------------------------------------------------

    def limits(self) -> Limits:
        """Groups by the name of each collection that is limited, as far as who asks may read it."""
        person = acting()
        return {name: groups for name, groups in self._known_limits().items() if person.may_read(name)}

    def limit(self, names: Sequence[str], groups: Sequence[str]) -> None:
        """Limit a collection, by all its names, to people of some groups, and admins; no groups: open to all.

        Raises ``SignInOff``.
        """
        if not signing_in():
            raise SignInOff()
        for name in names:
            self._records.set_limit(name, sorted({group.strip() for group in groups} - {""}))
        self._forget_limits()

    # -- for the doors, which know no person yet ----------------------------------------------------------------------

    def person_of_token(self, text: str) -> Person:
        """Who a bearer token stands for; raises ``TokenRefused``."""
        if secrets.compare_digest(text.encode("utf-8", "replace"), self.local_token.encode()):
            return COMMAND_LINE
        now = datetime.now(UTC)
        token = self._records.token_of(digest(text))
        if token is None:
            raise TokenRefused.unknown()
        token.checked(now)
        if not token.used_at or now - datetime.fromisoformat(token.used_at) > _USED_EVERY:
            self._records.note_use(token.id, stamp(now))
        return token.person

    def admitted(self, person: Person) -> Person:
        """The person with the collections that are kept from them; admins read all."""
        if person.role == "admin" and person.collections is None:
            return person
        named = person.collections or frozenset()
        limits = self._known_limits().items()
        hidden = {name for name, groups in limits if not groups & person.groups and name not in named}
        return replace(person, hidden=frozenset(hidden)) if hidden else person

    def note(self, change: Change) -> None:
        """Add a change to the log."""
        who = change.person
        at = stamp(datetime.now(UTC))
        on = change.on[:LONGEST_OBJECT]
        self._records.add_entry(Entry(0, at, who.id, who.name, who.role, change.operation, on))

    def note_sign_in(self, person: Person) -> None:
        """Add to the log that somebody signed in."""
        self.note(Change(person, SIGNED_IN, ""))

    def groups_of(self, collection: str) -> frozenset[str]:
        """The groups that a collection is limited to; none where all may read it."""
        return self._known_limits().get(collection, frozenset())

    def limit_alike(self, collection: str, new_name: str) -> None:
        """Limit another name of a collection, or a copy of it, as the collection is.

        The old name stays limited: records of runs have it, and what stands behind it later is opened by an admin.
        """
        # Without sign-in too: it may be set up again.
        if groups := self._records.limits().get(collection):
            self._records.set_limit(new_name, groups)
            self._forget_limits()

    def limit_new(self, collection: str) -> None:
        """Limit a collection that a token of some collections is about to make to those who may read all of these.

        Raises ``NotAllowed`` where they are limited to no group, or to none in common: no limit would be theirs.
        """
        only, limits = acting().collections, self._known_limits()
        if only is None:
            return
        limited = [limits[name] for name in {*only, collection} if name in limits]
        shared = frozenset.intersection(*limited) if limited else frozenset()
        if not shared:
            raise NotAllowed.new_collection(name=collection)
        self._records.set_limit(collection, sorted(shared))
        self._forget_limits()

    def _known_limits(self) -> Limits:
        with self._guard:
            kept = self._limits
        now = time.monotonic()
        if kept is None or now - kept[0] > _LIMITS_KEPT_S:
            kept = (now, self._records.limits())
            with self._guard:
                self._limits = kept
        return kept[1]

    def _forget_limits(self) -> None:
        with self._guard:
            self._limits = None
