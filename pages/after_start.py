"""What a start leaves for the moments after it: imports of pages and more, for which the first visitor would wait."""

from __future__ import annotations

import gc
import inspect
from contextlib import suppress
from importlib import import_module

from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.config import RunConfig
from engine.records import codec

IMPORTED_BY_PAGES = (
    # What Streamlit, the words of questions and pictures import when first used.
    *("streamlit.emojis", "rjieba", "PIL.Image"),
    *("components.common.style", "pages.job_line", "pages.system_hint"),
    # Ask, where shared links lead to, before the others.
    *(
        "components.common.badge",
        "components.ask.budget_note",
        "components.common.panel",
        "components.ask.slider_marks",
    ),
    *(
        "engine.running.budget",
        "engine.workflows.self_corrective.workflow",
        "pages.ask_attachments",
        "pages.ask_examples",
        "pages.evidence",
        "pages.share",
    ),
    *("pages.compare", "pages.present", "pages.runs_list", "pages.side_by_side"),
    *(
        "components.tune.bars",
        "components.tune.flips",
        "engine.evaluation.flips",
        "pages.tune_bench",
        "pages.tune_set",
        "pages.tune_sweep",
        "pages.tune_tried",
    ),
    *("pages.knowledge_add", "pages.knowledge_collections", "pages.knowledge_jobs", "pages.knowledge_search"),
    *("pages.system_health", "pages.system_models", "pages.system_speed", "pages.system_tables"),
)


def finish_start(engine: Engine) -> None:
    """Once the knowledge base is open, do what the first page would wait for, and collect garbage from then on."""
    try:
        with suppress(WorkbenchError):  # pages say it, and do without
            engine.wait_until_ready()
        for name in IMPORTED_BY_PAGES:
            import_module(name)
        _prepare(engine)
    finally:
        # What there is now stays: no collection has to look at it again.
        gc.freeze()
        gc.enable()


def _prepare(engine: Engine) -> None:
    """Fill what is kept for the life of the process, which together takes the first page of a stored run a second."""
    # Streamlit looks once where it was called from, and inspect then looks at the file of every module there is.
    inspect.stack()
    codec.prepare()
    # Not before: it brings Streamlit's components along.
    from components.picture.live_run import layouts

    layouts(engine.graph(RunConfig().workflow))
