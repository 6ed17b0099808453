"""What is to be promised of settings: bound and confidence of the tab *Certificate*, for what stands beside it."""

from __future__ import annotations

import streamlit as st

from components.common.i18n import Words
from components.tune.certificate import RISKS, promise_text
from engine.evaluation.certify import Certificates, Risk
from engine.model.config import RunConfig
from pages.parts.tune.evidence import Shown
from pages.parts.tune.tried import certificates, tried

RISK, BOUND, CONFIDENCE = "tune_risk", "tune_risk_bound", "tune_risk_confidence"
"""Keys of the tab's widgets."""
USUAL_BOUND, USUAL_CONFIDENCE = 0.1, 0.95


def safe_places(found: Certificates) -> frozenset[int]:
    """Places of the certified settings in their sweep."""
    return frozenset(place for place, certified in enumerate(found.certified) if certified)


def promised(shown: Shown, config: RunConfig, names: tuple[str, ...]) -> Certificates | None:
    """The certificates of a sweep for what is chosen in the tab; None where no answer tells anything."""
    if not tried(shown, config, names).figures["answered_right"].known_n.any():
        return None
    risk: Risk = st.session_state.get(RISK) or next(iter(RISKS))
    bound = float(st.session_state.get(BOUND) or USUAL_BOUND)
    confidence = float(st.session_state.get(CONFIDENCE) or USUAL_CONFIDENCE)
    return certificates(shown, config, names, risk=risk, bound=bound, confidence=confidence)


def promise_of(shown: Shown, config: RunConfig, names: tuple[str, ...], setting: int | None, words: Words) -> str:
    """What is certified of one setting of a sweep; empty where nothing is."""
    found = promised(shown, config, names) if setting is not None else None
    if found is None or setting is None or not found.certified[setting]:
        return ""
    return promise_text(found, words)
