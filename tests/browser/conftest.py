"""Chromium and a real app for the browser tests; left out with a reason where there is no Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import chromium_here
from tests.browser.screenshots import IDLE
from tests.browser.server import App, started_app
from tests.contracts.chat_models import obedient
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest, Reply

PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)
_SENT = ("http", "https", "ws", "wss")


@dataclass
class Watched:
    """A tab of the browser, with what it asked for and what went wrong in it."""

    page: Page
    home: str
    requests: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def open(self, path: str = "/") -> Page:
        self.page.goto(self.home + path)
        self.settle()
        return self.page

    def settle(self) -> None:
        """Until the page's script rests."""
        self.page.wait_for_selector(IDLE, timeout=PATIENCE_MS)

    @property
    def foreign(self) -> list[str]:
        """Requests that left for another origin than the app's."""
        own = urlsplit(self.home).netloc
        sent = [urlsplit(url) for url in self.requests]
        return [part.geturl() for part in sent if part.scheme in _SENT and part.netloc != own]


OpenTab = Callable[..., Watched]


@pytest.fixture(scope="package")
def chrome() -> Iterator[Browser]:
    """Package-wide and no wider: while Playwright runs, no other test of this thread can run an event loop."""
    with chromium_here() as browser:
        yield browser


class Replies:
    """What the stand-in of Ollama answers; a test may put another function in ``current``."""

    current: Callable[[RecordedRequest], str | Reply] = staticmethod(obedient)

    def __call__(self, request: RecordedRequest) -> str | Reply:
        return self.current(request)


@pytest.fixture(scope="package")
def replies() -> Replies:
    return Replies()


@pytest.fixture(scope="package")
def ollama(replies: Replies) -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["qwen3:8b", "nomic-embed-text"], reply=replies) as server:
        yield server


@pytest.fixture(scope="package")
def app(ollama: OllamaStandIn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """One app for the package; its Ollama is the stand-in."""
    folder: Path = tmp_path_factory.mktemp("app")
    with started_app(folder, {"WORKBENCH_OLLAMA_URL": ollama.url}) as started:
        started.wait_until_served()
        started.wait_until_ready()
        yield started


@pytest.fixture
def open_tab(chrome: Browser, app: App) -> Iterator[OpenTab]:
    """Makes tabs, each with cookies and storage of its own; an error of a page's script fails the test."""
    tabs: list[Watched] = []
    with ExitStack() as closing:

        def make(*, width: int = 1280, height: int = 900, language: str = "en-US", home: str = app.url) -> Watched:
            context = chrome.new_context(viewport={"width": width, "height": height}, locale=language)
            context.set_default_timeout(PATIENCE_MS)
            closing.callback(context.close)
            tab = Watched(context.new_page(), home)
            tab.page.on("request", lambda request: tab.requests.append(request.url))
            tab.page.on("websocket", lambda socket: tab.requests.append(socket.url))
            tab.page.on("pageerror", lambda error: tab.faults.append(str(error)))
            tabs.append(tab)
            return tab

        yield make
        faults = [fault for tab in tabs for fault in tab.faults]
    assert not faults
