"""Traces of other programs that cannot be read."""

from __future__ import annotations

from engine.errors.base import WorkbenchError
from engine.messages import N_

# A file of traces that nothing can be taken from.
TOO_LARGE = WorkbenchError.row(
    N_("{name!r} has {size} MB; a file of traces may have {limit} MB."),
    N_("Export fewer traces at a time."),
    code="WB960",
    status=422,
)
TOO_MANY_SPANS = WorkbenchError.row(
    N_("{name!r} holds more than {limit} spans."), N_("Export fewer traces at a time."), code="WB960", status=422
)
TOO_LONG = WorkbenchError.row(
    N_("Each trace in {name!r} that searches has more than {spans} spans or {searches} searches."),
    N_("Give each question a trace of its own, and export them again."),
    code="WB960",
    status=422,
)
TOO_DEEP = WorkbenchError.row(
    N_("{name!r} is nested too deeply to be read."),
    N_("Export the traces again, or leave out the span that holds this."),
    code="WB960",
    status=422,
)
NOT_JSON = WorkbenchError.row(
    N_("{name!r} is neither JSON, JSON Lines, a table of Langfuse (CSV) nor OTLP in binary form: {why}."),
    N_("Export the traces as JSON; docs/traces.md names the forms that are read."),
    code="WB960",
    status=422,
)
UNKNOWN = WorkbenchError.row(
    N_("{name!r} is JSON, and no form of traces that is read here."),
    N_("Export spans as OTLP JSON, or from Phoenix or Langfuse; docs/traces.md shows each form."),
    code="WB960",
    status=422,
)
HIDDEN = WorkbenchError.row(
    N_("Every trace in {name!r} ({n}) was imported before, into a collection that you may not see."),
    N_("Ask an admin for the group of that collection, or export the traces under other ids."),
    code="WB960",
    status=422,
)
NOTHING = WorkbenchError.row(
    N_("{name!r} holds {spans} spans and no search that gave documents, so there is nothing to debug."),
    N_("Trace the retriever too: a span with its query and documents, or @observe_retrieval."),
    code="WB960",
    status=422,
)
NO_CONTENTS = WorkbenchError.row(
    N_("{name!r} has no contents: the traces of Langfuse in it ({n}) lack what their steps took in and gave."),
    N_(
        "Export the table of observations, or get the trace from the API: GET /api/public/traces/ID, or "
        "GET /api/public/v2/observations?traceId=ID&fields=core,basic,io,usage. Where it is empty there too, let "
        "the program record inputs and outputs."
    ),
    code="WB960",
    status=422,
)
NO_STEPS = WorkbenchError.row(
    N_("{name!r} holds traces of Langfuse ({n}) without their observations, so no search can be seen."),
    N_("Export the table of observations too, and import both files together."),
    code="WB960",
    status=422,
)
UNREADABLE = WorkbenchError.row(
    N_("{name!r} cannot be read: {why}."), N_("Check the path and its permissions."), code="WB960", status=422
)
DECODER_MISSING = WorkbenchError.row(
    N_("{name!r} is OTLP in binary form, and opentelemetry-proto is not installed."),
    N_("Run {command}, or export the traces as JSON."),
    code="WB961",
    status=422,
    package="opentelemetry-proto",
)
"""Binary OTLP needs a package that is not installed; JSON needs none."""
# No passage is left that a grader could judge.
OWN_RUN = WorkbenchError.row(
    N_("Run {run} was made here, and its grader has judged what it was to judge."),
    N_("Run the question again with another grader."),
    code="WB963",
    status=409,
)
ALL_JUDGED = WorkbenchError.row(
    N_("Every passage of these runs is judged already."),
    N_("Move the sliders, or open the runs."),
    code="WB963",
    status=409,
)
