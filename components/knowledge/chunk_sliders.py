"""The three sliders that say how text is cut; each has a tick where its default stands."""

from __future__ import annotations

import streamlit as st

from components.common.i18n import Words
from engine.library.values import CHUNK_LIMITS, DEFAULT_CHUNKS, ChunkOptions
from engine.messages import N_

_SLIDERS = {
    "target_tokens": (
        N_("Cut near, tokens"),
        N_(
            "Size that pieces of a long section aim at. Small passages are found more exactly, large ones tell more of "
            "what surrounds them. Usual: 150–300; default {default}."
        ),
        10,
    ),
    "most_tokens": (
        N_("At most, tokens"),
        N_(
            "No passage is longer; a section up to this size stays whole. Embedding models read about 512 tokens at "
            "once. Default {default}."
        ),
        10,
    ),
    "overlap_tokens": (
        N_("Overlap at most, tokens"),
        N_(
            "Pieces of one section share their border sentence if it is no longer than this, so that neither begins in "
            "the dark. 0 shares nothing. Default {default}."
        ),
        5,
    ),
}
"""Name, explanation and step of each."""

_KEY = "kb_cut_"


def chunk_sliders(words: Words) -> ChunkOptions:
    """Draw the sliders; no matter where they stand, the options returned can be used, and what was changed is said."""
    st.caption(
        words(
            "A section that is short enough is one passage; a longer one is cut between sentences, list items or "
            "lines. Tokens are estimated: a Chinese character is one, other text a quarter a character."
        )
    )
    chosen: dict[str, int] = {}
    with st.container(key="kb_cut"):
        places = st.columns(len(CHUNK_LIMITS), gap="medium")
        for place, (name, (low, high)) in zip(places, CHUNK_LIMITS.items(), strict=True):
            label, explained, step = _SLIDERS[name]
            default = getattr(DEFAULT_CHUNKS, name)
            key = f"{_KEY}{name}"
            st.session_state.setdefault(key, default)
            value = place.slider(
                words(label),
                low,
                high,
                step=step,
                key=key,
                help=words(explained, default=default),
                persist_state="session",
            )
            chosen[name] = int(value)
    st.html(f"<style>{''.join(_tick(name) for name in CHUNK_LIMITS)}</style>")
    options = usable(**chosen)
    _corrected(chosen, options, words)
    if options != DEFAULT_CHUNKS:
        icon = ":material/restart_alt:"
        st.button(words("Back to the defaults"), icon=icon, type="tertiary", key="kb_cut_reset", on_click=_reset)
    return options


def usable(target_tokens: int, most_tokens: int, overlap_tokens: int) -> ChunkOptions:
    """Options that go together: at least the target fits into a passage, and half of it is not repeated."""
    return ChunkOptions(target_tokens, max(most_tokens, target_tokens), min(overlap_tokens, target_tokens // 2))


def _corrected(chosen: dict[str, int], options: ChunkOptions, words: Words) -> None:
    if chosen["most_tokens"] != options.most_tokens:
        names = {"most": words("At most, tokens"), "target": words("Cut near, tokens")}
        st.caption(
            words("“{most}” cannot be under “{target}”: {value} is used for both.", value=options.most_tokens, **names)
        )
    if chosen["overlap_tokens"] != options.overlap_tokens:
        st.caption(
            words("The overlap is at most half of what is aimed at: {value} is used.", value=options.overlap_tokens)
        )


def _reset() -> None:
    for name in CHUNK_LIMITS:
        st.session_state[f"{_KEY}{name}"] = getattr(DEFAULT_CHUNKS, name)


def _tick(name: str) -> str:
    """A rule of numbers only: a line on the slider's track where the default stands."""
    low, high = CHUNK_LIMITS[name]
    share = (getattr(DEFAULT_CHUNKS, name) - low) / (high - low)
    track = f".st-key-{_KEY}{name} .stSlider [role=group] > div"
    return (
        f"{track}{{position:relative}}"
        f"{track}::after{{content:'';position:absolute;left:calc({share:.2%} - 1px);top:12px;width:2px;"
        "height:16px;border-radius:1px;background:currentColor;opacity:.55;pointer-events:none}"
    )
