"""Functions that are imported when they are first called."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any


def later(name: str) -> Any:
    """A function or class by ``module:name``: most processes call few of them, and a start imports none."""

    def call(*arguments: Any, **named: Any) -> Any:
        return resolve_name(name)(*arguments, **named)

    return call
