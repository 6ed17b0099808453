"""The browser of tests, pictures and benchmarks: Debian's Chromium, where it is installed without a window."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first takes two thirds of the processor time of the others."""
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-extensions",
)
_SHORT_LIVED = "--js-flags=--no-opt --no-maglev"
"""A page that is left after seconds gains nothing by compiling its scripts well, which takes a sixth of the browser."""


class NoChromium(RuntimeError):
    """No browser was found on this machine."""

    def __init__(self) -> None:
        super().__init__("no Chromium on this machine: install the package chromium-headless-shell or chromium")


def launched(playwright: Playwright, *more: str) -> Browser:
    """Start the browser, with ``more`` arguments; raises ``NoChromium`` where there is none."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        raise NoChromium
    return playwright.chromium.launch(executable_path=found, args=[*_ARGUMENTS, *more])


@contextmanager
def chromium_here() -> Iterator[Browser]:
    """Run a browser for tests, which are skipped where there is none, unless all must run."""
    with sync_playwright() as playwright:
        try:
            browser = launched(playwright, _SHORT_LIVED)
        except NoChromium as error:
            (pytest.fail if os.environ.get("WORKBENCH_TEST_ALL") else pytest.skip)(str(error))
        with browser:
            yield browser
