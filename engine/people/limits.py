"""The collections that only people of some groups may read."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, delete, select

from engine.database.base import Database, clean, put
from engine.database.faults import UNUSABLE, cause_at
from engine.database.tables import COLLECTION_GROUPS
from engine.errors import NotAllowed, PeopleUnusable
from engine.model.people import Person
from engine.people.authorization import authorized, internal, needs
from engine.people.current_user import current_user, signing_in

_KEPT_S = 1.0
"""How long another process may take to notice a limit that was set here."""
Limits = Mapping[str, frozenset[str]]
"""Groups by the name of the collection that is limited to them."""


class PeopleDatabase:
    """Database of people; raises ``PeopleUnusable``. Safe from any thread, and from any process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def rows(self, query: Any) -> Sequence[Row[Any]]:
        if not self._database.exists:
            return ()
        with self._translated(), self._database.reading() as connection:
            return connection.execute(query).all()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._translated(), self._database.writing() as connection:
            yield connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except UNUSABLE as error:
            why, advice = cause_at(self._database.place, error)
            raise PeopleUnusable(path=self._database.place, why=why, advice=advice) from error


@authorized
class CollectionLimits:
    """Kept also where people do not sign in: they may again. Safe to call from any thread; every method blocks."""

    def __init__(self, database: PeopleDatabase) -> None:
        self._database = database
        self._guard = threading.Lock()
        self._kept: tuple[float, Limits] | None = None

    @needs("viewer")
    def all(self) -> Limits:
        """Groups by the name of each collection that is limited, as far as who asks may read it."""
        person = current_user()
        return {name: groups for name, groups in self._known().items() if person.may_read(name)}

    @needs("admin")
    def limit(self, names: Sequence[str], groups: Sequence[str]) -> None:
        """Limit a collection, by all its names, to people of some groups, and admins; no groups: open to all.

        Raises ``NotAllowed.sign_in_off``.
        """
        if not signing_in():
            raise NotAllowed.sign_in_off()
        for name in names:
            self._set(name, {group.strip() for group in groups} - {""})

    @internal
    def admitted(self, person: Person) -> Person:
        """The person with the collections that are kept from them; admins read all."""
        if person.role == "admin" and person.collections is None:
            return person
        named = person.collections or frozenset()
        limits = self._known().items()
        hidden = {name for name, groups in limits if not groups & person.groups and name not in named}
        return replace(person, hidden=frozenset(hidden)) if hidden else person

    @internal
    def groups_of(self, collection: str) -> frozenset[str]:
        """The groups that a collection is limited to; none where all may read it."""
        return self._known().get(collection, frozenset())

    @internal
    def limit_copy(self, collection: str, new_name: str) -> None:
        """Limit another name of a collection, or a copy of it, as the collection is.

        The old name stays limited: records of runs have it, and what stands behind it later is opened by an admin.
        """
        if groups := self._read().get(collection):
            self._set(new_name, groups)

    @internal
    def limit_new(self, collection: str) -> None:
        """Limit a collection that a token of some collections is about to make to those who may read all of these.

        Raises ``NotAllowed`` where they are limited to no group, or to none in common: no limit would be theirs.
        """
        only, limits = current_user().collections, self._known()
        if only is None:
            return
        limited = [limits[name] for name in {*only, collection} if name in limits]
        shared = frozenset.intersection(*limited) if limited else frozenset()
        if not shared:
            raise NotAllowed.new_collection(name=collection)
        self._set(collection, shared)

    def _known(self) -> Limits:
        with self._guard:
            kept = self._kept
        now = time.monotonic()
        if kept is None or now - kept[0] > _KEPT_S:
            kept = (now, self._read())
            with self._guard:
                self._kept = kept
        return kept[1]

    def _read(self) -> Limits:
        found: dict[str, set[str]] = {}
        for row in self._database.rows(select(COLLECTION_GROUPS)):
            found.setdefault(str(row.collection), set()).add(str(row.group_name))
        return {name: frozenset(groups) for name, groups in found.items()}

    def _set(self, collection: str, groups: frozenset[str] | set[str]) -> None:
        """Limit a collection to groups, or to none of them, which ends the limit."""
        rows = [{"collection": clean(collection), "group_name": clean(group)} for group in sorted(groups)]
        with self._database.writing() as connection:
            connection.execute(delete(COLLECTION_GROUPS).where(COLLECTION_GROUPS.c.collection == clean(collection)))
            put(connection, COLLECTION_GROUPS, rows)
        with self._guard:
            self._kept = None
