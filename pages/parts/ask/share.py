"""Share menu of an open run: its link, a report, its record, and its settings as code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from components.common.controls import download
from components.common.i18n import Words
from components.common.markup import copy_button, draw
from components.common.run_link import run_link, settings_in_url
from components.common.run_settings import differing, setting_label, setting_text
from components.common.url_state import base_path, own_origin
from components.runs.report import report_html
from components.runs.report_charts import ReportMap
from engine.engine import Engine
from engine.evaluation.known_right import known_right
from engine.model.config import RunConfig
from engine.model.values import RunRecord
from engine.plugins import panels
from engine.replay import WhatIf
from engine.replay.diagnosis import diagnose
from pages.parts.ask.what_if import replayed
from pages.parts.common.stored_runs import known_answer

_ACROSS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_UPWARDS = (0.2, 0.4, 0.6, 0.8, 1.0)
_COUNTS = (1.0, 2.0, 3.0, 4.0, 5.0)


def share_menu(engine: Engine, record: RunRecord, chosen: RunConfig, words: Words) -> None:
    """Draw the menu; while the run is active there is only its link."""
    with st.popover(words("Share"), icon=":material/ios_share:", key="share"):
        draw((copy_button(words, link_to(record, chosen, words), words("Copy the link")),), words, key="share_link")
        st.caption(words("Anyone who can reach this server can open this run."))
        if record.active:
            return
        report_download(engine, record, words)
        download(
            words("Record (JSON)"),
            lambda: json.dumps(record.to_dict(), ensure_ascii=False, indent=2).encode(),
            f"run-{record.id}.json",
            key="record_json",
            icon="data_object",
        )
        for panel in panels("take_along"):
            _, _, draw_button = panel(engine, words)
            draw_button(record.config, "share")


def link_to(record: RunRecord, chosen: RunConfig, words: Words) -> str:
    """The whole address of the run with these settings.

    An address that names no setting takes the run's own; defaults that are not the run's need one that is named.
    """
    link = own_origin() + run_link(record.id, chosen, words, base_path())
    unnamed = not settings_in_url(chosen) and differing(chosen, record.config)
    return f"{link}&top_k={chosen.top_k}" if unnamed else link


def report_download(engine: Engine, record: RunRecord, words: Words) -> None:
    """The button; nothing for a run that is still running."""
    if record.active:
        return
    download(
        words("Report (HTML)"),
        lambda: report_file(engine, record, words),
        f"run-{record.id[:12]}.html",
        key="report_download",
        icon="description",
    )


def report_file(engine: Engine, record: RunRecord, words: Words) -> bytes:
    """The content of the file, UTF-8."""
    drawn = report_map(engine, record, words)
    found = diagnose(replayed(record), *known_right(engine, record))
    graph = engine.graph(record.workflow)
    return report_html(record, graph, words, drawn, known=known_answer(engine, record), found=found).encode()


def report_map(engine: Engine, record: RunRecord, words: Words) -> ReportMap | None:
    """Map the run's endings at other thresholds from its record; None if it has no evidence."""
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
