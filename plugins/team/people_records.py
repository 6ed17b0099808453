"""Tokens and the log of changes in the database."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from sqlalchemy import Row, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from engine.database.base import clean
from engine.database.tables import AUDIT, TOKENS
from engine.errors import PeopleUnusable
from engine.people.limits import PeopleDatabase
from plugins.team.audit import Entry
from plugins.team.errors import UNKNOWN_TOKEN
from plugins.team.tokens import Token

_ATTEMPTS = 20
Tokens = list[Token]
Entries = list[Entry]
"""Named, because they are what methods of these names give."""


class PeopleRecords(PeopleDatabase):
    """Those of an installation."""

    def tokens(self) -> Tokens:
        """All of them, newest first."""
        return [_token(row) for row in self.rows(select(TOKENS).order_by(TOKENS.c.made_at.desc(), TOKENS.c.id))]

    def token_of(self, digest: str) -> Token | None:
        """The token with this hash."""
        found = self.rows(select(TOKENS).where(TOKENS.c.digest == digest))
        return _token(found[0]) if found else None

    def add_token(self, token: Token) -> None:
        only = None if token.collections is None else json.dumps(token.collections, ensure_ascii=False)
        row = {name: clean(value) if isinstance(value, str) else value for name, value in asdict(token).items()}
        with self.writing() as connection:
            connection.execute(insert(TOKENS), {**row, "collections": only if only is None else clean(only)})

    def revoke_token(self, token_id: str, at: str) -> None:
        """Note when a token was revoked first; raises ``UNKNOWN_TOKEN``."""
        this = TOKENS.c.id == clean(token_id)
        with self.writing() as connection:
            if connection.scalar(select(TOKENS.c.id).where(this)) is None:
                raise UNKNOWN_TOKEN(token=token_id)
            connection.execute(update(TOKENS).where(this, TOKENS.c.revoked_at == "").values(revoked_at=at))

    def note_use(self, token_id: str, at: str) -> None:
        with self.writing() as connection:
            connection.execute(update(TOKENS).where(TOKENS.c.id == token_id).values(used_at=at))

    def add_entry(self, entry: Entry) -> None:
        """Add a line; its number is given here."""
        for attempt in range(_ATTEMPTS):
            try:
                with self.writing() as connection:
                    number = (connection.scalar(select(func.max(AUDIT.c.number))) or 0) + 1
                    connection.execute(insert(AUDIT), {**_plain(entry), "number": number})
                return
            except PeopleUnusable as error:
                # Otherwise another process took the number first.
                if not isinstance(error.__cause__, IntegrityError) or attempt == _ATTEMPTS - 1:
                    raise

    def entries(self, before: int | None, limit: int) -> Entries:
        """Lines, newest first, below a number."""
        query = select(AUDIT).order_by(AUDIT.c.number.desc()).limit(limit)
        if before is not None:
            query = query.where(AUDIT.c.number < before)
        return [Entry(*row) for row in self.rows(query)]


def _token(row: Row[Any]) -> Token:
    only = None if row.collections is None else tuple(json.loads(row.collections))
    return Token(**{**row._mapping, "collections": only})


def _plain(entry: Entry) -> dict[str, str]:
    names = ("at", "who", "name", "role", "operation")
    return {**{name: clean(getattr(entry, name)) for name in names}, "object": clean(entry.on)}
