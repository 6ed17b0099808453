"""Users and passwords that stand in addresses, taken out of them."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from engine.model.milvus_address import with_scheme


def split_milvus_login(values: dict[str, Any]) -> dict[str, Any]:
    """Settings whose Milvus address has a scheme and no login: that is the token, unless one is set."""
    given = values.get("milvus_uri")
    if not isinstance(given, str):
        return values
    address, login = without_login(with_scheme(given))
    token = {"milvus_token": values.get("milvus_token") or login} if login else {}
    return {**values, "milvus_uri": address, **token}


def without_login(address: str) -> tuple[str, str]:
    """Split an address into one without user and password, and those two as Milvus's token."""
    scheme, separator, rest = address.strip().rpartition("://")
    # A password may hold a slash, so the last @ counts wherever it stands.
    login, at, place = rest.rpartition("@")
    return (f"{scheme}{separator}{place}", unquote(login)) if separator and at else (address, "")
