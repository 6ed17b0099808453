"""Person and role from an OpenID provider's claims."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from engine.model.people import Person, Role
from engine.settings import Settings
from plugins.team.settings import TeamSettings


@dataclass(frozen=True, slots=True)
class RoleRules:
    """Roles by group; people in none of them are viewers."""

    claim: str = "groups"
    """Name of the claim that lists a person's groups; dots lead into claims within claims."""
    admins: Collection[str] = ()
    """Groups or e-mail addresses."""
    editors: Collection[str] = ()
    hours: float = 12.0
    """How long a sign-in holds: a role or a group that the provider takes away is lost by then."""

    @classmethod
    def of(cls, settings: Settings) -> RoleRules:
        """Return the rules that the settings state."""
        own = settings.of(TeamSettings)
        return cls(own.roles_claim, own.admins, own.editors, own.sign_in_hours)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A person whom the provider knows, for a while."""

    person: Person
    until: float
    """Seconds since 1970."""


def signed_in(claims: Mapping[str, Any], rules: RoleRules, now: float) -> SignedIn | None:
    """Return the subject of an ID token's claims at ``now`` (seconds since 1970); None if the sign-in has expired.

    The token is trusted: the caller has checked its signature, or that of the cookie that holds it.
    """
    signed_in_at = claims.get("iat")
    subject = claims.get("sub")
    if not isinstance(signed_in_at, int | float) or not isinstance(subject, str) or not subject:
        return None
    until = signed_in_at + rules.hours * 3600
    if now >= until:
        return None
    mail = _mail(claims)
    identity = mail or _text(claims, "preferred_username") or subject
    groups = frozenset(_listed(claims, rules.claim))
    role = _role({*groups, mail} - {""}, rules)
    return SignedIn(Person(identity, _text(claims, "name") or identity, role, groups), until)


def _role(known_as: set[str], rules: RoleRules) -> Role:
    if known_as & set(rules.admins):
        return "admin"
    return "editor" if known_as & set(rules.editors) else "viewer"


def _mail(claims: Mapping[str, Any]) -> str:
    """The e-mail address, unless the provider says that it does not know whether it is theirs."""
    return _text(claims, "email") if claims.get("email_verified") in (True, "true") else ""


def _listed(claims: Mapping[str, Any], name: str) -> list[str]:
    """The texts of a claim: a list, or one text with spaces or commas; a group of Keycloak may begin with a slash."""
    value: Any = claims
    if name in claims:
        value = claims[name]
    else:
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, str):
        value = value.replace(",", " ").split()
    if not isinstance(value, list | tuple):
        return []
    return [item.removeprefix("/") for item in value if isinstance(item, str)]


def _text(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    return value.strip()[:200] if isinstance(value, str) else ""
