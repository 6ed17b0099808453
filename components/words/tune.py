"""Words of the page Tune: query sets, batches, sweeps, grader bench."""

from __future__ import annotations

from collections.abc import Mapping

TUNE: Mapping[str, tuple[str, str]] = {}
