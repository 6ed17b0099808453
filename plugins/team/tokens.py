"""Bearer tokens: random, shown once, kept as a hash, with a role and an end."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from engine.errors import NotSignedIn
from engine.model.people import Person, Role
from plugins.team.errors import ADMIN_OF_SOME, BAD_TOKEN_DAYS, BAD_TOKEN_NAME

PREFIX = "wbt_"
"""By which scanners of source code know one that was left there."""
LONGEST_NAME = 80
MOST_DAYS = 365
USUAL_DAYS = 90
_BYTES = 32


@dataclass(frozen=True, slots=True)
class Token:
    """Stored facts about a token."""

    id: str
    name: str
    """The program that uses it."""
    digest: str
    """SHA-256 of it: 256 random bits need no slower hash, for there are too many to try."""
    role: Role
    collections: tuple[str, ...] | None
    """The only ones that it may read; None: all that are not limited to groups."""
    made_by: str
    made_at: str
    """ISO 8601, UTC, as the other times."""
    expires_at: str
    used_at: str = ""
    revoked_at: str = ""

    @property
    def person(self) -> Person:
        """Owner of the token; in no group, so that what is limited to groups is open to it only where it names it."""
        collections = None if self.collections is None else frozenset(self.collections)
        return Person(f"token {self.name}", self.name, self.role, frozenset(), collections)

    def usable(self, now: datetime) -> bool:
        return not self.revoked_at and now < datetime.fromisoformat(self.expires_at)

    def checked(self, now: datetime) -> Token:
        """The token itself; raises ``NotSignedIn`` where it was revoked or is over."""
        if self.revoked_at:
            raise NotSignedIn.token_revoked()
        if not self.usable(now):
            raise NotSignedIn.token_expired()
        return self


def made(name: str, role: Role, days: int, collections: Sequence[str] | None) -> tuple[Token, str]:
    """A token, and the text that its holder sends, which is nowhere else; raises ``WorkbenchError``."""
    trimmed = name.strip()
    if not 1 <= len(trimmed) <= LONGEST_NAME or not trimmed.isprintable():
        raise BAD_TOKEN_NAME(longest=LONGEST_NAME)
    if isinstance(days, bool) or not 1 <= days <= MOST_DAYS:
        raise BAD_TOKEN_DAYS(most=MOST_DAYS)
    if role == "admin" and collections is not None:
        raise ADMIN_OF_SOME()
    text = PREFIX + secrets.token_urlsafe(_BYTES)
    only = None if collections is None else tuple(sorted(set(collections)))
    now = datetime.now(UTC)
    ends = stamp(now + timedelta(days=days))
    return Token(secrets.token_hex(8), trimmed, digest(text), role, only, "", stamp(now), ends), text


def digest(text: str) -> str:
    """Return the stored digest of a token's text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")
