"""LangChain chat models as this product needs them; importing this module imports LangChain, so import it lazily."""

from __future__ import annotations

import re
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_ollama import ChatOllama
from ollama import AsyncClient

from engine.errors import ModelError
from engine.llm.connection import client_options, keep_alive, shown_address
from engine.llm.faults import key_variable, known_provider
from engine.llm.pieces import THINKING_FIELDS, thinking_in
from engine.llm.providers import OPENAI, OPENAI_PROTOCOL, openai_options
from engine.llm.sizes import of_reply
from engine.model.config import RoleModel

if TYPE_CHECKING:
    from engine.settings import Settings

_PACKAGE = re.compile(r"requires the (\S+) package")


class _WholePromptClient(AsyncClient):
    """Ollama's client, asking the server to refuse a prompt that it would otherwise cut without a word.

    The Python package has no parameter for it; servers that do not know the two fields leave them out.
    """

    async def _request(self, cls: Any, *args: Any, **kwargs: Any) -> Any:
        body = kwargs.get("json")
        if isinstance(body, dict) and args[1:2] == ("/api/chat",):
            kwargs["json"] = {**body, "truncate": False, "shift": False}
        return await super()._request(cls, *args, **kwargs)


class _ThinkingOllama(ChatOllama):
    """ChatOllama that keeps thinking whenever the server sends it, no matter what was asked.

    The base class drops it unless ``reasoning`` is true, and true would be refused by models that cannot think.
    """

    think: bool | None = None

    def _chat_params(self, messages: list[BaseMessage], stop: list[str] | None = None, **kwargs: Any) -> dict[str, Any]:
        return {**super()._chat_params(messages, stop, **kwargs), "think": self.think}


@cache
def _thinking_openai() -> type[BaseChatModel]:
    from langchain_openai import ChatOpenAI

    class ThinkingOpenAI(ChatOpenAI):
        """ChatOpenAI that keeps the thinking which compatible servers send next to the content."""

        def _convert_chunk_to_generation_chunk(self, chunk: dict[str, Any], *args: Any) -> ChatGenerationChunk | None:
            made = super()._convert_chunk_to_generation_chunk(chunk, *args)
            delta = next((choice.get("delta") for choice in chunk.get("choices") or ()), None)
            if made is not None and delta and (thinking := thinking_in(delta)):
                made.message.additional_kwargs[THINKING_FIELDS[0]] = thinking
            return made

    return ThinkingOpenAI


def ollama_chat(
    model: RoleModel, settings: Settings, *, think: bool | None, reply_tokens: int, timeout_s: float
) -> BaseChatModel:
    """A client for ``ollama:MODEL``: always with context size, keep-alive and time limit."""
    options = client_options(settings, timeout_s=timeout_s, most=of_reply(reply_tokens))
    made = _ThinkingOllama(
        model=model.model.partition(":")[2],
        base_url=shown_address(settings),
        client_kwargs=options,
        temperature=model.temperature,
        seed=model.seed,
        num_ctx=model.num_ctx,
        num_predict=reply_tokens,
        keep_alive=keep_alive(settings),
        reasoning=True,
        think=think,
    )
    made._async_client = _WholePromptClient(host=shown_address(settings), **options)
    return made


def provider_chat(model: RoleModel, settings: Settings, *, reply_tokens: int, timeout_s: float) -> BaseChatModel:
    """A client for any ``provider:model`` that LangChain knows; ``ModelError`` says what is missing.

    The client's own retries are off: an attempt that is not in the record must not happen.
    """
    from langchain.chat_models import init_chat_model

    provider, _, name = model.model.partition(":")
    own: dict[str, Any] = {}
    if provider in OPENAI_PROTOCOL:
        own = openai_options(settings, reply_tokens=reply_tokens, timeout_s=timeout_s)
        # Its own limit is two minutes to the first token, which a long prompt on a busy processor takes.
        own["stream_chunk_timeout"] = None
        # The schema is sent past LangChain; what it would advise here is not what we call.
        warnings.filterwarnings("ignore", message="This model does not support OpenAI's structured output")
    own |= {"temperature": model.temperature, "max_tokens": reply_tokens, "timeout": timeout_s, "max_retries": 0}
    try:
        if provider in OPENAI_PROTOCOL:
            return _thinking_openai()(model=name, **own)
        made: BaseChatModel = init_chat_model(name, model_provider=provider, **own)
        return made
    except ImportError as missing:
        if "proxy" in str(missing).casefold():
            raise
        found = _PACKAGE.search(str(missing))
        package = found.group(1) if found else known_provider(provider).package
        raise ModelError.provider_not_installed(model=model.model, package=package) from missing
    except ValueError as unknown:
        if "provider" not in str(unknown):
            raise
        raise ModelError.unknown_provider(model=model.model) from unknown
    except Exception as unkeyed:
        if provider != OPENAI or "api_key" not in str(unkeyed):
            raise
        raise ModelError.key_missing(
            model=model.model, variable=key_variable(provider, settings.openai_url)
        ) from unkeyed
