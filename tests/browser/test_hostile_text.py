"""No one's words become markup: hostile passages, questions, file names and model replies reach no other origin."""

from __future__ import annotations

import base64
import http.server
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Dialog, Page, expect

from tests.browser.conftest import OpenTab, Replies
from tests.browser.server import App
from tests.browser.test_workbench import open_source
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest, ServerError

pytestmark = pytest.mark.browser
_CHAT = "ollama:qwen3:8b"
_POLICY = "content-security-policy"


@dataclass
class Catcher:
    """A server on another port, and so of another origin, that notes whoever asks it for anything."""

    url: str
    asked: list[str] = field(default_factory=list)

    def bait(self, place: str) -> str:
        """Text that would make a careless page ask the catcher, in every way we know."""
        at = f"{self.url}/{place}"
        return (
            f"![picture]({at}/markdown.png) [link]({at}/link) <img src='{at}/img.png' onerror=\"fetch('{at}/error')\">"
            f"<script>fetch('{at}/script')</script><iframe src='{at}/frame'></iframe>"
            f"<link rel=stylesheet href='{at}/sheet.css'><style>body{{background:url({at}/style.png)}}</style>"
            f"<svg onload=\"fetch('{at}/svg')\"><image href='{at}/svg.png'/></svg>"
            f"<a href=\"javascript:fetch('{at}/javascript')\">press</a> $\\includegraphics{{{at}/tex.png}}$ {at}/bare"
        )


@pytest.fixture
def catcher() -> Iterator[Catcher]:
    caught: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            caught.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return None

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Catcher(f"http://127.0.0.1:{server.server_address[1]}", caught)
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def hostile_models(replies: Replies, catcher: Catcher) -> Iterator[None]:
    """A grader that judges by a passage's place, and replies that all carry bait."""

    def reply(request: RecordedRequest) -> str:
        fields = request.schema["properties"] if request.schema else {}
        if "relevant" in fields:
            relevant = "section one" in request.prompt.lower()
            return json.dumps({"relevant": relevant, "confidence": 0.9, "reason": f"Because {catcher.bait('reason')}"})
        if "query" in fields:
            said = {"query": f"tea again {catcher.bait('query')}", "reason": catcher.bait("why"), "keywords": ["tea"]}
            return json.dumps(said)
        return f"Tea is tea [1].\n\n# {catcher.bait('answer')}\n\n- {catcher.bait('list')} [1]"

    replies.current = reply
    yield
    del replies.current


def test_hostile_text_of_every_kind_causes_no_request_to_another_origin(
    app: App, open_tab: OpenTab, catcher: Catcher, hostile_models: None, ollama: OllamaStandIn
) -> None:
    """SC-12; everything on the page is untrusted, and everything that the app serves carries the policy."""
    name = f"<img src={catcher.url}/name.png>![n]({catcher.url}/name2.png).md"
    text = f"# {catcher.bait('title')}\n\n" + "\n\n".join(
        f"## Section {number} {catcher.bait('section')}\n\nTea of section {number}. {catcher.bait('passage')}"
        for number in ("one", "two", "three")
    )
    body = {"name": name, "content_base64": base64.b64encode(text.encode()).decode()}
    app.post("/api/collections/hostile/sources", body)

    tab = open_tab(new=True)
    dialogs: list[str] = []
    served: dict[str, str] = {}

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    tab.page.on("dialog", note)
    tab.page.on("response", lambda answer: served.update({answer.url: answer.headers.get(_POLICY, "")}))
    models = "&".join(f"{role}={_CHAT}" for role in ("grader", "rewriter", "generator"))
    page = tab.open(f"/?collection=hostile&similarity_threshold=0&max_rewrites=1&lang=en&{models}")
    box = page.get_by_role("textbox", name="Question")
    box.fill(f"What of tea? {catcher.bait('question')}"[:1900])
    box.press("Enter")
    page.get_by_role("tab", name="Rewrites 1").wait_for()
    expect(page.get_by_text("Tea is tea").first).to_be_visible()
    _visit_everything(page)
    tab.settle()
    assert _baited(page, catcher) == 0

    # The model server's own words about a failure are untrusted too.
    ollama.script("chat", *(ServerError(500, catcher.bait("error")) for _ in range(40)))
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    ollama.forget_script("chat")
    _visit_everything(page)
    tab.settle()

    page.goto(f"{tab.home}/knowledge?lang=en&view=collections&kb_collection=hostile")
    tab.settle()
    open_source(page, "name2.png")
    expect(page.get_by_role("dialog")).to_contain_text("Tea of section one")
    page.get_by_role("dialog").get_by_role("button", name=re.compile("Delete$")).click()
    expect(page.get_by_role("dialog")).to_contain_text("name2.png")

    assert catcher.asked == []
    assert dialogs == []
    assert _baited(page, catcher) == 0
    own = {url: policy for url, policy in served.items() if url.startswith(tab.home)}
    assert own and not [url for url, policy in own.items() if "default-src 'self'" not in policy]


def _baited(page: Page, catcher: Catcher) -> int:
    """Elements that point at the catcher, inside the inline components too: locators look into shadow roots."""
    sources = ("img", "iframe", "script", "image", "source", "object", "embed")
    links = [f'{tag}[href*="{catcher.url}"]' for tag in ("a", "link", "image")]
    pointing = [f'{tag}[src*="{catcher.url}"]' for tag in sources]
    return page.locator(", ".join([*pointing, *links, "[onerror]", "[onload]"])).count()


def _visit_everything(page: Page) -> None:
    """Every tab, every row that opens, and the mouse over what may show a tooltip."""
    tabs = page.get_by_role("tab")
    for place in range(tabs.count()):
        tabs.nth(place).click()
        page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
        # All at once: each press changes which ones are still closed.
        page.locator(".wb [aria-expanded=false]").evaluate_all("rows => rows.slice(0, 6).forEach(row => row.click())")
        for mark in page.locator(".wb .chip:visible").all()[:3]:
            mark.hover()
