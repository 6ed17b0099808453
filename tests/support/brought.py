"""What the tests of plug-ins bring to tests of the core that go over all there is, such as every route."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from engine.plugins import _folders


def brought(name: str) -> dict[Any, Any]:
    """Return the entries under this name in ``tests/plugins/PLUGIN/__init__.py`` of all plug-ins that are here."""
    found: dict[Any, Any] = {}
    for plugin in _folders():
        found |= getattr(import_module(f"tests.plugins.{plugin}"), name, {})
    return found
