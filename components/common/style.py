"""The little that the theme cannot say: spacing, the header, and what Streamlit shows of itself."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_SHEET = Path(__file__).parents[1] / "assets" / "page.css"


def apply_style() -> None:
    """Put the page's own style sheet into the document; it holds no text of anybody else."""
    st.html(_SHEET)
