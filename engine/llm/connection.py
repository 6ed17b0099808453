"""The connection to Ollama: its address, time limits, and one client for each event loop."""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast
from urllib.parse import unquote, urlsplit
from weakref import WeakKeyDictionary

from engine.llm.adaptive_concurrency import LearningLane
from engine.llm.faults import LOCAL_FILE, translate
from engine.llm.ollama_package import ollama_package
from engine.llm.sizes import WHOLE, Most

if TYPE_CHECKING:
    from ollama import AsyncClient

    from engine.settings import Settings

T = TypeVar("T")

CONNECT_TIMEOUT_S = 5.0


class PerLoop(Generic[T]):
    """One value for each running event loop: HTTP clients and semaphores must not be shared between loops."""

    def __init__(self) -> None:
        self._values: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[object, T]] = WeakKeyDictionary()

    def find(self, key: object = None) -> T | None:
        return self._values.get(asyncio.get_running_loop(), {}).get(key)

    def keep(self, value: T, key: object = None) -> T:
        """Keep the value, unless there is one already; return the one that counts."""
        return self._values.setdefault(asyncio.get_running_loop(), {}).setdefault(key, value)


_lanes: PerLoop[LearningLane | asyncio.Semaphore] = PerLoop()


def lane(settings: Settings, model: str) -> AbstractAsyncContextManager[Any]:
    """A place in the queue that all graders of one host share: so many calls at a time, from all senders.

    That is ``grader_concurrency`` where it was set; a server on a machine of one's own begins with one otherwise, and
    gets more while that makes it quicker.
    """
    provider = model.partition(":")[0]
    host = shown_address(settings) if provider == "ollama" else provider
    limit = settings.grader_concurrency
    own = provider in ("ollama", LOCAL_FILE) or (provider == "openai" and bool(settings.openai_url))
    if own and "grader_concurrency" not in settings.model_fields_set:
        key = (host, model, limit)
        learning = _lanes.find(key) or _lanes.keep(LearningLane(limit), key)
        assert isinstance(learning, LearningLane)
        return learning.turn()
    fixed = _lanes.find((host, limit)) or _lanes.keep(asyncio.Semaphore(limit), (host, limit))
    assert isinstance(fixed, asyncio.Semaphore)
    return fixed


def shown_address(settings: Settings) -> str:
    """Ollama's address without user name and password, for messages."""
    return without_userinfo(settings.ollama_url).rstrip("/")


def without_userinfo(address: str) -> str:
    """Return an address as it may be shown: with its scheme, without user name and password; empty stays empty."""
    if not address:
        return ""
    scheme, _, rest = address.rpartition("://")
    # A password may hold a slash, so the last @ counts wherever it stands.
    return f"{scheme or 'http'}://{rest.rpartition('@')[2]}"


def keep_alive(settings: Settings) -> str | int:
    """Ollama takes a duration such as ``10m`` as text, but bare seconds and -1 only as a number."""
    text = settings.ollama_keep_alive.strip()
    return int(text) if text.lstrip("-").isdigit() else text


def client_options(
    settings: Settings, *, timeout_s: float, connect_s: float = CONNECT_TIMEOUT_S, most: Most = WHOLE
) -> dict[str, Any]:
    """Options of the HTTP clients under Ollama's and LangChain's classes, the header of a reverse proxy included."""
    options = http_options(shown_address(settings), timeout_s=timeout_s, connect_s=connect_s, most=most)
    return {**options, "headers": dict(_credentials(settings))}


def http_options(
    address: str, *, timeout_s: float, connect_s: float = CONNECT_TIMEOUT_S, most: Most = WHOLE
) -> dict[str, Any]:
    """Options of HTTP clients for a server at any address; a body beyond ``most`` is ``Oversized``."""
    import httpx

    from engine.llm.counted import counted

    return {
        "event_hooks": counted(most),
        "timeout": httpx.Timeout(timeout_s, connect=min(connect_s, timeout_s)),
        # Those classes cannot be closed: without a pool no connection outlives its answer.
        "limits": httpx.Limits(max_connections=None, max_keepalive_connections=0),
        "verify": tls(),
        # A proxy of the environment cannot reach this machine's own loopback.
        "trust_env": not _is_loopback(urlsplit(address).hostname or ""),
    }


def ollama_client(
    settings: Settings, *, timeout_s: float, connect_s: float = CONNECT_TIMEOUT_S, most: Most = WHOLE
) -> AsyncClient:
    """A bare client of Ollama, for embedding and for looking round; imports the package on first use."""
    options = client_options(settings, timeout_s=timeout_s, connect_s=connect_s, most=most)
    return cast("AsyncClient", ollama_package().AsyncClient(shown_address(settings), **options))


@asynccontextmanager
async def asking_ollama(
    settings: Settings,
    model: str,
    *,
    timeout_s: float,
    connect_s: float = CONNECT_TIMEOUT_S,
    most: Most = WHOLE,
) -> AsyncIterator[AsyncClient]:
    """A bare client of Ollama; what is raised while it is used comes out as an error of ours about ``model``."""
    try:
        # The first one imports the client's package, which takes a while and says nothing of Ollama.
        yield await asyncio.to_thread(ollama_client, settings, timeout_s=timeout_s, connect_s=connect_s, most=most)
    except Exception as foreign:
        # So does the table of what foreign errors mean.
        raise await asyncio.to_thread(
            translate, foreign, model, address=shown_address(settings), seconds=timeout_s
        ) from foreign


def _credentials(settings: Settings) -> Mapping[str, str]:
    """The header for a user name and password in the address, as a reverse proxy wants them."""
    userinfo, at, _ = settings.ollama_url.rpartition("://")[2].rpartition("@")
    if not at:
        return {}
    token = base64.b64encode(unquote(userinfo).encode()).decode()
    return {"Authorization": f"Basic {token}"}


@lru_cache(maxsize=1)
def tls() -> ssl.SSLContext:
    """The certificates of this system, for every client of this process."""
    # Loading the certificates takes 50 ms; clients are made for each run.
    import httpx

    return httpx.create_ssl_context()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in ("", "localhost")


class Turns(Protocol):
    """Turns at the servers of models, among all processes that share a database."""

    def turn(self, server: str) -> AbstractAsyncContextManager[None]:
        """Wait until a server may be given one more call, and hold that place meanwhile."""


shared_turns: dict[str, Turns] = {}
"""By the address of the shared database; the plug-in that opens it puts them in."""


def turns_of(settings: Settings) -> Turns | None:
    """The turns that calls with these settings take; None where no other call has to be waited for."""
    return shared_turns.get(settings.database_url.get_secret_value()) if settings.database_url else None
