"""The view Other programs of the page System: every way in or out for them, each one card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from components.common.i18n import Words
from components.common.url_state import base_path, own_origin
from components.system.ways import Snippet, Way, way_cards
from engine.engine import Engine
from engine.mcp_server.clients import by_command, over_http
from engine.mcp_server.door import PATH
from engine.model.version import PROGRAM
from engine.people import signing_in
from pages.parts.system.programs_chat import chat_api


def programs_part(engine: Engine, words: Words) -> None:
    st.caption(
        words(
            "How other programs use this workbench, and what it sends to them. A change takes effect at the next start."
        )
    )
    way_cards([way(engine, words) for way in _WAYS], words, key="programs")


def http_api(engine: Engine, words: Words) -> Way:
    """The API that is always there."""
    address = f"{own_origin()}{base_path()}/api"
    token = ' -H "Authorization: Bearer TOKEN"' if signing_in() else ""
    question = words("When does a connected graph have an Euler circuit?")
    asked = f"""curl -H "Content-Type: application/json"{token} {address}/runs -d '{{"question": "{question}"}}'"""
    return Way(
        title=words("HTTP API"),
        on=True,
        said=words(
            "Programs ask, read and judge runs, put files into collections and watch this machine as the pages do."
        ),
        facts=(words("`{address}/openapi.json` describes every route", address=address),),
        snippets=(Snippet(words("Ask a question and wait for its record"), asked),),
    )


def runs_as_spans(engine: Engine, words: Words) -> Way:
    """Finished runs sent as OpenTelemetry spans."""
    said = words(
        "Each finished run is sent as an OpenTelemetry trace, which Arize Phoenix and other receivers show as "
        "retrieval, reranking, grading and generation, with scores."
    )
    usual = Way(words("OpenTelemetry"), False, said, turn_on="WORKBENCH_OTLP_ENDPOINT=http://127.0.0.1:6006")
    if engine.telemetry is None:
        return usual
    state = engine.telemetry.state()
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


def agents(engine: Engine, words: Words) -> Way:
    """The server for agents that speak the Model Context Protocol."""
    mode = engine.settings.mcp
    said = words(
        "Agents such as Claude Desktop, VS Code and Cursor ask, search, explain runs, try what-ifs and sweep settings "
        "over the Model Context Protocol."
    )
    facts = {
        "off": (),
        "read": (words("agents ask and look; what is there stays as it is"),),
        "write": (words("agents also change settings, tags, judgements and documents"),),
    }[mode]
    http = Snippet(
        words("Configuration of a client, over HTTP"),
        over_http(f"{own_origin()}{base_path()}{PATH}", signing_in=signing_in()),
    )
    if signing_in():
        # The command is let in as the owner of this machine's folder.
        return Way(words("Agents (MCP)"), mode != "off", said, "WORKBENCH_MCP=read", facts, (http,))
    own = words(
        "`{command}` serves an agent that starts it itself, whether this is on or off", command=f"{PROGRAM} mcp"
    )
    started = Snippet(
        words("Configuration of a client that starts the command itself"), by_command(engine.settings.data_dir)
    )
    return Way(words("Agents (MCP)"), mode != "off", said, "WORKBENCH_MCP=read", (*facts, own), (http, started))


def traces_in(engine: Engine, words: Words) -> Way:
    """Traces of other programs, taken in as runs."""
    take = Snippet(words("Take in a file of traces"), f'{PROGRAM} import-traces spans.json --as-set "my loop"')
    lines = (
        "from rag_workbench.observe import observe_generation, observe_grading, observe_retrieval",
        f"# WORKBENCH_URL={own_origin()}{base_path()}",
    )
    return Way(
        title=words("Traces of other programs"),
        on=True,
        said=words(
            "Retrieval loops of your own become runs here: from OpenTelemetry, Phoenix, Langfuse or LangSmith, or "
            "recorded by three decorators. Runs has Import traces."
        ),
        snippets=(take, Snippet(words("Record a Python loop"), "\n".join(lines))),
    )


_WAYS: tuple[Callable[[Engine, Words], Way], ...] = (http_api, chat_api, agents, runs_as_spans, traces_in)
"""In the order in which they are shown."""
