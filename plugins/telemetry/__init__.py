"""Runs as OpenTelemetry spans, with the attributes of OpenInference and of OpenTelemetry's conventions for GenAI.

Spans are made from the record of a run that has ended (:func:`plugins.telemetry.trace.trace_of`): runs do not wait for
them, and older runs can be sent too. What is imported here comes with the extra ``telemetry``, and only where
``WORKBENCH_OTLP_ENDPOINT`` is set or ``export-traces`` is called.
"""
