"""What benchmarks found, kept in ``docs/figures``: the tables of the documentation are made from these files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.harness import Row, shown

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "figures"
RECORDED = ("samples", "loops")
"""Benchmarks whose figures stand in the documentation."""


def write(name: str, rows: Sequence[Row], machine: str, folder: Path = FOLDER) -> Path:
    """Keep the rows of a benchmark, each with its median as a number and as text."""
    plain = {
        "benchmark": name,
        "machine": machine,
        "rows": [
            {
                "name": row.name,
                "median": round(row.median, 6),
                "text": shown(row.median, row.unit),
                "n": len(row.values),
                "note": row.note,
            }
            for row in rows
        ],
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(plain, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return path


def read(name: str, folder: Path = FOLDER) -> dict[str, dict[str, Any]]:
    """The rows that :func:`write` kept, by name."""
    plain = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return {str(row["name"]): row for row in plain["rows"]}
