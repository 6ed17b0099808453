"""Tokens, limits and the log of changes in the database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from engine.database.base import Database, clean, put
from engine.database.faults import UNUSABLE, cause_at
from engine.database.tables import AUDIT, COLLECTION_GROUPS, TOKENS
from engine.errors import PeopleUnusable, UnknownToken
from engine.people.audit import Entry
from engine.people.tokens import Token

_ATTEMPTS = 20
Tokens = list[Token]
Entries = list[Entry]
"""Named, because they are what methods of these names give."""


class PeopleRecords:
    """The :class:`~engine.people.team.TeamRecords` of an installation; safe from any thread, and from any process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tokens(self) -> Tokens:
        """All of them, newest first."""
        return [_token(row) for row in self._rows(select(TOKENS).order_by(TOKENS.c.made_at.desc(), TOKENS.c.id))]

    def token_of(self, digest: str) -> Token | None:
        """The token with this hash."""
        found = self._rows(select(TOKENS).where(TOKENS.c.digest == digest))
        return _token(found[0]) if found else None

    def add_token(self, token: Token) -> None:
        only = None if token.collections is None else json.dumps(token.collections, ensure_ascii=False)
        row = {name: clean(value) if isinstance(value, str) else value for name, value in asdict(token).items()}
        with self._writing() as connection:
            connection.execute(insert(TOKENS), {**row, "collections": only if only is None else clean(only)})

    def revoke_token(self, token_id: str, at: str) -> None:
        """Note when a token was revoked first; raises ``UnknownToken``."""
        this = TOKENS.c.id == clean(token_id)
        with self._writing() as connection:
            if connection.scalar(select(TOKENS.c.id).where(this)) is None:
                raise UnknownToken(token=token_id)
            connection.execute(update(TOKENS).where(this, TOKENS.c.revoked_at == "").values(revoked_at=at))

    def note_use(self, token_id: str, at: str) -> None:
        with self._writing() as connection:
            connection.execute(update(TOKENS).where(TOKENS.c.id == token_id).values(used_at=at))

    def add_entry(self, entry: Entry) -> None:
        """Add a line; its number is given here."""
        for attempt in range(_ATTEMPTS):
            try:
                with self._database_errors(), self._database.writing() as connection:
                    number = (connection.scalar(select(func.max(AUDIT.c.number))) or 0) + 1
                    connection.execute(insert(AUDIT), {**_plain(entry), "number": number})
                return
            except IntegrityError as error:
                # Another process took the number first.
                if attempt == _ATTEMPTS - 1:
                    raise self._unusable(error) from None

    def entries(self, before: int | None, limit: int) -> Entries:
        """Lines, newest first, below a number."""
        query = select(AUDIT).order_by(AUDIT.c.number.desc()).limit(limit)
        if before is not None:
            query = query.where(AUDIT.c.number < before)
        return [Entry(*row) for row in self._rows(query)]

    def limits(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for row in self._rows(select(COLLECTION_GROUPS)):
            found.setdefault(str(row.collection), set()).add(str(row.group_name))
        return {name: frozenset(groups) for name, groups in found.items()}

    def set_limit(self, collection: str, groups: Iterable[str]) -> None:
        """Limit a collection to groups, or to none of them, which ends the limit."""
        rows = [{"collection": clean(collection), "group_name": clean(group)} for group in groups]
        with self._writing() as connection:
            connection.execute(delete(COLLECTION_GROUPS).where(COLLECTION_GROUPS.c.collection == clean(collection)))
            put(connection, COLLECTION_GROUPS, rows)

    def _rows(self, query: Any) -> Sequence[Row[Any]]:
        if not self._database.exists:
            return ()
        with self._translated(), self._database.reading() as connection:
            return connection.execute(query).all()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._translated(), self._database.writing() as connection:
            yield connection

    @contextmanager
    def _database_errors(self) -> Iterator[None]:
        """As :meth:`_translated`, but for a row that is there already."""
        try:
            yield
        except IntegrityError:
            raise
        except UNUSABLE as error:
            raise self._unusable(error) from error

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except UNUSABLE as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> PeopleUnusable:
        why, advice = cause_at(self._database.place, error)
        return PeopleUnusable(path=self._database.place, why=why, advice=advice)


def _token(row: Row[Any]) -> Token:
    only = None if row.collections is None else tuple(json.loads(row.collections))
    return Token(**{**row._mapping, "collections": only})


def _plain(entry: Entry) -> dict[str, str]:
    names = ("at", "who", "name", "role", "operation")
    return {**{name: clean(getattr(entry, name)) for name in names}, "object": clean(entry.on)}
