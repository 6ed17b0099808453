"""The card of the API for chat programs: saved settings as models."""

from __future__ import annotations

import streamlit as st

from components.common.i18n import Words
from components.common.url_state import base_path, own_origin
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.values import Fault
from engine.people import signing_in
from pages.parts.system.programs import Snippet, Way
from plugins.chat.settings import ChatSettings

_DEFAULT = "default"
_MOST_NAMES = 8


def chat_api(engine: Engine, words: Words) -> Way:
    """Return whether saved settings are served as models, which there are, and what a chat program learns of them."""
    address = f"{engine.settings.of(ChatSettings).public_url or own_origin() + base_path()}/v1"
    on = engine.settings.of(ChatSettings).openai_api
    fault = None
    try:
        saved = [name for name in engine.evaluation.settings() if name != _DEFAULT]
    except WorkbenchError as error:
        saved, fault = [], Fault.of(error)
    return Way(
        title=words("Chat programs (OpenAI's protocol)"),
        on=on,
        said=words(
            "Open WebUI and other clients of OpenAI's API chat with what was tuned: settings saved on Tune are models, "
            "and every chat is a run."
        ),
        turn_on="WORKBENCH_OPENAI_API=1",
        facts=_facts(saved, words) if on else (),
        snippets=_snippets(address, words),
        fault=fault if on else None,
    )


def _facts(saved: list[str], words: Words) -> tuple[str, ...]:
    names = [_DEFAULT, *saved[: _MOST_NAMES - 1]]
    # A name may hold backticks, which would end the code that it stands in.
    models = words(", ").join(f"`{name.replace('`', chr(39))}`" for name in names)
    more = len(saved) + 1 - len(names)
    listed = (
        words("models: {names}", names=models)
        if more < 1
        else words("models: {names} and {n} more", names=models, n=more)
    )
    key = words("key: a token of the role editor") if signing_in() else words("key: any text, since none is checked")
    return listed, key


def _snippets(address: str, words: Words) -> tuple[Snippet, ...]:
    key = "TOKEN" if signing_in() else "none"
    asked = f"""'{{"model": "{_DEFAULT}", "messages": [{{"role": "user", "content": "…"}}]}}'"""
    curl = f"""curl {address}/chat/completions -H "Authorization: Bearer {key}" \\
  -H "Content-Type: application/json" -d {asked}"""
    python = f"""from openai import OpenAI
client = OpenAI(base_url="{address}", api_key="{key}")
print([model.id for model in client.models.list()])"""
    return (
        Snippet(words("Open WebUI: Admin Panel, Settings, Connections, OpenAI API"), address),
        Snippet(words("Python, with OpenAI's client"), python),
        Snippet(words("In a terminal"), curl),
    )


def models_hint(engine: Engine, words: Words) -> None:
    """Draw what saved settings are for chat programs, where they are served."""
    if engine.settings.of(ChatSettings).openai_api:
        st.caption(words("Chat programs can use saved settings as models, by their names: see System, Other programs."))
