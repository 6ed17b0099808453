"""The description that the API gives of itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from engine.flow import workflows
from engine.model.config import BUILTIN, PARAMETERS, RunConfig
from engine.records.tagging import LONGEST_TAG
from tests.api.served import calling
from tests.support.brought import brought

PATHS = {
    "/self-corrective-rag": {"post"},
    "/health": {"get"},
    "/ready": {"get"},
    "/host/health": {"get"},
    "/host/diagnosis": {"get"},
    "/runs/check": {"post"},
    "/weak-points": {"get"},
    "/weak-points/{point_id}": {"delete"},
    "/collections/{name}/weak-points": {"put"},
    "/runs": {"get", "post"},
    "/runs/{run_id}": {"get", "delete"},
    "/runs/{run_id}/events": {"get"},
    "/runs/{run_id}/answer": {"get"},
    "/runs/{run_id}/answer/judgement": {"put"},
    "/runs/{run_id}/answer/verdict": {"post"},
    "/runs/{run_id}/cancel": {"post"},
    "/runs/{run_id}/what-if": {"post"},
    "/runs/{run_id}/tags/{tag}": {"put", "delete"},
    "/runs/{run_id}/fork": {"post"},
    "/runs/{run_id}/fork/price": {"post"},
    "/attachments": {"post"},
    "/collections": {"get"},
    "/collections/{name}/sources": {"get", "post"},
    "/collections/{name}/sources/price": {"post"},
    "/collections/{name}/graph": {"get", "post", "delete"},
    "/collections/{name}/drafts": {"post"},
    "/collections/{name}/fits": {"get"},
    "/drafts": {"get"},
    "/query-sets/{set_name}/judgements": {"get", "post"},
    "/query-sets/{set_name}/history": {"get"},
    "/query-sets/{set_name}/grader": {"get"},
    "/drafts/{draft_id}": {"put"},
    "/collections/{name}/graph/neighbourhood": {"get"},
    "/jobs": {"get"},
    "/ingestions": {"get"},
    "/ingestions/{job_id}": {"get", "delete"},
    "/ingestions/{job_id}/stop": {"post"},
    "/ingestions/{job_id}/resume": {"post"},
    "/memories": {"get"},
    "/memories/{memory_id}": {"delete"},
}


DOCS = Path(__file__).resolve().parents[2] / "docs" / "api.md"


@pytest.fixture
def described(tmp_path: Path) -> Any:
    with calling(tmp_path) as (client, _):
        return client.get("/api/openapi.json").json()


def routes_in(page: Path) -> set[tuple[str, str]]:
    """Return the method and path of each route that a page of the documentation names."""
    routes = re.findall(r"`(GET|POST|PUT|DELETE) (/[^ `]*)`", page.read_text(encoding="utf-8"))
    return {(method.lower(), re.sub(r"\{\w+\}", "{}", path.removeprefix("/api"))) for method, path in routes}


def routes_of(paths: Mapping[str, Collection[str]]) -> set[tuple[str, str]]:
    """Return the same of what is described."""
    return {(method, re.sub(r"\{\w+\}", "{}", path)) for path, methods in paths.items() for method in methods}


def test_the_docs_have_every_route_and_no_other() -> None:
    assert routes_in(DOCS) == routes_of(PATHS)


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
    assert {path: set(methods) for path, methods in described["paths"].items()} == PATHS | brought("PATHS")
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
    for parameters in (PARAMETERS, *(own.numbers for own in workflows().values())):
        for name, limits in parameters.items():
            assert f"{name} {limits.low:.10g} to {limits.high:.10g}" in said
    assert "grade_on" in said


def test_the_filters_of_the_list_are_described(described: Any) -> None:
    named = {item["name"]: item["schema"] for item in described["paths"]["/runs"]["get"]["parameters"]}
    narrowing = {"outcome", "text", "tag", "without_tag", "workflow", "collection", "author"}
    assert named.keys() == {"limit", "before", *narrowing}
    assert (named["limit"]["default"], named["limit"]["maximum"]) == (50, 500)


def test_what_is_checked_is_described(described: Any) -> None:
    """A client made from the description sends nothing that is refused for a reason it could not know."""
    bodies = described["components"]["schemas"]
    text = bodies["RunRequest"]["properties"]["question"]["pattern"]
    assert not re.search(text, " \n")
    for body, field in (
        ("SourceRequest", "content_base64"),
        ("ReadRequest", "content_base64"),
        ("AttachmentBody", "content_base64"),
    ):
        file = bodies[body]["properties"][field]
        assert file["contentEncoding"] == "base64"
        assert [bool(re.search(file["pattern"], sample)) for sample in ("QUJD", "QUI=", "QQ==", "Q", "QU=J", "é")] == [
            *(True, True, True),
            *(False, False, False),
        ]
    for body, field in (("GraphRequest", "extractor"), ("ReadRequest", "vision")):
        model = bodies[body]["properties"][field]["pattern"]
        assert [bool(re.search(model, name)) for name in (BUILTIN, "ollama:x", "x", ":x")] == [True, True, False, False]
    embeds = bodies["SourceRequest"]["properties"]["embedding_model"]["pattern"]
    assert [bool(re.search(embeds, name)) for name in ("", "hashing", "ollama:x", "openai:x")] == [*[True] * 3, False]
    seed = bodies["SeedRequest"]["properties"]["similarityThreshold"]
    assert (seed["minimum"], seed["maximum"]) == (0, 1)
    tag = next(
        item for item in described["paths"]["/runs/{run_id}/tags/{tag}"]["put"]["parameters"] if item["name"] == "tag"
    )
    assert tag["schema"]["maxLength"] == LONGEST_TAG
    assert not re.search(tag["schema"]["pattern"], "a\u202eb")


@pytest.mark.parametrize("body", ["RunRequest", "WhatIfRequest", "ForkChanges", "ForkRequest"])
def test_a_config_is_described_with_its_fields_and_ranges(described: Any, body: str) -> None:
    config = described["components"]["schemas"][body]["properties"]["config"]
    assert config["additionalProperties"] is False
    assert set(config["properties"]) == {item.name for item in fields(RunConfig)}
    for name, limits in PARAMETERS.items():
        assert (config["properties"][name]["minimum"], config["properties"][name]["maximum"]) == (
            limits.low,
            limits.high,
        )
