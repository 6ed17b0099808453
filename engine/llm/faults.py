"""Foreign exceptions of model clients as errors of ours: one table, so that nothing above sees a client library."""

from __future__ import annotations

import json
import os
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.request import getproxies

from engine.errors import ModelError, ModelGarbled, ModelInterrupted, ModelRefused, ModelTimeout, WorkbenchError
from engine.llm.ollama_package import ollama_package
from engine.llm.sizes import TooLarge

OWN_KEY = "WORKBENCH_OPENAI_API_KEY"
RERANK = "rerank"
"""Stands before the name of a model of a rerank server."""
LOCAL_FILE = "local"
"""Stands before the name of a GGUF file, which a process of this program's own serves."""
RERANK_KEY = "WORKBENCH_RERANK_API_KEY"
Kind = Literal["unreachable", "timeout", "interrupted", "garbled", "oversized", "refused"]
_PROXY = re.compile(r"(?:Unknown scheme for proxy URL|Using SOCKS proxy)[^\n\[]*")
LONGEST_MESSAGE = 2000
"""Characters that are kept of what a server says of its own fault."""

_STATUS_OF = {
    "ModelAuthenticationError": 401,
    "ModelPermissionDeniedError": 403,
    "ModelInvalidRequestError": 400,
    "ModelNotFoundError": 404,
    "ModelRateLimitError": 429,
    "ModelAPIError": 500,
    "ContextOverflowError": 400,
}


@lru_cache(maxsize=1)
def kinds() -> Mapping[type[BaseException], Kind]:
    """Return the meaning of foreign exception classes; an unlisted class has that of its nearest base."""
    import httpx
    import pydantic
    from langchain_core import exceptions as langchain

    ollama = ollama_package()
    return {
        TooLarge: "oversized",
        Exception: "refused",
        # Ollama's client reads replies without checking their shape.
        AttributeError: "garbled",
        KeyError: "garbled",
        TypeError: "garbled",
        UnicodeError: "garbled",
        json.JSONDecodeError: "garbled",
        pydantic.ValidationError: "garbled",
        OSError: "unreachable",
        ConnectionError: "unreachable",
        ConnectionResetError: "interrupted",
        ConnectionAbortedError: "interrupted",
        BrokenPipeError: "interrupted",
        TimeoutError: "timeout",
        ollama.RequestError: "refused",
        ollama.ResponseError: "refused",
        httpx.HTTPError: "refused",
        httpx.HTTPStatusError: "refused",
        httpx.RequestError: "refused",
        httpx.TransportError: "interrupted",
        httpx.TimeoutException: "timeout",
        httpx.ConnectTimeout: "unreachable",
        httpx.ReadTimeout: "timeout",
        httpx.WriteTimeout: "timeout",
        httpx.PoolTimeout: "timeout",
        httpx.NetworkError: "interrupted",
        httpx.ConnectError: "unreachable",
        httpx.ReadError: "interrupted",
        httpx.WriteError: "interrupted",
        httpx.CloseError: "interrupted",
        httpx.ProxyError: "unreachable",
        httpx.UnsupportedProtocol: "unreachable",
        httpx.ProtocolError: "interrupted",
        httpx.LocalProtocolError: "refused",
        httpx.RemoteProtocolError: "interrupted",
        httpx.DecodingError: "garbled",
        httpx.TooManyRedirects: "garbled",
        httpx.InvalidURL: "unreachable",
        httpx.CookieConflict: "refused",
        httpx.StreamError: "interrupted",
        httpx.StreamConsumed: "interrupted",
        httpx.StreamClosed: "interrupted",
        httpx.ResponseNotRead: "interrupted",
        httpx.RequestNotRead: "interrupted",
        langchain.LangChainException: "refused",
        langchain.OutputParserException: "garbled",
        langchain.ModelError: "refused",
        langchain.ModelConnectionError: "unreachable",
        langchain.ModelTimeoutError: "timeout",
    }


def translate(error: Exception, model: str, *, address: str, seconds: float) -> WorkbenchError:
    """The error of ours that says what ``error`` means for ``model``, named as its role names it.

    ``address`` is where its server was looked for, ``seconds`` how long the reply could take. Errors of ours come
    back as they are.
    """
    if (ours := error if isinstance(error, WorkbenchError) else _of_environment(error, model, address)) is not None:
        return ours
    error = _oversized(error) or error
    provider, _, name = model.partition(":")
    status = status_of(error)
    kind = kind_of(error)
    if kind == "refused" and provider == "ollama":
        return _refused_by_ollama(str(getattr(error, "error", error)), model, name, status)
    match kind:
        case "unreachable":
            return _unreachable(model, address)
        case "timeout":
            return ModelTimeout(model=model, seconds=f"{seconds:.0f}")
        case "interrupted":
            return ModelInterrupted.mid_reply(model=model)
        case "oversized":
            return ModelError.reply_too_large(model=model, limit_kb=round(getattr(error, "most", 0) / 1000))
        case "garbled" if provider == "ollama":
            return ModelGarbled(model=model)
        case _ if status in (401, 403) and provider != "ollama":
            return ModelError.key_refused(model=model, variable=key_variable(provider, address), status=status)
        case _ if status == 404 and provider != "ollama":
            return ModelError.not_served(model=model)
        case _:
            message = _said_by_server(error) or f"{type(error).__name__}: {error}"
            return ModelRefused(model=model, status=status, message=_short(message))


