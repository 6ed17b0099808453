"""Addresses of Milvus servers, as settings and requests spell them."""

from __future__ import annotations

from urllib.parse import urlsplit

_PORTS = {"https": 443}
_USUAL_PORT = 19530


def with_scheme(address: str) -> str:
    """The address as the client of Milvus takes it: ``host:port`` with ``http://``, anything else as it is."""
    text = address.strip()
    # The client tells the folder of an embedded store by its suffix.
    return text if not text or "://" in text or text.endswith(".db") else f"http://{text}"


def same_server(one: str, other: str) -> bool:
    """Whether two addresses lead to one server, with or without scheme, login, usual port and a slash at the end."""
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
