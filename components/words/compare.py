"""Words of the page Compare and of the report."""

from __future__ import annotations

from collections.abc import Mapping

COMPARE: Mapping[str, tuple[str, str]] = {}
