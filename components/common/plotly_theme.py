"""Streamlit's theme for Plotly, which the start leaves out: import this before drawing with Plotly."""

from __future__ import annotations

import plotly.io
from streamlit.elements.lib.streamlit_plotly_theme import configure_streamlit_plotly_theme


def themed() -> None:
    """Make the theme where the import of Streamlit did not."""
    if "streamlit" not in plotly.io.templates:
        configure_streamlit_plotly_theme()
