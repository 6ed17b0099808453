"""What an imported run shows above all that is made of it: its label, and who could judge the rest."""

from __future__ import annotations

import streamlit as st

from components.ask.origin import origin_note
from components.common.i18n import Words
from engine.engine import Engine
from engine.model.values import RunRecord
from pages.parts.common.judging_rest import judging_rest


def imported(engine: Engine, record: RunRecord, words: Words) -> None:
    """The label, and below it the offer to judge what was not judged there."""
    with st.container(key="imported"):
        origin_note(record, words, key="origin_note")
        judging_rest(engine, [record], words, key="imported")
