"""``python -m tests.browser.screenshots DIR``: README's pictures and animations, of a real app after real runs."""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, FilePayload, Page, sync_playwright

from engine.engine import Engine
from engine.evaluation.cases import SAMPLE_SET
from engine.model.config import WORKFLOWS, Mode, RunConfig
from engine.records import PINNED
from engine.settings import Settings
from tests.browser.chromium import launched
from tests.browser.server import App, started_app
from tests.support.office_files import docx, pptx, scanned_pdf, xlsx

MOST_BYTES = 300_000
MOST_OF_FILM = 2_000_000
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
_PATIENCE_MS = 60_000
_GATHERING_S = 600.0
_NO_OLLAMA = "http://127.0.0.1:1"
"""Port 1 of this machine refuses at once, as an Ollama does that is not running."""
FORCED = "Who was the first person treated with insulin, and when?"
EULER = "When does a connected graph have an Euler circuit?"
HBA1C = "糖化血红蛋白应该控制在多少以下？"
SYMPTOMS = "What are the main symptoms of diabetes?"
PRICE = "How much does a box of insulin glargine pens cost?"
LOGIC = "逻辑"
TREES = "What is a spanning tree?"
GLUCOSE = "What fasting glucose level means diabetes today?"
CHAIN = "What did Best and Macleod do for Banting?"
RACED = "给汤普森换上的那批药是谁提纯的，后来谁把奖金分给了他？"
_ASKED: tuple[tuple[str, RunConfig, str], ...] = (
    (PRICE, RunConfig(), ""),
    (EULER, RunConfig(), PINNED),
    (SYMPTOMS, RunConfig(gate="pass_rate"), "to show"),
    (HBA1C, RunConfig(), PINNED),
    (FORCED, RunConfig(), ""),
    (FORCED, RunConfig(gate="pass_rate"), "too slow"),
    (LOGIC, RunConfig(workflow="quality_loop"), ""),
    (TREES, RunConfig(workflow="dual_loop"), ""),
    (TREES, RunConfig(workflow="dual_loop"), ""),
    (CHAIN, RunConfig(workflow="graph_hybrid"), ""),
    *((GLUCOSE, RunConfig(workflow=name), "") for name in WORKFLOWS),
)
"""Question, settings and tag of the runs that the pictures show, oldest first."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: which page, how it looks, and what its address names in addition to the language."""

    name: str
    language: Literal["en", "zh"]
    scheme: Literal["light", "dark"]
    width: int
    height: int
    path: str = "/"
    runs: tuple[tuple[str, str], ...] = ()
    """Parameters that name a run, each by the question whose newest run is meant, ``question/older`` the one before;
    ``question/*`` names its newest run of every workflow."""
    settings: tuple[tuple[str, str], ...] = ()
    """Further parameters: settings of the sliders, or a place on the page."""
    steps: Callable[[Page], None] | None = None
    """What is done on the page before the picture is taken."""


def preview_files(page: Page) -> None:
    """Have files of several kinds previewed, one of them broken."""
    handbook: list[tuple[str, str | list[list[str]]]] = [
        ("Heading 1", "Leave"),
        ("Normal", "Everybody has 30 days of paid leave a year. Days that are left are carried over until 31 March."),
        ("Heading 1", "Expenses"),
        ("Normal", "Receipts are handed in within 30 days. Without a receipt, up to 25 EUR are paid."),
        ("table", [["Trip", "Per day"], ["Domestic", "28 EUR"], ["Abroad", "44 EUR"]]),
    ]
    prices: dict[str, list[list[object]]] = {
        "Prices": [["Article", "Unit", "Price"], ["Sensor A1", "piece", 19.5], ["Cable 2 m", "piece", 4.25]]
    }
    backups = "每天凌晨两点进行完整备份，备份保留三十天。恢复演练每季度做一次，并记录所用时间。"
    files = {
        "handbook.docx": docx(handbook, title="Handbook"),
        "prices.xlsx": xlsx(prices),
        "runbook.md": f"# 运行手册\n\n## 备份\n\n{backups * 12}".encode(),
        "notice.txt": "办公室五月一日至五日休息。".encode("gb18030"),
        "letter.pdf": scanned_pdf(),
        "plan.pptx": pptx([("Goals", "Two releases this year"), ("Team", "Four people, one on call")]),
    }
    page.locator("input[type=file]").set_input_files(
        [FilePayload(name=name, mimeType="application/octet-stream", buffer=data) for name, data in files.items()]
    )
    page.get_by_role("button", name="Preview", exact=True).click()
    page.get_by_text("30 days of paid leave").first.wait_for()
    page.get_by_text("letter.pdf").first.wait_for()
    # Away from the button, whose tooltip would stay.
    page.mouse.move(0, 0)


