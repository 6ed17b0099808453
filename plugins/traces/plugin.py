"""Traces in: what other programs traced becomes runs that are debugged, tuned and judged here."""

from __future__ import annotations

from engine.messages import N_
from engine.model.later import later
from engine.plugins import Plugin
from plugins.traces.errors import TOO_LARGE

PLUGIN = Plugin(
    name="traces",
    title=N_("Traces of other programs"),
    open=later("plugins.traces.taking:Traces"),
    routes=later("plugins.traces.routes:add_traces"),
    uploads=("/api/traces",),
    commands=later("plugins.traces.import_traces:add_import_traces"),
    bad_use=(TOO_LARGE.code,),
    panels={
        "programs": later("plugins.traces.card:traces_in"),
        "runs": later("plugins.traces.dialog:import_button"),
        "imported_runs": later("plugins.traces.judge_rest:judge_rest"),
    },
)
