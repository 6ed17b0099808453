"""The date that a passage tells of: GH-04."""

from __future__ import annotations

from typing import Any

import pytest

from engine.model.values import PassageId
from engine.retrieval.search import dated
from engine.roles import StoredPassage


@pytest.mark.parametrize(
    ("meta", "section", "said"),
    [
        ({"date": "2024-03-05"}, "", "2024-03-05"),
        ({"published": "2024/3/5 10:00"}, "", "2024-03-05"),
        ({"dated": "2024年3月5日"}, "", "2024-03-05"),
        ({"kind": "temporal"}, "Week of 2025-11-02", "2025-11-02"),
        ({}, "Week of 2025-11-02", ""),
        ({"added_at": "2026-01-01T00:00:00+00:00"}, "", ""),
        ({"date": "2024-13-45"}, "", ""),
        ({"date": "soon"}, "", ""),
        ({"date": 20240305}, "", ""),
    ],
)
def test_a_date_is_what_a_source_says_and_never_when_it_was_ingested(
    meta: dict[str, Any], section: str, said: str
) -> None:
    """GH-04"""
    assert dated(StoredPassage(PassageId("p"), "s", "text", section, meta=meta)) == said
