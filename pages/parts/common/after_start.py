"""Work after a start, such as imports of pages, which the first visitor would otherwise wait for."""

from __future__ import annotations

import gc
import inspect
import time
from contextlib import suppress
from importlib import import_module

from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.config import RunConfig
from engine.people import WORKBENCH, acting_as
from engine.records import codec

IMPORTED_BY_PAGES = (
    # What Streamlit, the words of questions and pictures import when first used.
    *("streamlit.emojis", "rjieba", "PIL.Image"),
    *(
        "pages.parts.common.document",
        "pages.parts.common.fits",
        "pages.parts.common.job_line",
        "pages.parts.common.page_help",
        "pages.parts.system.health",
    ),
    # Ask, where shared links lead to, before the others.
    *(
        "components.common.badge",
        "pages.parts.ask.budget",
        "components.common.panel",
    ),
    *(
        "engine.running.budget",
        "engine.workflows.self_corrective.workflow",
        "pages.parts.ask.attachments",
        "pages.parts.ask.examples",
        "pages.parts.ask.evidence",
        "pages.parts.ask.share",
        "pages.parts.ask.tour",
    ),
    *(
        "pages.parts.runs.compare",
        "pages.parts.runs.present",
        "pages.parts.runs.run_list",
        "pages.parts.runs.side_by_side",
    ),
    *(
        "engine.evaluation.question_changes",
        "pages.parts.tune.answers",
        "pages.parts.tune.bench",
        "pages.parts.tune.bench_fit",
        "pages.parts.tune.best",
        "pages.parts.tune.drafts",
        "pages.parts.tune.guarantee",
        "pages.parts.tune.judge",
        "pages.parts.tune.measure_map",
        "pages.parts.tune.query_set",
        "pages.parts.tune.questions",
        "pages.parts.tune.scores",
        "pages.parts.tune.trade_off",
        "pages.parts.tune.tried",
    ),
    *(
        "pages.parts.knowledge.add",
        "pages.parts.knowledge.collections",
        "pages.parts.knowledge.jobs",
        "pages.parts.knowledge.search",
    ),
    *(
        "pages.parts.system.jobs",
        "pages.parts.system.models",
        "pages.parts.system.programs",
    ),
)

_PAUSE_S = 0.02
_GIVES_WAY_S = 20.0
"""Longest time that runs have before what is left here, in seconds."""


def finish_start(engine: Engine) -> None:
    """Once questions can be answered, do what the first page would wait for, and collect garbage from then on."""
    try:
        with suppress(WorkbenchError):  # pages say it, and do without
            engine.wait_until_ready()
        with acting_as(WORKBENCH):
            until = time.monotonic() + _GIVES_WAY_S
            for name in IMPORTED_BY_PAGES:
                give_way(engine, until)
                import_module(name)
            _prepare(engine)
    finally:
        # What there is now stays: no collection has to look at it again.
        gc.freeze()
        gc.enable()


def give_way(engine: Engine, until: float) -> None:
    """Wait while runs are under way, up to a time: both would take turns at one interpreter."""
    while engine.active_runs() and time.monotonic() < until:
        time.sleep(_PAUSE_S)


def _prepare(engine: Engine) -> None:
    """Fill what is kept for the life of the process, which together takes the first page of a stored run a second."""
    # Streamlit looks once where it was called from, and inspect then looks at the file of every module there is.
    inspect.stack()
    codec.prepare()
    # Not before: it brings Streamlit's components along.
    from components.ask.live_view import layouts

    layouts(engine.graph(RunConfig().workflow))
