"""Functions that are imported when they are first called."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def later(name: str) -> Any:
    """A function or class by ``module:name``: most processes call few of them, and a start imports none."""

    module, _, member = name.partition(":")

    def call(*arguments: Any, **named: Any) -> Any:
        return getattr(import_module(module), member)(*arguments, **named)

    return call
