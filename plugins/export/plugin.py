"""Settings as code: a LangGraph project that runs without the workbench and takes the same decisions."""

from __future__ import annotations

from engine.messages import N_
from engine.model.later import later
from engine.plugins import Plugin

PLUGIN = Plugin(
    name="export",
    title=N_("Export as code"),
    routes=later("plugins.export.routes:add_code"),
    commands=later("plugins.export.command:add_export_code"),
    panels={"take_along": later("plugins.export.panel:take_along")},
)
