"""The cookie that a page sends where it can send no header: event streams, files to save, uploads.

It names its person and ends with the sign-in. It is signed and not encrypted: it tells its holder what they know.
"""

from __future__ import annotations

import base64
import hmac
import json
from dataclasses import dataclass

from engine.model.people import ROLES, Person

NAME = "workbench_page"
_LONGEST = 4000
"""Browsers keep no cookie that is longer than 4096 bytes with its name and attributes."""


@dataclass(frozen=True, slots=True)
class PageCookies:
    """Makes and reads them with a secret that all processes of an installation share."""

    secret: bytes

    @classmethod
    def of(cls, secret: str) -> PageCookies:
        """With a key of its own: what is signed here with the secret of something else is worth nothing there."""
        return cls(hmac.digest(secret.encode(), b"workbench page cookie", "sha256"))

    def made(self, person: Person, until: float) -> str:
        """A value that stands for ``person`` until then, in seconds since 1970.

        A person in more groups than a cookie can hold is in none by it: what is limited to groups stays closed.
        """
        value = self._signed(person, person.groups, until)
        return value if len(value) <= _LONGEST else self._signed(person, frozenset(), until)

    def read(self, value: str, now: float) -> Person | None:
        """The person that a value stands for; None for one that is over, altered, or of another installation."""
        body, _, signature = value.partition(".")
        if not value.isascii() or not hmac.compare_digest(signature, self._signature(body)):
            return None
        identity, name, role, groups, until = json.loads(base64.urlsafe_b64decode(body + "=="))
        if now >= until or role not in ROLES:
            return None
        return Person(identity, name, role, frozenset(groups))

    def _signed(self, person: Person, groups: frozenset[str], until: float) -> str:
        plain = [person.id, person.name, person.role, sorted(groups), int(until)]
        body = _written(json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
        return f"{body}.{self._signature(body)}"

    def _signature(self, body: str) -> str:
        return _written(hmac.digest(self.secret, body.encode("ascii", "replace"), "sha256"))


def _written(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
