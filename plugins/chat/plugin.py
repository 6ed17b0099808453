"""Chat programs that speak the protocol of OpenAI: saved settings are models at ``/v1``, and every chat is a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.middleware import Middleware

from engine.messages import N_
from engine.plugins import Front, Plugin
from plugins.chat.settings import ChatSettings

if TYPE_CHECKING:
    from components.common.i18n import Words
    from engine.engine import Engine
    from pages.parts.system.programs import Way


def _outermost(front: Front) -> list[Middleware]:
    if not front.settings.of(ChatSettings).openai_api:
        return []
    from plugins.chat.openai_errors import OpenAIErrors

    return [Middleware(OpenAIErrors, base=front.base)]


def _middleware(front: Front) -> list[Middleware]:
    if not front.settings.of(ChatSettings).openai_api:
        return []
    from plugins.chat.api import served

    return [served(front)]


def _card(engine: Engine, words: Words) -> Way:
    from plugins.chat.card import chat_api

    return chat_api(engine, words)


def _models_hint(engine: Engine, words: Words) -> None:
    from plugins.chat.card import models_hint

    models_hint(engine, words)


PLUGIN = Plugin(
    name="chat",
    title=N_("Chat programs (OpenAI's protocol)"),
    settings=ChatSettings,
    outermost=_outermost,
    middleware=_middleware,
    uploads=("/v1/chat/completions",),
    panels={"programs": _card, "saved_settings": _models_hint},
)
