"""The cookie of pages names one person until their sign-in ends, and cannot be altered."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from engine.model.people import Person
from plugins.team.page_cookie import PageCookies

COOKIES = PageCookies.of("secret")
EDITH = Person("edith@example.org", "伊迪丝", "editor", frozenset({"clinic", "rag-editors"}))


def test_it_stands_for_its_person_until_the_end() -> None:
    value = COOKIES.made(EDITH, 1000.0)
    assert COOKIES.read(value, 999.0) == EDITH
    assert COOKIES.read(value, 1000.0) is None


def test_no_other_secret_makes_or_reads_it() -> None:
    assert PageCookies.of("another").read(COOKIES.made(EDITH, 1000.0), 1.0) is None
    # Nor does the secret itself, which signs other things elsewhere.
    assert PageCookies(b"secret").read(COOKIES.made(EDITH, 1000.0), 1.0) is None


def test_altered_it_is_worth_nothing() -> None:
    body, _, signature = COOKIES.made(EDITH, 1000.0).partition(".")
    plain = json.loads(base64.urlsafe_b64decode(body + "=="))
    plain[2] = "admin"
    altered = base64.urlsafe_b64encode(json.dumps(plain).encode()).rstrip(b"=").decode()
    assert COOKIES.read(f"{altered}.{signature}", 1.0) is None


@pytest.mark.parametrize("value", ["", ".", "a.b", "é.x", "a" * 5000, f"{'A' * 40}.{'B' * 43}"])
def test_what_is_no_cookie_is_nobody(value: str) -> None:
    assert COOKIES.read(value, 1.0) is None


def test_a_role_that_there_is_not_is_worth_nothing() -> None:
    role: Any = "owner"
    assert COOKIES.read(COOKIES.made(Person("a", "A", role), 1000.0), 1.0) is None


def test_who_is_in_too_many_groups_for_a_cookie_is_in_none_by_it() -> None:
    crowded = Person("a", "A", "viewer", frozenset(f"group-{n:04}" for n in range(1000)))
    value = COOKIES.made(crowded, 1000.0)
    assert len(value) < 4000
    assert COOKIES.read(value, 1.0) == Person("a", "A", "viewer")
