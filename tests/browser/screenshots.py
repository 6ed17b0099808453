"""``python -m tests.browser.screenshots DIR``: the pictures of README, taken of a real app after a real run."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.server import App, started_app

CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-extensions",
)
MOST_BYTES = 300_000
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
_PATIENCE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: which page, how it looks, and the question that was run before it (none: no run)."""

    name: str
    language: Literal["en", "zh"]
    scheme: Literal["light", "dark"]
    width: int
    height: int
    question: str = ""
    path: str = "/"


PICTURES = (
    Picture("workbench-en-light", "en", "light", 1440, 1250, "When does a connected graph have an Euler circuit?"),
    Picture("workbench-zh-dark", "zh", "dark", 1440, 1150, "糖化血红蛋白应该控制在多少以下？"),
    Picture("workbench-narrow", "en", "light", 390, 1300, "What are the main symptoms of diabetes?"),
    Picture("knowledge", "en", "light", 1280, 850, path="/knowledge"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 where there is no Chromium."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.screenshots", description="Take README's pictures.")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args(arguments).folder
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("No Chromium was found: install the package `chromium`.", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="workbench-pictures-") as data,
        started_app(Path(data)) as app,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium, args=[*CHROMIUM_ARGUMENTS]) as browser,
    ):
        app.wait_until_served()
        app.wait_until_ready()
        for picture in PICTURES:
            path = folder / f"{picture.name}.png"
            path.write_bytes(taken(browser, app, picture))
            print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
            if path.stat().st_size > MOST_BYTES:
                print(f"{path} is larger than {MOST_BYTES / 1000:.0f} kB.", file=sys.stderr)
    return 0


def taken(browser: Browser, app: App, picture: Picture) -> bytes:
    """The picture as PNG."""
    context = browser.new_context(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme=picture.scheme,
        locale={"en": "en-GB", "zh": "zh-CN"}[picture.language],
        reduced_motion="reduce",
    )
    try:
        page = context.new_page()
        page.set_default_timeout(_PATIENCE_MS)
        page.goto(app.url + picture.path + _query(app, picture))
        settle(page)
        return page.screenshot(animations="disabled")
    finally:
        context.close()


def settle(page: Page) -> None:
    """Until scripts have ended, no skeleton is left, and two looks at the page's height agree."""
    page.wait_for_selector(IDLE)
    page.wait_for_function("() => !document.querySelector('[data-testid=\"stSkeleton\"]')")
    page.evaluate("() => document.fonts.ready")
    page.wait_for_function(
        """() => {
            const now = [document.body.innerText.length, document.querySelectorAll('*').length].join();
            const then = window.lastLook;
            window.lastLook = now;
            return now === then;
        }""",
        polling=700,
    )
    page.wait_for_selector(IDLE)


def _query(app: App, picture: Picture) -> str:
    if not picture.question:
        return f"?lang={picture.language}"
    record = app.post("/api/runs", {"question": picture.question})
    return f"?lang={picture.language}&run={record['id']}"


if __name__ == "__main__":
    sys.exit(main())
