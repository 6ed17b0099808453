"""Who a person is, by what their provider says of them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.model.people import Role
from plugins.team.claims import RoleRules, signed_in

NOW = 1_800_000_000.0
RULES = RoleRules("groups", admins=("rag-admins", "boss@example.org"), editors=("rag-editors",), hours=8)
CLAIMS = {"sub": "42", "iat": NOW - 60, "email": "ada@example.org", "email_verified": True, "name": "Ada"}


def who(rules: RoleRules = RULES, **claims: Any) -> Any:
    found = signed_in({**CLAIMS, **claims}, rules, NOW)
    return found.person if found else None


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        (["rag-admins"], "admin"),
        (["/rag-admins", "/rag-editors"], "admin"),
        (["rag-editors", "people"], "editor"),
        (["people"], "viewer"),
        ([], "viewer"),
        (None, "viewer"),
        ("rag-editors people", "editor"),
        ([{"name": "rag-admins"}, 7], "viewer"),
    ],
)
def test_a_group_gives_a_role(groups: Any, role: Role) -> None:
    assert who(groups=groups).role == role


def test_the_claim_may_lie_in_another_one() -> None:
    rules = RoleRules("realm_access.roles", editors=("rag-editors",))
    assert who(rules, realm_access={"roles": ["rag-editors"]}).role == "editor"
    assert who(rules, realm_access="rag-editors").role == "viewer"
    # A claim whose own name has a dot, as providers make them of addresses.
    named = "https://example.org/groups"
    assert who(RoleRules(named, editors=("a",)), **{named: ["a"]}).role == "editor"


def test_only_a_confirmed_address_gives_a_role_and_a_name() -> None:
    assert who(email="boss@example.org").role == "admin"
    for claims in ({"email_verified": False}, {"email_verified": None}):
        unconfirmed = who(email="boss@example.org", preferred_username="mallory", **claims)
        assert (unconfirmed.role, unconfirmed.id) == ("viewer", "mallory")


def test_a_sign_in_ends_after_some_hours() -> None:
    assert who(iat=NOW - 8 * 3600 + 1) is not None
    assert who(iat=NOW - 8 * 3600) is None


@pytest.mark.parametrize("claims", [{"iat": None}, {"iat": "1"}, {"sub": ""}, {"sub": None}])
def test_claims_without_time_or_subject_are_no_sign_in(claims: dict[str, Any]) -> None:
    assert who(**claims) is None
