"""Words of branching off a run."""

from __future__ import annotations

from collections.abc import Mapping

FORK: Mapping[str, tuple[str, str]] = {}