def _unreachable(model: str, address: str) -> ModelError:
    provider = model.partition(":")[0]
    if provider == LOCAL_FILE or model.lower().endswith(".gguf"):
        # It was there when the call was begun.
        return ModelInterrupted.mid_reply(model=model)
    if provider == "ollama":
        return ModelError.ollama_unreachable(address=address)
    if provider == RERANK:
        return ModelError.rerank_unreachable(address=address)
    # Only the server of one's own has an address of the settings; providers know their own.
    return (
        ModelError.openai_unreachable(address=address)
        if address
        else ModelError.provider_unreachable(provider=provider)
    )


def worth_repeating(error: ModelError) -> bool:
    """Return whether a retry may succeed at once: after a truncated reply or a server failure, not after a refusal."""
    if isinstance(error, ModelRefused):
        status = int(error.params.get("status", 0))
        return status >= 500 or status == 429
    return isinstance(error, ModelInterrupted | ModelGarbled)


def status_of(error: BaseException) -> int:
    """The HTTP status behind a foreign exception, 0 where there was none."""
    for source in (error, getattr(error, "response", None)):
        status = getattr(source, "status_code", None)
        if isinstance(status, int):
            return status
    return next((_STATUS_OF[base.__name__] for base in type(error).__mro__ if base.__name__ in _STATUS_OF), 0)


def kind_of(error: Exception) -> Kind:
    known = kinds()
    nearest = next(base for base in type(error).__mro__ if base in known)
    if nearest is not Exception:
        return known[nearest]
    # Clients of other providers give their exceptions the same names, no matter what they inherit from.
    name = type(error).__name__.casefold()
    if "timeout" in name:
        return "timeout"
    return "unreachable" if "connection" in name else "refused"


def _of_environment(error: Exception, model: str, address: str) -> WorkbenchError | None:
    """The fault where httpx cannot use what the environment names, also inside what other clients say; else None."""
    import httpx

    said = _PROXY.search(str(error)) if isinstance(error, ValueError | ImportError) else None
    if said:
        return ModelError.proxy_unusable(model=model, message=_short(said.group().strip()))
    if isinstance(error, httpx.InvalidURL) and _is_address(address) and (set_to := getproxies().get("no")):
        return ModelError.proxy_unusable(model=model, message=f"NO_PROXY={set_to}: {_short(str(error))}")
    certificates = os.environ.get("SSL_CERT_FILE")
    # What is wrong with the certificates of a server comes as an error of httpx.
    if certificates and isinstance(error, FileNotFoundError | PermissionError | ssl.SSLError):
        return ModelError.certificates_unreadable(model=model, path=certificates, message=error.strerror or str(error))
    return None


def _is_address(address: str) -> bool:
    import httpx

    try:
        return bool(httpx.URL(address).host)
    except httpx.InvalidURL:
        return False


def _oversized(error: BaseException) -> Exception | None:
    """Find the error that stopped an oversized reply: clients of providers wrap it in errors of their own."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, TooLarge):
            return inner
        inner = inner.__cause__ or inner.__context__
    return None


def _said_by_server(error: Exception) -> str:
    """The reason in the body of a reply that refuses; empty where there is no such reply, or nothing in it."""
    import httpx

    response = getattr(error, "response", None)
    if not isinstance(error, httpx.HTTPStatusError) or response is None:
        return ""
    try:
        text = str(response.text)
    except httpx.StreamError:  # a stream that was not read
        return ""
    try:
        said = json.loads(text)
    except ValueError:
        return " ".join(text.split())
    while isinstance(said, Mapping):
        said = next((said[name] for name in ("error", "message", "detail", "msg") if said.get(name)), None)
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False) if said else ""


def _short(message: str) -> str:
    return message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]}…"


def _refused_by_ollama(message: str, model: str, name: str, status: int) -> ModelError:
    message = _short(message)
    if status == 404 and "model" in message.casefold():
        return not_pulled(name)
    if status < 0:
        # An error inside a stream that had started with 200: the model's process died under it.
        return ModelInterrupted.with_reason(model=model, message=message)
    return ModelRefused(model=model, status=status, message=message)


def not_pulled(name: str) -> ModelError:
    """Say that Ollama lacks a model, with the command that fetches it."""
    return ModelError.not_pulled(model=name, command=f"ollama pull {name}")


@dataclass(frozen=True, slots=True)
class KnownProvider:
    """A provider of ``init_chat_model`` that needs a key and nothing else."""

    name: str
    variable: str
    """Where the key is set."""
    lists_at: str = ""
    """What ``/models`` is put behind to learn which models it has; empty: it is not asked."""

    @property
    def package(self) -> str:
        """Package required for it."""
        return f"langchain-{self.name.replace('_', '-')}"


KNOWN = (
    KnownProvider("openai", "OPENAI_API_KEY", "https://api.openai.com/v1"),
    KnownProvider("anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com/v1"),
    KnownProvider("google_genai", "GOOGLE_API_KEY", "https://generativelanguage.googleapis.com/v1beta/openai"),
    KnownProvider("mistralai", "MISTRAL_API_KEY", "https://api.mistral.ai/v1"),
    KnownProvider("deepseek", "DEEPSEEK_API_KEY", "https://api.deepseek.com"),
    KnownProvider("groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1"),
    KnownProvider("xai", "XAI_API_KEY", "https://api.x.ai/v1"),
)
"""Any other provider can be named all the same."""


def known_provider(name: str) -> KnownProvider:
    """A provider by its name; one that is not listed is taken to name key and package as the others do."""
    return next((item for item in KNOWN if item.name == name), KnownProvider(name, f"{name.upper()}_API_KEY"))


def key_variable(provider: str, address: str = "") -> str:
    """Name the setting of a provider's key; a server at an ``address`` of one's own gets no key of the environment."""
    if provider == RERANK:
        return RERANK_KEY
    return OWN_KEY if provider == "openai" and address else known_provider(provider).variable