PICTURES = (
    Picture(
        "workbench-en-light",
        "en",
        "light",
        1440,
        1150,
        runs=(("run", FORCED),),
        settings=(("gate", "pass_rate"), ("grade_pass_threshold", "0.4")),
    ),
    Picture("workbench-zh-dark", "zh", "dark", 1440, 1050, runs=(("run", HBA1C),)),
    Picture("workbench-narrow", "en", "light", 390, 1300, runs=(("run", SYMPTOMS),)),
    Picture(
        "tune",
        "en",
        "light",
        1440,
        1250,
        "/tune",
        settings=(("gate", "pass_rate"), ("grade_pass_threshold", "0.4"), ("max_rewrites", "1")),
    ),
    Picture(
        "compare",
        "en",
        "light",
        1280,
        1150,
        "/runs",
        runs=(("a", FORCED), ("b", f"{FORCED}/older")),
        settings=(("view", "compare"),),
    ),
    Picture("runs", "en", "light", 1280, 700, "/runs"),
    Picture(
        "presenter",
        "en",
        "light",
        1280,
        800,
        "/runs",
        settings=(("view", "present"), ("run", "demo-forced-en"), ("step", "3")),
    ),
    Picture("knowledge", "en", "light", 1280, 1150, "/knowledge", settings=(("view", "add"),), steps=preview_files),
    Picture("system", "en", "light", 1280, 900, "/system"),
    Picture(
        "quality-loop",
        "zh",
        "light",
        1280,
        1120,
        runs=(("run", LOGIC),),
        settings=(("workflow", "quality_loop"),),
    ),
    Picture("dual-loop", "en", "dark", 1440, 1300, runs=(("run", TREES),), settings=(("workflow", "dual_loop"),)),
    Picture(
        "loops", "en", "light", 1440, 1250, "/runs", runs=(("sides", f"{GLUCOSE}/*"),), settings=(("view", "loops"),)
    ),
    Picture("graph", "en", "light", 1280, 1580, runs=(("run", CHAIN),), settings=(("workflow", "graph_hybrid"),)),
    Picture("knowledge-graph", "zh", "dark", 1280, 1150, "/knowledge", settings=(("view", "graph"),)),
    Picture(
        "modes",
        "zh",
        "light",
        1280,
        860,
        "/runs",
        runs=(("race", f"{RACED}/*"),),
        settings=(("view", "loops"), ("versus", "modes")),
    ),
    Picture("memory", "en", "light", 1280, 800, "/knowledge", settings=(("view", "memory"),)),
)

_FRAME_MS = 60
_SHOWN_MS = 170
_FIRST_MS = 900
_LAST_MS = 3500


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.browser.screenshots", description="Take README's pictures.")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="workbench-pictures-") as data:
        runs = prepared(Path(data))
        with (
            started_app(Path(data)) as app,
            sync_playwright() as playwright,
            launched(playwright) as browser,
        ):
            app.wait_until_served()
            app.wait_until_ready()
            for picture in PICTURES:
                _write(folder / f"{picture.name}.png", taken(browser, app, picture, runs), MOST_BYTES)
            for language in ("en", "zh"):
                _write(folder / f"replay-{language}.webp", animated(replayed(browser, app.url, language)), MOST_OF_FILM)
    return 0


