"""Chat programs that speak the protocol of OpenAI: saved settings are models at ``/v1``, and every chat is a run."""

from __future__ import annotations

from starlette.middleware import Middleware

from engine.messages import N_
from engine.model.later import later
from engine.plugins import Front, Plugin
from plugins.chat.settings import ChatSettings


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


PLUGIN = Plugin(
    name="chat",
    title=N_("Chat programs (OpenAI's protocol)"),
    settings=ChatSettings,
    outermost=_outermost,
    middleware=_middleware,
    uploads=("/v1/chat/completions",),
    panels={"programs": later("plugins.chat.card:chat_api"), "saved_settings": later("plugins.chat.card:models_hint")},
)
