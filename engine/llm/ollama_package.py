"""Importing Ollama's client, in any environment."""

from __future__ import annotations

import os
import threading
from typing import Any

_OF_CLIENTS = frozenset({"all_proxy", "http_proxy", "https_proxy", "no_proxy", "ssl_cert_file", "ollama_host"})
_importing = threading.Lock()


def ollama_package() -> Any:
    """The package ``ollama``.

    While it is imported it makes a client of its own, which fails where the environment names a proxy that HTTP clients
    cannot use, such as ``socks://``, a file of certificates that is not there, or a host that is none: even for an
    Ollama on this machine, which is reached without any of them.
    """
    with _importing:
        try:
            import ollama
        except Exception:
            hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.lower() in _OF_CLIENTS}
            try:
                import ollama
            finally:
                os.environ.update(hidden)
    return ollama
