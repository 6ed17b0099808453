"""The origin of a web page, as browsers name it: scheme, host and port."""

from __future__ import annotations

from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


def plain_origin(text: str) -> str:
    """Return an origin in the one spelling that browsers send, its default port left out; empty for other texts."""
    try:
        parts = urlsplit(text.strip().lower())
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or "@" in parts.netloc:
        return ""
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + ("" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}")
