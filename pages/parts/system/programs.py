"""The view Other programs of the page System: every way in or out for them, each one card."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from components.common.i18n import Words
from components.common.url_state import base_path, own_origin
from components.system.ways import Snippet, Way, way_cards
from engine.engine import Engine
from engine.people import signing_in
from engine.plugins import plugins


def programs_part(engine: Engine, words: Words) -> None:
    st.caption(
        words(
            "How other programs use this workbench, and what it sends to them. A change takes effect at the next start."
        )
    )
    brought = [(plugin.panels["programs"], plugin.missing) for plugin in plugins() if "programs" in plugin.panels]
    ways = [replace(way(engine, words), install=missing) for way, missing in brought]
    way_cards([http_api(engine, words), *ways], words, key="programs")


def http_api(engine: Engine, words: Words) -> Way:
    """The API that is always there."""
    address = f"{own_origin()}{base_path()}/api"
    token = ' -H "Authorization: Bearer TOKEN"' if signing_in() else ""
    question = words("When does a connected graph have an Euler circuit?")
    asked = f"""curl -H "Content-Type: application/json"{token} {address}/runs -d '{{"question": "{question}"}}'"""
    return Way(
        title=words("HTTP API"),
        on=True,
        said=words(
            "Programs ask, read and judge runs, put files into collections and watch this machine as the pages do."
        ),
        facts=(words("`{address}/openapi.json` describes every route", address=address),),
        snippets=(Snippet(words("Ask a question and wait for its record"), asked),),
    )
