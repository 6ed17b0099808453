"""Without content no text that a person, a source or a model wrote leaves this machine (TL-03)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import Fault, RunRecord
from engine.samples.demos import all_demos, demo_record
from plugins.telemetry.otlp import as_json, encoded
from plugins.telemetry.trace import trace_of
from tests.plugins.telemetry.otlp_receiver import OtlpReceiver

SECRET = "zanthium"
_KNOWN = frozenset("model models config manifest workflow outcome route node nodes id role".split())
"""Fields whose texts come out of sets that this program knows, or name models and settings."""


def texts(value: Any) -> Iterator[str]:
    """Every text in a value of a record that a person wrote, of more than one word or in Chinese."""
    if isinstance(value, str):
        if " " in value.strip() or not value.isascii() or ".md" in value:
            yield value
    elif is_dataclass(value):
        for field in fields(value):
            if field.name not in _KNOWN:
                yield from texts(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from texts(key)
            yield from texts(item)
    elif isinstance(value, tuple | list | frozenset):
        for item in value:
            yield from texts(item)


@cache
def sent(demo: str, *, content: bool) -> tuple[RunRecord, str]:
    record = demo_record(demo)
    trace = trace_of(record, content=content)
    body = encoded([trace], "p")
    annotated = json.dumps([score.explanation for span in trace.spans for score in span.scores], ensure_ascii=False)
    return record, body.decode("utf-8", "ignore") + as_json([trace], "p") + annotated


@pytest.mark.parametrize("demo", sorted(demo.id for demo in all_demos()))
def test_no_text_of_a_run_is_among_what_is_sent_without_content(demo: str) -> None:
    """TL-03"""
    record, body = sent(demo, content=False)
    written = set(texts(record))
    assert record.answer in written
    assert len(written) > 50
    leaked = {text for text in written if text in body}
    # Decisions are made of figures and known words; what they say is no content.
    assert leaked <= {comparison for item in record.decisions for comparison in (item.inequality,)}


_CLOSED = _KNOWN | frozenset(
    "workflow kind gate grader evaluator by answered wanted quantity relation name grade top3_grade graded_on route "
    "strategy status list mode complexity suggested_mode linked_by code reason_code answer_note context search "
    "dimension of milvus_address started_at summarised_by claim_by language".split()
)
"""Fields that hold one of a few words, a time, or the name of a model."""


def poisoned(value: Any, name: str = "") -> Any:
    """A value of a record in which every text that a person could have written holds the secret."""
    if isinstance(value, str):
        return value if name in _CLOSED else f"{value} {SECRET}"
    if isinstance(value, RunConfig):
        return replace(value, collection=f"c-{SECRET}")
    if is_dataclass(value) and not isinstance(value, type):
        poison = {item.name: poisoned(getattr(value, item.name), item.name) for item in fields(value)}
        return replace(value, **poison)
    if isinstance(value, Mapping):
        return {poisoned(key, "passage"): poisoned(item) for key, item in value.items()}
    return tuple(poisoned(item, name) for item in value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("demo", sorted(demo.id for demo in all_demos()))
def test_no_field_of_a_record_that_could_be_written_by_anybody_is_sent_without_content(demo: str) -> None:
    """TL-03: also what no demo has, such as thoughts of a model, errors, warnings, and codes that a model chose."""
    record = demo_record(demo)
    fault = Fault("WB401", "Nothing answers for it.", "Start it.", {"what": "it"}, record.nodes[0].node)
    call = replace(record.model_calls[0], model="ollama:m", built_in=False, thinking="Hm", error="WB401: it")
    whole = replace(
        poisoned(replace(record, model_calls=(call, *record.model_calls), warnings=(fault,), error=fault, author="a")),
        id=record.id,
        outcome="failed",
        reason="WB401",
        decisions=record.decisions,
        manifest={**record.manifest, "collection": f"c-{SECRET}", "collection_alias": SECRET},
    )
    assert SECRET in as_json([trace_of(whole, content=True)], "p")
    trace = trace_of(whole, content=False)
    assert SECRET not in as_json([trace], "p")
    assert SECRET not in repr([span.scores for span in trace.spans])


def test_with_content_the_same_texts_are_there() -> None:
    """The test above can fail."""
    record, body = sent("demo-rescue-en", content=True)
    assert record.question in body
    assert record.rewrites[0].rewritten_query in body
    assert record.answer.splitlines()[0] in body
    assert all(item.passage.source in body for item in record.rounds[0].candidates)


@pytest.mark.parametrize(("limited", "open_to_all"), [(False, False), (True, False), (True, True)])
def test_content_of_a_limited_collection_leaves_only_where_that_was_asked_for(
    tmp_path: Path, limited: bool, open_to_all: bool
) -> None:
    """TL-04: what a collection that is limited to groups holds, and what is asked of it, stays here."""
    wards = pytest.importorskip("tests.plugins.team.people.ward")
    settings = {
        "otlp_content": limited,
        "otlp_limited_content": open_to_all,
        "otlp_headers": SecretStr("authorization=Bearer%20zanthium-key"),
    }
    with OtlpReceiver() as receiver:
        with wards.ward_in(tmp_path, otlp_endpoint=receiver.url, **settings) as ward:
            receiver.wait(1)
            before = len(receiver.bodies)
            with ward.as_(wards.MEMBER):
                record = ward.engine.run(wards.QUESTION, RunConfig(collection="ward"))
            receiver.wait(before + 1)
        assert record.outcome
        everything = b"".join(receiver.bodies)
    assert (SECRET.encode() in everything) == (limited and open_to_all)
    assert b"zanthium-key" not in everything
    assert all(item["authorization"] == "Bearer zanthium-key" for item in receiver.headers)
    assert (wards.MEMBER.id.encode() in receiver.bodies[-1]) == open_to_all


def test_a_secret_that_an_error_quotes_is_taken_out(tmp_path: Path) -> None:
    """TL-03: facts of errors hold addresses, and those may hold a password."""
    from engine.engine import Engine
    from engine.settings import Settings

    with OtlpReceiver() as receiver:
        settings = Settings.load(
            data_dir=tmp_path,
            embedding_model="hashing",
            ollama_url="http://user:hunter2secret@127.0.0.1:1",
            otlp_endpoint=receiver.url,
            otlp_content=True,
        )
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            models = RoleModels(generator=RoleModel("ollama:qwen3:8b"))
            record = engine.run("What is a truth table?", RunConfig(models=models, max_rewrites=0))
            assert record.outcome == "failed"
            receiver.wait(1)
        body = b"".join(receiver.bodies)
    assert b"hunter2secret" not in body
    assert b"What is a truth table?" in body
    assert record.error is not None
    assert record.error.code.encode() in body
