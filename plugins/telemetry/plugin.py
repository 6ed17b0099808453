"""OpenTelemetry out: finished runs as spans, to any receiver of OTLP over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.messages import N_
from engine.model.later import later
from engine.plugins import Inside, Plugin
from plugins.telemetry.settings import TelemetrySettings

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.settings import Settings
    from plugins.telemetry.sending import Telemetry


def _check(settings: Settings) -> None:
    if settings.of(TelemetrySettings).otlp_endpoint:
        from plugins.telemetry.sending import require_packages

        require_packages()


def _open(engine: Engine, inside: Inside) -> Telemetry | None:
    if not engine.settings.of(TelemetrySettings).otlp_endpoint:
        return None
    from plugins.telemetry.sending import Telemetry

    return Telemetry.for_engine(engine, inside.faults)


PLUGIN = Plugin(
    name="telemetry",
    title=N_("OpenTelemetry"),
    modules=("opentelemetry", "openinference"),
    packages="opentelemetry-exporter-otlp-proto-http openinference-semantic-conventions",
    settings=TelemetrySettings,
    check=_check,
    open=_open,
    commands=later("plugins.telemetry.export_traces:add_export_traces"),
    panels={"programs": later("plugins.telemetry.card:runs_as_spans")},
)
