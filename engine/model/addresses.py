"""Addresses of servers as settings and requests spell them, and the logins that are taken out of them."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

_PORTS = {"https": 443}
_USUAL_PORT = 19530


def like(example: str) -> AfterValidator:
    """A check that a setting is an HTTP address or empty, which names an example otherwise."""

    def checked(value: str) -> str:
        address = value.strip().rstrip("/")
        try:
            parts = urlsplit(address)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        # A query of its own would swallow the one that is searched for.
        if address and (not usable or parts.query or parts.fragment or not address.isprintable() or " " in address):
            raise PydanticCustomError(
                "web_address", "it must be an address such as `{example}`, or empty", {"example": example}
            )
        return address

    return AfterValidator(checked)


WebAddress = Annotated[str, like("http://127.0.0.1:8080")]


def with_scheme(address: str) -> str:
    """The address as the client of Milvus takes it: ``host:port`` with ``http://``, anything else as it is."""
    text = address.strip()
    # The client tells the folder of an embedded store by its suffix.
    return text if not text or "://" in text or text.endswith(".db") else f"http://{text}"


def same_server(one: str, other: str) -> bool:
    """Return whether two addresses are one server, with or without scheme, login, usual port and final slash."""
    schemes = [address.strip().rpartition("://")[0].lower() for address in (one, other)]
    try:
        return _place(one, schemes[1]) == _place(other, schemes[0])
    except ValueError:  # a port that is none
        return False


def _place(address: str, other_scheme: str) -> tuple[str, int, str]:
    scheme, _, rest = address.strip().rpartition("://")
    scheme = scheme.lower() or other_scheme or "http"
    # A password may hold a slash, so the last @ counts wherever it stands.
    parts = urlsplit(f"{scheme}://{rest.rpartition('@')[2]}")
    port = _PORTS.get(scheme, _USUAL_PORT) if parts.port is None else parts.port
    return parts.hostname or "", port, parts.path.rstrip("/")


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
