"""The page that shows a run, as a path: answers name it, so that a browser needs no more than their id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from engine.model.values import RunId, RunRecord


def link_of(run_id: RunId) -> str:
    """The page opens it with its own workflow, collection and settings, as the address names none."""
    return f"/?run={quote(run_id, safe='')}"


def linked(record: RunRecord, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A body about a run, or its record, with the link."""
    return {**(record.to_dict() if body is None else body), "link": link_of(record.id)}
