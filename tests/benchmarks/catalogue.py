"""Every benchmark by name."""

from __future__ import annotations

from collections.abc import Mapping

from tests.benchmarks import (
    app_start,
    cascade,
    certificates,
    documentation,
    engine_runs,
    fused,
    gates,
    grading,
    growth,
    ingestion,
    large_bodies,
    loops,
    model_runs,
    models,
    modes,
    page_opening,
    picture,
    quality,
    quality_loop,
    refinement,
    retrieval,
    sweep,
    tune_page,
    what_if,
    workbooks,
)
from tests.benchmarks.harness import Benchmark
from tests.support.brought import brought

BENCHMARKS: Mapping[str, Benchmark] = {
    item.name: item
    for item in (
        Benchmark("overhead", "a whole run with instant roles", engine_runs.overhead),
        Benchmark("first-event", "from start to the first event", engine_runs.first_event),
        Benchmark("records", "writing and reading records", engine_runs.records),
        Benchmark("grading", "concurrent grading by a chat model", grading.concurrent_grading),
        Benchmark("retrieval", "search in Milvus Lite", retrieval.embedded_retrieval),
        Benchmark("ingestion", "putting in passages, hashing embedder", ingestion.hashing_ingestion),
        Benchmark("workbooks", "a large sheet, and cells as LibreOffice has them", workbooks.workbooks, slow=True),
        Benchmark("what-if", "records replayed under other settings", what_if.what_ifs),
        Benchmark("picture", "what a page that follows a run is sent", picture.picture),
        Benchmark("refinement", "passages cut to what bears on a question", refinement.refinement),
        Benchmark("sweep", "settings tried on gathered evidence", sweep.tuning),
        Benchmark("tune-page", "a slider of the Tune page, in Chromium", tune_page.tune_page, slow=True),
        Benchmark("app", "start of the app and first answer", app_start.app_ready, slow=True),
        Benchmark("opening", "a stored run, a shared link, the grader bench", page_opening.page_opening, slow=True),
        Benchmark("large-bodies", "requests of 25 MB that mean harm", large_bodies.large_bodies, slow=True),
        Benchmark("ingestion-builtin", "putting in passages, built-in model", ingestion.builtin_ingestion, slow=True),
        Benchmark("server-retrieval", "search in a Milvus server", retrieval.server_retrieval, slow=True),
        Benchmark("growth", "ingestion and search as a collection grows, in both stores", growth.growth, slow=True),
        Benchmark("certificates", "bounds that certified settings break", certificates.certificates, slow=True),
        Benchmark("loops", "the five workflows on the sample questions", loops.loops, slow=True),
        Benchmark("quality-loop", "what its rewrites gain on vague questions", quality_loop.quality_loop, slow=True),
        Benchmark("cascade", "the built-in grader before a chat model", cascade.cascade, slow=True),
        Benchmark("model-runs", "a chat model in whole runs", model_runs.model_runs, slow=True),
        Benchmark("models", "any model as grader, judge, rewriter and verifier", models.models, slow=True),
        Benchmark("modes", "the six modes on questions of two hops", modes.modes, slow=True),
        Benchmark("fused", "search by vectors, by words and by both", fused.fused, slow=True),
        Benchmark("documentation", "manuals that others wrote", documentation.documentation, slow=True),
        Benchmark("samples", "built-in quality on the sample questions", quality.samples, slow=True),
        Benchmark("gates", "both gates on questions with and without an answer", gates.gates, slow=True),
        Benchmark("xquad", "built-in quality on XQuAD", quality.xquad, slow=True),
        *brought("BENCHMARKS").values(),
    )
}
