"""Streamlit's own words in a box for files are English and cut off: ours stand in their place."""

from __future__ import annotations

import json

import streamlit as st


def uploader_words(place: str, choose: str, limits: str) -> None:
    """``place``: key of the container around the box; what its button says, and what may be put in."""
    box = f".st-key-{place} [data-testid='stFileUploaderDropzone']"
    button, limit = (json.dumps(text, ensure_ascii=False) for text in (choose, limits))
    st.html(
        f"<style>{box} [data-testid='stFileUploaderDropzoneInstructions'] {{ font-size: 0; }}"
        f"{box} [data-testid='stFileUploaderDropzoneInstructions'] * {{ display: none; }}"
        f"{box} [data-testid='stFileUploaderDropzoneInstructions']::after"
        f" {{ content: {limit}; font-size: 0.875rem; }}"
        f"{box} button [data-testid='stMarkdownContainer'] {{ font-size: 0; }}"
        f"{box} button [data-testid='stMarkdownContainer']::after {{ content: {button}; font-size: 0.875rem; }}</style>"
    )
