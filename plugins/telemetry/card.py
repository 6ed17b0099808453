"""The card of the page System: where runs are sent as spans, how many were, and what is wrong."""

from __future__ import annotations

from dataclasses import replace

from components.common.i18n import Words
from engine.engine import Engine
from engine.version import PROGRAM
from pages.parts.system.programs import Snippet, Way
from plugins.telemetry.sending import Telemetry


def runs_as_spans(engine: Engine, words: Words) -> Way:
    """Finished runs sent as OpenTelemetry spans."""
    said = words(
        "Each finished run is sent as an OpenTelemetry trace, which Arize Phoenix and other receivers show as "
        "retrieval, reranking, grading and generation, with scores."
    )
    usual = Way(words("OpenTelemetry"), False, said, turn_on="WORKBENCH_OTLP_ENDPOINT=http://127.0.0.1:6006")
    if (telemetry := engine.part(Telemetry)) is None:
        return usual
    state = telemetry.state()
    content = words("without content: only figures and names of settings and models")
    if state.content:
        content = words("with content, that of collections limited to groups left out")
    if state.limited_content:
        content = words("with content, also that of collections limited to groups")
    counts = [words.count("1 run sent", "{n} runs sent", state.sent)]
    if state.waiting:
        counts.append(words.count("1 waits", "{n} wait", state.waiting))
    if state.dropped:
        counts.append(words.count("1 was not taken", "{n} were not taken", state.dropped))
    older = Snippet(words("Send the newest 20 runs by hand"), f"{PROGRAM} export-traces --last 20")
    facts = (f"`{state.address}`", content, " · ".join(counts))
    return replace(usual, on=True, facts=facts, snippets=(older,), fault=state.fault)
