"""Addresses of servers that are asked over HTTP, as settings name them."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError


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
