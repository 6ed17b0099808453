"""Chromium and a real app for the browser tests; left out with a reason where there is no Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.chromium import chromium_here
from tests.browser.screenshots import IDLE
from tests.browser.server import App, started_app
from tests.contracts.chat_models import obedient
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest, Reply

PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)
NARROW = 390
_SENT = ("http", "https", "ws", "wss")


@dataclass
class Watched:
    """A tab of the browser, with what it asked for and what went wrong in it."""

    page: Page
    home: str = ""
    requests: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))

    def open(self, path: str = "/") -> Page:
        self.page.goto(self.home + path)
        self.settle()
        return self.page

    def settle(self) -> None:
        """Until the page's script rests."""
        self.page.wait_for_selector(IDLE, timeout=PATIENCE_MS)

    def narrow(self) -> None:
        """The screen of a phone from here on."""
        self.page.set_viewport_size({"width": NARROW, "height": 844})

    @property
    def foreign(self) -> list[str]:
        """Requests that left for another origin than the app's."""
        own = urlsplit(self.home).netloc
        sent = [urlsplit(url) for url in self.requests]
        return [part.geturl() for part in sent if part.scheme in _SENT and part.netloc != own]

    def forget(self) -> None:
        """Make it a newcomer's tab: no cookie, nothing stored, nothing noted."""
        self.page.context.clear_cookies()
        self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        self.requests.clear()
        self.faults.clear()


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


@pytest.fixture(scope="package")
def rested() -> list[Watched]:
    """Tabs that wait for the next test: to open an address in one costs half of what it costs in a new one."""
    return []


@pytest.fixture
def open_tab(chrome: Browser, app: App, rested: list[Watched]) -> Iterator[OpenTab]:
    """Lends tabs, each with cookies and storage of its own; an error of a page's script fails the test.

    No page may ask another origin for anything. Only a ``new`` tab moves what it draws, which takes half a processor.
    """
    lent: list[Watched] = []
    with ExitStack() as closing:

        def make(language: str, size: ViewportSize, moving: bool) -> Page:
            motion: Literal["no-preference", "reduce"] = "no-preference" if moving else "reduce"
            context = chrome.new_context(viewport=size, locale=language, reduced_motion=motion)
            context.set_default_timeout(PATIENCE_MS)
            return context.new_page()

        def lend(
            *, width: int = 1280, height: int = 900, language: str = "en-US", home: str = app.url, new: bool = False
        ) -> Watched:
            own = new or language != "en-US"
            size: ViewportSize = {"width": width, "height": height}
            if rested and not own:
                tab = rested.pop()
                tab.forget()
                tab.page.set_viewport_size(size)
            else:
                tab = Watched(make(language, size, new))
                closing.callback(tab.page.context.close if own else lambda: rested.append(tab))
            tab.home = home
            lent.append(tab)
            return tab

        yield lend
        assert [fault for tab in lent for fault in tab.faults] == []
        assert [url for tab in lent for url in tab.foreign] == []
