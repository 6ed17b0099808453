"""From starting the app in an empty data folder to its first answer, next to a Streamlit app of one line."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.harness import Bench, Row, ratio
from tests.browser.server import App, started_app, started_process

_QUESTION = "What fasting glucose level means diabetes today?"


def app_ready(bench: Bench) -> Iterator[Row]:
    """``python -m engine serve`` until pages are served, until the samples are open, and the first answers after."""
    bare_s: list[float] = []
    served_s: list[float] = []
    ready_s: list[float] = []
    cpu_s: list[float] = []
    answers_s: tuple[list[float], list[float]] = ([], [])
    for turn in range(bench.sizes.starts):
        bare_s.append(_bare_streamlit(bench.folder / f"bare-{turn}"))
        began = time.perf_counter()
        with started_app(bench.folder / f"start-{turn}") as app:
            app.wait_until_served()
            served_s.append(time.perf_counter() - began)
            app.wait_until_ready()
            ready_s.append(time.perf_counter() - began)
            cpu_s.append(app.cpu_s())
            for answer_s in answers_s:
                answer_s.append(_answered(app))
    yield Row("bare Streamlit: served", "s", tuple(bare_s), note="an app of one line")
    yield Row("app: pages served", "s", tuple(served_s), note="fresh data folder")
    yield Row("app: ready", "s", tuple(ready_s), "< 3 s", "samples open, workflow loaded")
    yield Row("app: processor used until ready", "s", tuple(cpu_s))
    yield ratio("app: ready / bare Streamlit", ready_s, bare_s)
    yield Row("app: first answer", "s", tuple(answers_s[0]), "< 2 s", "after ready")
    answered_s = [ready + first for ready, first in zip(ready_s, answers_s[0], strict=True)]
    yield ratio("app: ready and first answer / bare Streamlit", answered_s, bare_s)
    yield Row("app: second answer", "s", tuple(answers_s[1]))


def _answered(app: App) -> float:
    began = time.perf_counter()
    answer = app.post("/api/self-corrective-rag", {"query": _QUESTION})
    taken_s = time.perf_counter() - began
    assert answer["success"], answer
    assert answer["citations"], answer
    return taken_s


def _bare_streamlit(folder: Path) -> float:
    folder.mkdir()
    script = folder / "one_line.py"
    script.write_text("import streamlit as st; st.write('hello')\n", encoding="utf-8")
    began = time.perf_counter()
    with started_process([sys.executable, "-m", "streamlit", "run", str(script)], folder) as app:
        app.wait_until_served()
        return time.perf_counter() - began
