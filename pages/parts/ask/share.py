"""What can be taken along of an open run, beside the question: its link, a report, its record, and the stage."""

from __future__ import annotations

import json

import streamlit as st

from components.ask.presenter import present_button
from components.common.controls import download
from components.common.i18n import Words
from components.common.markup import copy_button, draw
from components.common.run_link import run_link, settings_in_url
from components.common.settings_of import differing
from components.common.url_state import base_path, own_origin
from engine.engine import Engine
from engine.model.config import RunConfig
from engine.model.values import RunRecord
from engine.plugins import panels
from pages.parts.ask.report import report_download


def share_menu(engine: Engine, record: RunRecord, chosen: RunConfig, words: Words) -> None:
    """Draw the menu; while the run is active there is only its link."""
    with st.popover(words("Share"), icon=":material/ios_share:", key="share"):
        draw((copy_button(words, link_to(record, chosen, words), words("Copy the link")),), words, key="share_link")
        st.caption(words("It opens this run with the settings as they stand, for whoever reaches this address."))
        if record.active:
            return
        report_download(engine, record, words)
        download(
            words("Record as JSON"),
            lambda: json.dumps(record.to_dict(), ensure_ascii=False, indent=2).encode(),
            f"run-{record.id}.json",
            key="record_json",
            icon="data_object",
        )
        for panel in panels("take_along"):
            _, _, draw_button = panel(engine, words)
            draw_button(record.config, "share")
        present_button(record, words)


def link_to(record: RunRecord, chosen: RunConfig, words: Words) -> str:
    """The whole address of the run with these settings.

    An address that names no setting takes the run's own; defaults that are not the run's need one that is named.
    """
    link = own_origin() + run_link(record.id, chosen, words, base_path())
    unnamed = not settings_in_url(chosen) and differing(chosen, record.config)
    return f"{link}&top_k={chosen.top_k}" if unnamed else link
