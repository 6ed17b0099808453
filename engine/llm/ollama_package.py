"""Importing Ollama's client, whatever proxy the environment names."""

from __future__ import annotations

import os
import threading
from typing import Any

_PROXIES = frozenset({"all_proxy", "http_proxy", "https_proxy"})
_importing = threading.Lock()


def ollama_package() -> Any:
    """The package ``ollama``.

    While it is imported it makes a client of its own, which fails where the environment names a proxy that HTTP clients
    cannot use, such as ``socks://``: even for an Ollama on this machine, which is reached without any.
    """
    with _importing:
        try:
            import ollama
        except (ValueError, ImportError):
            hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.lower() in _PROXIES}
            try:
                import ollama
            finally:
                os.environ.update(hidden)
    return ollama
