"""Chat models other than Ollama's: LangChain's providers, whether they can be used, and what a server lists."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from engine.llm.connection import http_options, without_userinfo
from engine.llm.faults import KNOWN, LOCAL_FILE, OWN_KEY, KnownProvider, translate
from engine.llm.sizes import EVENTS, of_reply
from engine.model.system import OfferedModels, Provider
from engine.model.values import Fault
from engine.settings import Settings

if TYPE_CHECKING:
    import httpx

OPENAI = "openai"
OPENAI_PROTOCOL = (OPENAI, LOCAL_FILE)
"""Providers that are asked by OpenAI's protocol."""
_NO_KEY = "not-needed"
"""Servers on one's own machine want no key, but the client refuses to be made without one."""
_LIST_S = 3.0
_LONGEST_LIST = 500
_ANTHROPIC = {"anthropic-version": "2023-06-01"}


def provider_states(settings: Settings) -> tuple[Provider, ...]:
    """Return whether each known provider is installed and set up; looks at no server."""
    return tuple(_state(known, settings) for known in KNOWN)


def key_names() -> tuple[str, ...]:
    """The environment variables in which providers keep their keys."""
    return tuple(known.variable for known in KNOWN)


def openai_address(settings: Settings) -> str:
    """The set address with ``/v1`` where it names a host alone, user name and password included; else empty."""
    address = settings.openai_url
    return f"{address}/v1" if address and not urlsplit(address).path.strip("/") else address


def shown_openai_address(settings: Settings) -> str:
    """:func:`openai_address` without user name and password, for messages."""
    return without_userinfo(openai_address(settings))


def address_of(provider: str, settings: Settings) -> str:
    """The address to name where a provider does not answer; empty where it is the provider's own."""
    return shown_openai_address(settings) if provider == OPENAI else ""


def openai_options(settings: Settings, *, reply_tokens: int, timeout_s: float) -> dict[str, Any]:
    """Return the options of ``init_chat_model`` for ``openai:MODEL``; empty if neither address nor key is set."""
    import httpx

    own = settings.openai_api_key.get_secret_value()
    address = openai_address(settings)
    if not address:
        return {"api_key": own} if own else {}
    options = http_options(address, timeout_s=timeout_s, most=of_reply(reply_tokens, EVENTS))
    return {
        "base_url": address,
        # A key of the environment is for OpenAI itself: another server must not learn it.
        "api_key": own or _NO_KEY,
        "http_async_client": httpx.AsyncClient(**options),
        "http_client": httpx.Client(**options),
        "stream_usage": True,
        "extra_body": openai_extras(True, reply_tokens=reply_tokens),
    }


def openai_extras(own: bool, *, reply_tokens: int, schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """More fields of the request body than LangChain's: the limit under its older name, and the schema of the reply.

    ``own``: the server is not OpenAI's own, and may know only the older name.

    The schema goes past LangChain's own structured output, which answers a reply that was cut off with an exception
    in place of the reply.
    """
    extras: dict[str, Any] = {"max_tokens": reply_tokens} if own else {}
    if schema is not None:
        bare = {name: value for name, value in schema.items() if name not in ("title", "description")}
        described = {"name": schema["title"], "description": schema.get("description", ""), "schema": bare}
        extras["response_format"] = {"type": "json_schema", "json_schema": described}
    return extras


async def offered_models(settings: Settings, provider: str = OPENAI) -> OfferedModels:
    """The models that a provider lists: for ``openai`` the server at ``WORKBENCH_OPENAI_URL`` where that is set.

    Nothing where neither address nor key is set; never raises, and waits three seconds.
    """
    address, headers = _list_of(provider, settings)
    if not address:
        return OfferedModels(provider, ())
    try:
        async with asyncio.timeout(_LIST_S):
            names = await _listed(address, headers)
    except Exception as foreign:
        shown = without_userinfo(address)
        error = await asyncio.to_thread(translate, foreign, f"{provider}:", address=shown, seconds=_LIST_S)
        return OfferedModels(provider, (), Fault.of(error))
    return OfferedModels(provider, tuple(f"{provider}:{name}" for name in names))


def _list_of(provider: str, settings: Settings) -> tuple[str, Mapping[str, str]]:
    """Return a provider's address of models and the header with its key; empty if it is not set up."""
    own = settings.openai_api_key.get_secret_value() if provider == OPENAI else ""
    if provider == OPENAI and (address := openai_address(settings)):
        # A key of the environment is for OpenAI itself: another server must not learn it.
        return address, _bearer(own or _NO_KEY)
    known = next((item for item in KNOWN if item.name == provider), None)
    key = own or (os.environ.get(known.variable, "") if known else "")
    if known is None or not key:
        return "", {}
    return known.lists_at, {"x-api-key": key, **_ANTHROPIC} if provider == "anthropic" else _bearer(key)


def _bearer(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def _listed(address: str, headers: Mapping[str, str]) -> list[str]:
    import httpx

    client: httpx.AsyncClient = await asyncio.to_thread(
        lambda: httpx.AsyncClient(headers=headers, **http_options(address, timeout_s=_LIST_S))
    )
    async with client:
        answer = (await client.get(f"{address}/models")).raise_for_status().json()
    # Google writes ``models/NAME``, and LangChain wants the name.
    return sorted(str(item["id"]).removeprefix("models/") for item in answer["data"])[:_LONGEST_LIST]


def _state(known: KnownProvider, settings: Settings) -> Provider:
    installed = find_spec(known.package.replace("-", "_")) is not None
    configured = bool(os.environ.get(known.variable))
    if known.name != OPENAI:
        return Provider(known.name, known.package, installed, configured, known.variable, key_set=configured)
    address = shown_openai_address(settings)
    own = bool(settings.openai_api_key.get_secret_value())
    # A key of the environment is for OpenAI itself.
    key_set = own or (configured and not address)
    variable = OWN_KEY if own or address else known.variable
    return Provider(known.name, known.package, installed, key_set or bool(address), variable, address, key_set)
