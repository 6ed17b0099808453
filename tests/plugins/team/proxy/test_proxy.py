"""Two replicas behind the Caddyfile of the documentation: uploads, streams and pages, and one that is restarted."""

from __future__ import annotations

import base64
import json
import re
import signal
import threading
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.browser.chromium import chromium_here
from tests.browser.screenshots import IDLE
from tests.plugins.team.proxy.conftest import Team

QUESTION = "How many rows does a truth table with five variables need?"
COOKIE = "workbench_replica"
PATIENCE_MS = 60_000


def call(url: str, body: Any = None, cookie: str = "") -> tuple[Any, str]:
    """The JSON of an answer, and the cookie that the proxy set."""
    headers = {"content-type": "application/json"} | ({"cookie": f"{COOKIE}={cookie}"} if cookie else {})
    data = None if body is None else json.dumps(body).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(url, data, headers), timeout=120) as response:
        found = re.search(rf"{COOKIE}=([^;]+)", response.headers.get("set-cookie") or "")
        return json.load(response), found[1] if found else ""


def cookie_of(team: Team, instance: str) -> str:
    """What keeps a browser with one of the replicas: the proxy chooses at random for one that has none."""
    for _ in range(200):
        health, cookie = call(f"{team.url}/api/health")
        if health["instance"] == instance:
            return cookie
    raise AssertionError("the proxy never chose that replica")


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with chromium_here() as browser:
        yield browser


def test_on_a_server_what_goes_through_the_proxy_is_in_both_replicas(team: Team) -> None:
    text = base64.b64encode(b"Tea of the moon is drunk at 71 degrees.").decode()
    added, _ = call(f"{team.url}/api/collections/tea/sources", {"name": "tea.md", "data": text})
    for replica in team.replicas:
        sources = replica.get("/api/collections/tea/sources")
        assert [source["source"] for source in sources] == ["tea.md"], added
    question = {"question": "At how many degrees is tea of the moon drunk?", "config": {"collection": "tea"}}
    run, _ = call(f"{team.url}/api/runs", question)
    assert "71" in run["answer"]
    for replica in team.replicas:
        assert replica.get(f"/api/runs/{run['id']}")["answer"] == run["answer"]
        assert run["id"] in [item["id"] for item in replica.get("/api/runs")]


def test_on_a_server_a_replica_is_restarted_while_people_and_programs_use_it(team: Team, chrome: Browser) -> None:
    """TM-04"""
    ends, stays = team.replicas
    page = chrome.new_context().new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.context.add_cookies(
        [{"name": COOKIE, "value": cookie_of(team, ends.get("/api/health")["instance"]), "url": team.url}]
    )
    page.goto(f"{team.url}/?lang=en")
    page.wait_for_selector(IDLE)
    ask(page, QUESTION)
    page.wait_for_url(re.compile(r"[?&]run=[0-9a-f]{32}"))
    expect(page.locator("section.answer").filter(has_text="32").last).to_be_visible(timeout=PATIENCE_MS)
    answered: list[str] = []
    faults: list[Exception] = []
    over = threading.Event()

    def use() -> None:
        while not over.is_set() or not answered:
            try:
                run, _ = call(f"{team.url}/api/runs", {"question": QUESTION, "config": {"max_rewrites": 0}})
                answered.append(run["outcome"])
            except Exception as error:
                faults.append(error)
                return

    callers = [threading.Thread(target=use) for _ in range(3)]
    for caller in callers:
        caller.start()
    ends.process.send_signal(signal.SIGTERM)
    ends.process.wait(60)
    before = len(answered)
    while len(answered) < before + 3 and not faults:
        over.wait(0.05)
    over.set()
    for caller in callers:
        caller.join(60)
    assert faults == []
    assert set(answered) == {"answered"}
    # The page finds the other replica by itself, and what it showed is there.
    page.reload()
    page.wait_for_selector(IDLE)
    expect(page.locator("section.answer").filter(has_text="32").last).to_be_visible(timeout=PATIENCE_MS)
    page.goto(f"{team.url}/knowledge?lang=en&view=add")
    page.wait_for_selector(IDLE)
    page.locator("input[type=file]").set_input_files(
        FilePayload(name="cats.md", mimeType="text/plain", buffer=b"# Cats\n\nCats eat fish and mice.")
    )
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.get_by_text("Cats eat fish and mice.")).to_be_visible(timeout=PATIENCE_MS)
    assert stays.get("/api/ready") == {"ready": True, "draining": False}


def ask(page: Page, question: str) -> None:
    field = page.get_by_role("textbox", name="Question")
    field.fill(question)
    field.press("Enter")
