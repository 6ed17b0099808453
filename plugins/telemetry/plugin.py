"""OpenTelemetry out: finished runs as spans, to any receiver of OTLP over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.messages import N_
from engine.plugins import Inside, Plugin
from plugins.telemetry.settings import TelemetrySettings

if TYPE_CHECKING:
    from components.common.i18n import Words
    from engine.engine import Engine
    from engine.settings import Settings
    from pages.parts.system.programs import Way
    from plugins.telemetry.sending import Telemetry


def _check(settings: Settings) -> None:
    if settings.of(TelemetrySettings).otlp_endpoint:
        from plugins.telemetry.sending import require_packages

        require_packages()


def _open(engine: Engine, inside: Inside) -> Telemetry | None:
    if not engine.settings.of(TelemetrySettings).otlp_endpoint:
        return None
    from plugins.telemetry.sending import Telemetry

    return Telemetry.of(engine, inside.faults)


def _commands(commands: Any) -> None:
    from plugins.telemetry.export_traces import add_export_traces

    add_export_traces(commands)


def _card(engine: Engine, words: Words) -> Way:
    from plugins.telemetry.card import runs_as_spans

    return runs_as_spans(engine, words)


PLUGIN = Plugin(
    name="telemetry",
    title=N_("OpenTelemetry"),
    modules=("opentelemetry", "openinference"),
    packages="opentelemetry-exporter-otlp-proto-http openinference-semantic-conventions",
    settings=TelemetrySettings,
    check=_check,
    open=_open,
    commands=_commands,
    panels={"programs": _card},
)
