"""The variables of the Neo4j server."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator
from pydantic_core import PydanticCustomError

from engine.messages import N_
from engine.model.addresses import without_login

_SCHEMES = frozenset(f"{scheme}{security}" for scheme in ("bolt", "neo4j") for security in ("", "+s", "+ssc"))


class Neo4jSettings(BaseModel):
    """Address of the server, and its user."""

    neo4j_uri: str = Field(
        "",
        description=N_(
            "Address of a Neo4j server (`bolt://` or `neo4j://`) for knowledge graphs; empty: a file in the "
            "data folder. Workbenches that share a server need databases of their own."
        ),
    )
    neo4j_user: str = Field("neo4j", description=N_("User name at the Neo4j server."))
    neo4j_password: SecretStr = Field(
        SecretStr(""), description=N_("Password at the Neo4j server; empty: none is asked for.")
    )
    neo4j_database: str = Field("", description=N_("Database of the Neo4j server; empty: its own default."))

    @model_validator(mode="before")
    @classmethod
    def _split_neo4j_login(cls, values: Any) -> Any:
        """Move user and password from the address to their own settings, unless these are set."""
        given = values.get("neo4j_uri") if isinstance(values, dict) else None
        address, login = without_login(given) if isinstance(given, str) else ("", "")
        if not login:
            return values
        user, _, password = login.partition(":")
        separate = {
            "neo4j_user": values.get("neo4j_user") or user,
            "neo4j_password": values.get("neo4j_password") or password,
        }
        return {**values, "neo4j_uri": address, **separate}

    @field_validator("neo4j_uri")
    @classmethod
    def _graph_address(cls, value: str) -> str:
        address = value.strip().rstrip("/")
        try:
            parts = urlsplit(address)
            usable = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
            usable = usable and not (parts.path or parts.query or parts.fragment)
        except ValueError:
            usable = False
        if address and (not usable or not address.isprintable() or " " in address):
            raise PydanticCustomError(
                "graph_address", "it must be an address such as `bolt://127.0.0.1:7687`, or empty"
            )
        return address
