"""Parts of Vega-Lite charts as plain values: Altair would take a tenth of a second to make and check them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st

Spec = dict[str, Any]
"""A part of a Vega-Lite specification."""

ACCENT, GREY, AMBER, TEAL = "#4f46e5", "#b8bdd6", "#d97706", "#0d9488"
LEGEND_BELOW: Spec = {"title": None, "orient": "bottom"}


def number(name: str, title: str = "", **more: Any) -> Spec:
    """A field of numbers."""
    return {"field": name, "type": "quantitative", "title": title or None, **more}


def count(name: str, title: str, **more: Any) -> Spec:
    """A field of whole numbers: its axis has no halves."""
    return number(name, title, axis={"tickMinStep": 1, "format": "d"}, **more)


def share(name: str, title: str) -> Spec:
    """A field of numbers from 0 to 1, on an axis of that range."""
    return number(name, title, scale={"domain": [0, 1]})


def text(name: str, title: str = "", **more: Any) -> Spec:
    """A field of texts."""
    return {"field": name, "type": "nominal", "title": title or None, **more}


def layer(rows: Iterable[Mapping[str, Any]], mark: Spec, **encoding: Any) -> Spec:
    """Marks of one look, one a row."""
    values = list(rows)
    # Marks of no row have nothing to be read out.
    return {"data": {"values": values}, "mark": mark if values else {**mark, "aria": False}, "encoding": encoding}


def draw_chart(*layers: Spec, key: str, title: str, height: int) -> None:
    """Draw layers over each other."""
    st.vega_lite_chart(spec={"layer": list(layers), "height": height, "title": title}, key=key, width="stretch")
