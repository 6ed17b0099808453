"""The description that the API gives of itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.config import OPTION_PARAMETERS, PARAMETERS
from tests.api.served import calling

PATHS = {
    "/self-corrective-rag": {"post"},
    "/health": {"get"},
    "/host/health": {"get"},
    "/host/diagnosis": {"get"},
    "/runs/check": {"post"},
    "/runs": {"get", "post"},
    "/runs/{run_id}": {"get", "delete"},
    "/runs/{run_id}/events": {"get"},
    "/runs/{run_id}/cancel": {"post"},
    "/runs/{run_id}/what-if": {"post"},
    "/runs/{run_id}/tags/{tag}": {"put", "delete"},
    "/runs/{run_id}/fork": {"post"},
    "/runs/{run_id}/fork/price": {"post"},
    "/attachments": {"post"},
    "/collections": {"get"},
    "/collections/{name}/sources": {"get", "post"},
    "/collections/{name}/graph": {"get", "post", "delete"},
    "/collections/{name}/graph/neighbourhood": {"get"},
    "/ingestions": {"get"},
    "/ingestions/{job_id}": {"get", "delete"},
    "/ingestions/{job_id}/stop": {"post"},
    "/ingestions/{job_id}/resume": {"post"},
    "/memories": {"get"},
    "/memories/{memory_id}": {"delete"},
}


@pytest.fixture
def described(tmp_path: Path) -> Any:
    with calling(tmp_path) as (client, _):
        return client.get("/api/openapi.json").json()


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "$ref":
                yield inner
            else:
                yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def test_every_route_is_described_under_its_true_address(described: Any) -> None:
    assert described["openapi"].startswith("3.")
    assert described["servers"] == [{"url": "/api"}]
    assert {path: set(methods) for path, methods in described["paths"].items()} == PATHS
    operations = [item for methods in described["paths"].values() for item in methods.values()]
    assert all(item["summary"] and item["responses"] for item in operations)
    ids = [item["operationId"] for item in operations]
    assert len(set(ids)) == len(ids)


def test_every_reference_leads_somewhere(described: Any) -> None:
    found = set(references(described))
    assert found
    for reference in found:
        place = described
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]
        assert place["type"] == "object"


def test_errors_are_described_as_they_are_sent(described: Any) -> None:
    schema = {"$ref": "#/components/schemas/ErrorBody"}
    for methods in described["paths"].values():
        for operation in methods.values():
            assert operation["responses"]["422"]["content"]["application/json"]["schema"] == schema
    assert "HTTPValidationError" not in described["components"]["schemas"]


def test_ranges_and_defaults_are_those_of_the_parameters(described: Any) -> None:
    """SC-08, SC-11"""
    seed = described["components"]["schemas"]["SeedRequest"]
    assert seed["required"] == ["query"]
    assert seed["additionalProperties"] is False
    for field, name in (("topK", "top_k"), ("maxRewriteAttempts", "max_rewrites")):
        limits, shown = PARAMETERS[name], seed["properties"][field]
        assert (shown["minimum"], shown["maximum"], shown["default"]) == (limits.low, limits.high, limits.default)
    assert seed["properties"]["gradePassThreshold"]["default"] == PARAMETERS["grade_pass_threshold"].default


def test_the_options_of_every_workflow_are_described_with_their_ranges(described: Any) -> None:
    """QL-02, AE-01: who reads the description alone can call every loop with its own options."""
    run = described["components"]["schemas"]["RunRequest"]["properties"]
    assert {"quality_loop", "answer_evaluation"} <= set(run["workflow"]["anyOf"][0]["enum"])
    said = run["config"]["description"]
    for parameters in (PARAMETERS, *OPTION_PARAMETERS.values()):
        for name, limits in parameters.items():
            assert f"{name} {limits.low:.10g} to {limits.high:.10g}" in said
    assert "grade_on" in said


def test_the_filters_of_the_list_are_described(described: Any) -> None:
    named = {item["name"]: item["schema"] for item in described["paths"]["/runs"]["get"]["parameters"]}
    assert named.keys() == {"limit", "outcome", "text", "tag", "without_tag", "workflow", "collection", "before"}
    assert (named["limit"]["default"], named["limit"]["maximum"]) == (50, 500)