def _write(path: Path, content: bytes, most: int) -> None:
    path.write_bytes(content)
    print(f"{path}: {len(content) / 1000:.0f} kB")
    if len(content) > most:
        print(f"{path} is larger than {most / 1000:.0f} kB.", file=sys.stderr)


def prepared(folder: Path) -> dict[str, str]:
    """Fill a data folder with evidence of the sample questions and with runs; returns the runs by question."""
    runs: dict[str, str] = {}
    with Engine.open(Settings(data_dir=folder, ollama_url=_NO_OLLAMA)) as engine:
        engine.wait_until_ready()
        batch_id = engine.batches.start(SAMPLE_SET, RunConfig(grade_probe=True), 2)
        if not engine.batches.wait(batch_id, _GATHERING_S):
            raise RuntimeError("the sample questions did not finish")
        raced = [engine.run(RACED, RunConfig(workflow="graph_hybrid", mode=mode)).id for mode in get_args(Mode)]
        for question, config, tag in _ASKED:
            run_id = engine.run(question, config).id
            if question in runs:
                runs[f"{question}/older"] = runs[question]
            runs[question] = run_id
            runs[f"{question}/{config.workflow}"] = run_id
            if tag:
                engine.tag_run(run_id, tag)
    runs[f"{RACED}/*"] = ",".join(raced)
    runs[f"{GLUCOSE}/*"] = ",".join(runs[f"{GLUCOSE}/{name}"] for name in WORKFLOWS)
    return runs


def taken(browser: Browser, app: App, picture: Picture, runs: Mapping[str, str]) -> bytes:
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
        page.goto(f"{app.url}{picture.path}?{_query(picture, runs)}")
        settle(page)
        if picture.steps is not None:
            picture.steps(page)
            settle(page)
        return page.screenshot(animations="disabled")
    finally:
        context.close()


def replayed(browser: Browser, home: str, language: str) -> list[bytes]:
    """Frames of a question that a rewrite rescues, replayed on Ask; the page's clock stands while each is taken."""
    context = browser.new_context(viewport={"width": 1360, "height": 800}, color_scheme="light")
    try:
        page = context.new_page()
        page.set_default_timeout(_PATIENCE_MS)
        page.clock.install()
        page.goto(f"{home}/?run=demo-rescue-{language}&lang={language}")
        settle(page)
        page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
        page.locator(".live .again").click()
        page.mouse.move(0, 0)
        frames = []
        page.clock.run_for(_FRAME_MS)
        while page.locator(".live.replaying").count():
            frames.append(page.screenshot(animations="disabled"))
            page.clock.run_for(_FRAME_MS)
        return [*frames, page.screenshot(animations="disabled")]
    finally:
        context.close()


def animated(frames: Sequence[bytes]) -> bytes:
    """Frames as an animated WebP that begins again; those that are like the one before are left out."""
    kept = [frame for before, frame in zip((b"", *frames), frames, strict=False) if frame != before]
    first, *others = (Image.open(io.BytesIO(frame)).convert("RGB") for frame in kept)
    durations = [_FIRST_MS, *[_SHOWN_MS] * (len(others) - 1), _LAST_MS]
    film = io.BytesIO()
    first.save(film, "WEBP", save_all=True, append_images=others, duration=durations, loop=0, quality=80, method=4)
    return film.getvalue()


def settle(page: Page) -> None:
    """Until scripts have ended, no skeleton is left, two looks at the page agree, and drawings fit their room."""
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
    # Those that measure their room hear of it after a frame.
    page.wait_for_function(
        "() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(() => seen(1))))"
    )
    page.wait_for_selector(IDLE)


def _query(picture: Picture, runs: Mapping[str, str]) -> str:
    named = [(name, runs[question]) for name, question in picture.runs]
    return urlencode([("lang", picture.language), *named, *picture.settings])


if __name__ == "__main__":
    sys.exit(main())
