"""The report of a run as a download: one HTML file, made when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from components.common.controls import download
from components.common.i18n import Words
from components.common.setting_words import setting_label, setting_text
from components.runs.report import report_html
from components.runs.report_charts import ReportMap
from engine.engine import Engine
from engine.model.values import RunRecord
from engine.replay import WhatIf
from pages.parts.common.known_answer import known_answer

_ACROSS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_UPWARDS = (0.2, 0.4, 0.6, 0.8, 1.0)
_COUNTS = (1.0, 2.0, 3.0, 4.0, 5.0)


def report_download(engine: Engine, record: RunRecord, words: Words) -> None:
    """The button; nothing for a run that is still running."""
    if record.active:
        return
    download(
        words("Report as one HTML file"),
        lambda: report_file(engine, record, words),
        f"run-{record.id[:12]}.html",
        key="report_download",
        icon="description",
    )


def report_file(engine: Engine, record: RunRecord, words: Words) -> bytes:
    """The content of the file, UTF-8."""
    drawn = report_map(engine, record, words)
    return report_html(record, engine.graph(record.workflow), words, drawn, known_answer(engine, record)).encode()


def report_map(engine: Engine, record: RunRecord, words: Words) -> ReportMap | None:
    """How the run would have ended at other thresholds, told from its record; None where it has no evidence."""
    if not record.decisions:
        return None
    rate = record.config.gate == "pass_rate"
    x, y = "similarity_threshold", "grade_pass_threshold" if rate else "min_relevant"
    own = (float(getattr(record.config, x)), float(getattr(record.config, y)))
    across = sorted({*_ACROSS, own[0]})
    upwards = sorted({*(_UPWARDS if rate else _COUNTS), own[1]})
    rows = tuple(tuple(_tried(engine, record, {x: column, y: row}) for column in across) for row in upwards)
    tried = [((column, row), found) for row, cells in enumerate(rows) for column, found in enumerate(cells)]
    return ReportMap(
        x_label=setting_label(x, words),
        y_label=setting_label(y, words),
        x_values=tuple(setting_text(x, value, words) for value in across),
        y_values=tuple(setting_text(y, value, words) for value in upwards),
        cells=tuple(tuple(found.outcome for found in cells) for cells in rows),
        point=(across.index(own[0]), upwards.index(own[1])),
        refused=frozenset(place for place, found in tried if any(item.unaccepted for item in found.admits)),
        unsupported=frozenset(place for place, found in tried if found.answer_note == "unsupported"),
    )


def _tried(engine: Engine, record: RunRecord, changed: Mapping[str, float]) -> WhatIf:
    return engine.what_if(record, replace(record.config, **changed))  # type: ignore[arg-type]
