"""What only a browser shows of the sliders: a step that is taken while an earlier one is still underway is not lost."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import WebSocketRoute, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.conftest import OpenTab

pytestmark = pytest.mark.browser


class HeldBack:
    """What the app says to the browser, kept back on demand: the browser then knows only of an earlier state."""

    def __init__(self) -> None:
        self.holding = False
        self.finished = 0
        self._kept: list[bytes | str] = []
        self._browser: WebSocketRoute | None = None

    def between(self, browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()
        self._browser = browser

        def said(message: bytes | str) -> None:
            if isinstance(message, bytes) and ForwardMsg.FromString(message).WhichOneof("type") == "script_finished":
                self.finished += 1
            if self.holding:
                self._kept.append(message)
            else:
                browser.send(message)

        browser.on_message(server.send)
        server.on_message(said)

    def release(self) -> None:
        self.holding = False
        assert self._browser is not None
        for message in self._kept:
            self._browser.send(message)
        self._kept.clear()


def test_a_key_that_is_pressed_while_an_earlier_step_is_underway_counts(open_tab: OpenTab) -> None:
    """SC-08"""
    tab, held = open_tab(new=True), HeldBack()
    tab.page.route_web_socket(re.compile("/_stcore/stream"), held.between)
    page = tab.open("/?lang=en&gate=pass_rate&grade_pass_threshold=0.41")
    slider = page.locator(".st-key-grade_pass_threshold input[type=range]")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(re.compile("grade_pass_threshold=0.4&|grade_pass_threshold=0.4$"))
    tab.settle()
    held.holding = True
    for _ in range(2):
        before = held.finished
        page.keyboard.press("ArrowLeft")
        # Playwright hands messages on only while it is asked for something.
        while held.finished == before:
            page.evaluate("new Promise(requestAnimationFrame)")
    held.release()
    # What was kept back has arrived when the answer to a later step has.
    other = page.locator(".st-key-top_k input[type=range]")
    other.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile("top_k=6"))
    tab.settle()
    expect(slider).to_have_value("0.38")
    assert "grade_pass_threshold=0.38" in page.url
