"""Words of what-if, decision map, rewrite scorecard, remedies and pinned runs."""

from __future__ import annotations

from collections.abc import Mapping

WHAT_IF: Mapping[str, tuple[str, str]] = {}
