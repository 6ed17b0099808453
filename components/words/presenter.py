"""Words of replay and presenter view."""

from __future__ import annotations

from collections.abc import Mapping

PRESENTER: Mapping[str, tuple[str, str]] = {}
