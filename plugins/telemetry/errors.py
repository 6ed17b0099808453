"""Runs sent to other programs as spans; addresses are shown without user name and password."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class TelemetryError(WorkbenchError):
    """Runs cannot be sent as spans; the runs themselves are kept as ever."""

    code = "WB980"
    rejected = Message(
        N_("{address} took a run only in part: {rejected} of its spans were rejected."),
        N_("Look at the log of what receives the spans there."),
    )
    too_many = Message(
        N_("{waiting} runs wait to be sent to {address}; more are not taken."),
        N_("Find out why it is slow, or send the runs later with `{program} export-traces`."),
    )
    # What makes and encodes spans is not installed.
    cannot_export = Message(
        N_("Spans are made with packages that are not installed."),
        N_("Run `{command}`, then try again."),
        code="WB981",
        package="opentelemetry-exporter-otlp-proto-http openinference-semantic-conventions",
    )
    cannot_send = Message(
        N_("Runs are sent as spans with packages that are not installed."),
        N_("Run `{command}`, or leave WORKBENCH_OTLP_ENDPOINT empty."),
        code="WB981",
        package="opentelemetry-exporter-otlp-proto-http openinference-semantic-conventions",
    )
    # It answered, and would not take a run.
    key_refused = Message(
        N_("{address} refuses spans (status {status}): it wants another key."),
        N_("Correct WORKBENCH_OTLP_HEADERS, then send the runs that were refused with `{program} export-traces`."),
        code="WB983",
    )
    path_unknown = Message(
        N_("{address} knows no spans (status {status})."),
        N_("Set WORKBENCH_OTLP_ENDPOINT to where OTLP over HTTP is received, with its port and path."),
        code="WB983",
    )
    refused = Message(
        N_("{address} refused a run (status {status})."),
        N_("Look at the log of what receives spans there."),
        code="WB983",
    )
    judgements_refused = Message(
        N_("{address} took the spans of a run and refused its judgements (status {status})."),
        N_("Set WORKBENCH_OTLP_PHOENIX only where an Arize Phoenix receives the spans, and look at its log."),
        code="WB983",
    )


class TelemetryUnreachable(TelemetryError):
    """It is tried again until it answers."""

    code = "WB982"
    silent = Message(
        N_("Nothing answers at {address}, where runs are sent as spans."),
        N_("Start what receives them, or correct WORKBENCH_OTLP_ENDPOINT; runs wait until it answers."),
    )
    slow = Message(
        N_("{address}, where runs are sent as spans, gave no answer within {seconds} s."),
        N_("Look at the log of what receives them; runs wait until it answers."),
    )
    busy = Message(
        N_("{address} takes no spans at the moment (status {status})."),
        N_("Look at the log of what receives them; runs wait until it takes them."),
    )
