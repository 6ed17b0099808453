"""Words of the page Runs: the list, its filters, tags and exports."""

from __future__ import annotations

from collections.abc import Mapping

RUNS: Mapping[str, tuple[str, str]] = {}
