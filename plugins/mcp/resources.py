"""Resources: the record of a run, what happened in it, and what a collection holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from typing import Any, ParamSpec
from urllib.parse import quote

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import Resource

from engine.errors import WorkbenchError
from plugins.mcp.declared import Bench
from plugins.mcp.results import LONGEST_ANSWER, LONGEST_QUESTION, cut

_P = ParamSpec("_P")
_RECORDS = "workbench://runs/{run_id}"
_REPORTS = "workbench://runs/{run_id}/report"
_COLLECTIONS = "workbench://collections/{name}"
_MOST_RUNS = 20
_MOST_COLLECTIONS = 40
_MOST_SOURCES = 200
_JSON = "application/json"


def add_resources(server: MCPServer[Any], bench: Bench) -> None:
    """The three kinds of resources, as templates."""

    @server.resource(_RECORDS, name="run", title="Record of a run", mime_type=_JSON)
    @_resource_faults
    def record(run_id: str) -> str:
        """Everything that a run left: rounds, passages, verdicts, decisions, prompts and replies; it may be long."""
        return _json(bench.engine.record(run_id).to_dict())

    @server.resource(_REPORTS, name="report", title="What happened in a run", mime_type="text/plain")
    @_resource_faults
    def report(run_id: str) -> str:
        """A run in plain sentences."""
        engine, telling = bench.engine, bench.telling
        found = engine.record(run_id)
        story = telling.steps(found, list(engine.events(run_id)) if found.outcome is not None else [], "en")
        decided = [telling.decision(item, found, "en") for item in found.decisions]
        ending = telling.ending(found, "en")
        return "\n".join([found.question, "", *story, "", *decided, "", ending, cut(found.answer, LONGEST_ANSWER)])

    @server.resource(_COLLECTIONS, name="collection", title="A collection and its sources", mime_type=_JSON)
    @_resource_faults
    def collection(name: str) -> str:
        """Describe a collection, and its sources with what was read of each and what was left out."""
        info = bench.engine.describe(name)
        sources = bench.engine.sources(name)
        named = [
            {
                "source": item.source,
                "passages": item.passages,
                "account": item.account.to_dict() if item.account is not None else None,
            }
            for item in sources[:_MOST_SOURCES]
        ]
        plain = {key: value for key, value in asdict(info).items() if key not in ("address", "fault")}
        return _json({**plain, "listed_sources": named, "more_sources": max(0, len(sources) - _MOST_SOURCES)})


def listed(bench: Bench) -> list[Resource]:
    """The newest runs and the collections that the current user may read; blocks."""
    runs = [
        Resource(
            uri=_RECORDS.format(run_id=quote(item.id, safe="")),
            name=item.id,
            title=cut(item.question, LONGEST_QUESTION),
            description=f"{item.outcome or 'running'}, {item.searched or item.collection}, {item.started_at}",
            mime_type=_JSON,
        )
        for item in bench.engine.runs(_MOST_RUNS)
    ]
    collections = [
        Resource(
            uri=_COLLECTIONS.format(name=quote(item.name, safe="")),
            name=item.name,
            title=f"Collection {item.name}",
            description=cut(item.description, LONGEST_QUESTION) or f"{item.passages} passages",
            mime_type=_JSON,
        )
        for item in bench.engine.collections()[:_MOST_COLLECTIONS]
    ]
    return [*collections, *runs]


def _resource_faults(read: Callable[_P, str]) -> Callable[_P, str]:
    """Faults of ours as faults of a resource, which carry their sentences."""

    @wraps(read)
    def reading(*args: _P.args, **kwargs: _P.kwargs) -> str:
        try:
            return read(*args, **kwargs)
        except WorkbenchError as error:
            said = f"{error.code}: {error.fact} {error.remedy}"
            raise (ResourceNotFoundError if error.status == 404 else ResourceError)(said) from error

    return reading


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
