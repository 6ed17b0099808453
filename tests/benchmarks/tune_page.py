"""The Tune page in a browser: from a key on a slider to new tiles and a page at rest, and what that sends."""

from __future__ import annotations

import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from engine.engine import Engine
from engine.evaluation.cases import SAMPLE_SET, QuerySet
from engine.evaluation.values import Batch
from engine.model.config import RunConfig
from engine.model.events import RunStarted
from engine.model.values import RunId
from engine.records.store import RunStore
from engine.settings import Settings
from tests.benchmarks.harness import Bench, Row
from tests.browser.chromium import launched
from tests.browser.screenshots import IDLE
from tests.browser.server import started_app

if TYPE_CHECKING:
    from playwright.sync_api import Page

SET = "many"
_FEW = 60
_GATHERED_S = 600.0
_PATIENCE_MS = 120_000
_STARTS = "similarity_threshold=0&top_k=2"
_SLIDERS = {"top-k": ("Top-k", "ArrowRight"), "similarity": ("Min. similarity", "PageUp")}
"""Key by slider. The first needs another sweep with every step, the second stays within the one that is there."""
_STEPS = 6
_REPAINTED = """
() => new Promise((resolve, reject) => {
  const tiles = () =>
    [...document.querySelectorAll(".st-key-tune_tiles *")].map((one) => one.shadowRoot?.textContent ?? "").join("");
  const before = tiles(), pressed = performance.now(), took = {};
  let ran = false;
  const look = () => {
    const now = performance.now() - pressed;
    const state = document.querySelector('[data-testid="stApp"]').dataset.testScriptState;
    ran ||= state === "running";
    if (took.tiles === undefined && tiles() !== before) took.tiles = now;
    // Another setting may leave all tiles as they were.
    if (ran && state === "notRunning") resolve({ ...took, page: now });
    else if (now > 60000) reject(new Error("nothing was repainted"));
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})
"""


class Counted:
    """A way to a server of this machine that counts the bytes that come back."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listens = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listens.getsockname()[1]
        self.received = 0
        Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            browser, _ = self._listens.accept()
            server = socket.create_connection(("127.0.0.1", self._to))
            Thread(target=self._pass_on, args=(browser, server, False), daemon=True).start()
            Thread(target=self._pass_on, args=(server, browser, True), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, counts: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                self.received += len(data) * counts
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)


def tune_page(bench: Bench) -> Iterator[Row]:
    """Runs of the sample questions by the built-in models; for many runs, copies of them under other ids."""
    from playwright.sync_api import sync_playwright

    for count in sorted({min(_FEW, bench.sizes.swept), bench.sizes.swept}):
        folder = bench.folder / f"runs-{count}"
        gathered_folder(folder, count)
        with started_app(folder) as app, sync_playwright() as playwright:
            app.wait_until_served()
            app.wait_until_ready()
            browser = launched(playwright)
            page = browser.new_page(viewport={"width": 1400, "height": 1000}, locale="en-US")
            page.set_default_timeout(_PATIENCE_MS)
            counted = Counted(urlsplit(app.url).port or 0)
            page.goto(f"http://127.0.0.1:{counted.port}/tune?lang=en&query_set={SET}&{_STARTS}")
            page.locator(".st-key-tune_tiles .figure").first.wait_for()
            page.wait_for_selector(IDLE)
            yield Row(f"Tune page, {count} runs: grader tab opened first", "ms", (_grader_opened(page),), "< 2000 ms")
            page.get_by_role("tab", name="Questions").click()
            page.wait_for_selector(IDLE)
            budget = "< 400 ms" if count <= _FEW else "< 1000 ms"
            for name, (label, key) in _SLIDERS.items():
                took = [_pressed(page, counted, label, key) for _ in range(min(_STEPS, bench.sizes.repeats))]
                for part in ("tiles", "page"):
                    values = tuple(times[part] for times in took if part in times)
                    if values:
                        yield Row(f"Tune page, {count} runs: {name} key to {part}", "ms", values, budget)
                sent = tuple(times["kB"] for times in took)
                yield Row(f"Tune page, {count} runs: {name} key, kB sent", "", sent, "< 20")
            browser.close()


def _grader_opened(page: Page) -> float:
    """Milliseconds from the click on the tab until its last chart is there."""
    began = time.perf_counter()
    page.get_by_role("tab", name="Grader").click()
    page.get_by_role("tabpanel").locator("[data-testid=stVegaLiteChart] svg").nth(1).wait_for()
    page.wait_for_selector(IDLE)
    return (time.perf_counter() - began) * 1000


def _pressed(page: Page, counted: Counted, label: str, key: str) -> dict[str, float]:
    """Press a key on a slider; milliseconds until the tiles, where they change, and the page, and the kB that took."""
    before = counted.received
    page.get_by_role("slider", name=label).focus()
    watching = f"() => {{ window.took = undefined; ({_REPAINTED.strip()})().then((took) => (window.took = took)); }}"
    page.evaluate(watching)
    page.keyboard.press(key)
    found: dict[str, Any] = page.wait_for_function("() => window.took").json_value()
    page.wait_for_selector(IDLE)
    return {**{name: float(value) for name, value in found.items()}, "kB": (counted.received - before) / 1000}


def gathered_folder(folder: Path, count: int) -> None:
    """A data folder with a query set of ``count`` questions and their finished batch."""
    settings = Settings(data_dir=folder, ollama_url="http://127.0.0.1:1")
    config = RunConfig(grade_probe=True)
    with Engine.open(settings) as engine:
        engine.wait_until_ready()
        samples = engine.evaluation.query_set(SAMPLE_SET)
        first = engine.batches.start(SAMPLE_SET, config, 2)
        if not engine.batches.wait(first, _GATHERED_S):
            raise RuntimeError("the sample questions did not finish")
        runs = engine.evaluation.batch(first).runs
        events = {case.id: list(engine.events(runs[case.id])) for case in samples.cases}
    numbered = list(enumerate(islice(cycle(samples.cases), count)))
    copies = {f"{case.id}-{place}": replace(case, id=f"{case.id}-{place}") for place, case in numbered}
    of = {f"{case.id}-{place}": case.id for place, case in numbered}
    batch = Batch(uuid.uuid4().hex, SET, config, 2, "2026-01-01T00:00:00.000+00:00", tuple(copies), {}, {})
    with Engine.open(settings) as engine, RunStore(folder / "runs.db") as store:
        engine.evaluation.save_query_set(QuerySet(SET, tuple(copies.values())))
        engine.evaluation.add_batch(batch, list(copies.values()), "")
        for case_id in copies:
            run_id = RunId(uuid.uuid4().hex)
            for event in events[of[case_id]]:
                store.append(run_id, replace(event, run_id=run_id) if isinstance(event, RunStarted) else event)
            store.flush()
            engine.evaluation.begin_case(batch.id, case_id, run_id)
            engine.evaluation.end_case(batch.id, case_id, run_id)
