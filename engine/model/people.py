"""People and their roles, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Role = Literal["viewer", "editor", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""From the one that only looks to the one that may do everything."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person who acts, or a program that does so with a token."""

    id: str
    """What records name them by: an e-mail address where the provider vouches for one."""
    name: str
    role: Role
    groups: frozenset[str] = frozenset()
    collections: frozenset[str] | None = None
    """The only collections that a token may read; None where it is not limited to some."""
    hidden: frozenset[str] = frozenset()
    """Collections that are limited to groups that they are not in; filled in at the door."""

    @property
    def author(self) -> str:
        """Author recorded in their runs, sets and judgements."""
        return self.id

    @property
    def reads_all(self) -> bool:
        """True if no collection is kept from them."""
        return not self.hidden and self.collections is None

    @property
    def scope(self) -> str:
        """A name for what they may read, for what is kept of it: people of the same scope read the same."""
        if self.reads_all:
            return ""
        only = "" if self.collections is None else "+".join(sorted(self.collections))
        return f"{'+'.join(sorted(self.hidden))}|{only}"

    def may(self, least: Role) -> bool:
        """Return whether their role is at least this one."""
        return ROLES.index(self.role) >= ROLES.index(least)

    def may_read(self, collection: str, called: str = "") -> bool:
        """Return whether they may read a collection; ``called`` is the alias or earlier name in the request."""
        if collection in self.hidden or called in self.hidden:
            return False
        return self.collections is None or collection in self.collections
