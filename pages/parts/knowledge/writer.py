"""The choice of the chat model that writes sentences of context, with what they cost."""

from __future__ import annotations

import streamlit as st

from components.common.amounts import count_text, span_text
from components.common.i18n import Words
from components.common.phrases import fault_text
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.library.values import ContextPrice
from engine.messages import N_
from engine.model.values import Fault
from engine.roles import CollectionInfo
from pages.parts.common.session_cache import cached_in_session
from pages.parts.knowledge.graph import extractor_choice


def writer_choice(engine: Engine, words: Words, *, key: str, info: CollectionInfo | None = None) -> str:
    """Draw the choice, with the price of sentences for all of ``info``; empty until a model is chosen."""
    first = (info.context_model,) if info is not None and info.context_model else ()
    model = extractor_choice(engine, words, key=key, label=N_("Written by"), first=first, rules=False)
    # What this model has written for the collection is copied.
    if info is not None and model and model != info.context_model:
        _price(engine, info, model, words)
    return model


def _price(engine: Engine, info: CollectionInfo, model: str, words: Words) -> None:
    try:
        asked = (info.name, info.fingerprint, model)
        price = cached_in_session("context_price", asked, lambda: engine.ingestions.context_price(info.name, model))
    except WorkbenchError as error:
        st.caption(" ".join(fault_text(Fault.of(error), words)))
        return
    st.caption(price_text(price, words))


def price_text(price: ContextPrice, words: Words) -> str:
    """Say how many calls, tokens and, where the model was timed here, minutes sentences of context take."""
    said = [
        words.count("1 call", "{n} calls", price.calls),
        words("about {n} tokens", n=count_text(round(price.tokens, -2) or price.tokens)),
    ]
    if price.seconds is not None:
        said.append(words("about {time}", time=span_text(price.seconds)))
    return " · ".join(said)
