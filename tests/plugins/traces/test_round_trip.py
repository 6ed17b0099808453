"""Runs of this workbench, sent as spans and taken in again: what they found and judged comes back (TR-01, TL-08)."""

from __future__ import annotations

import pytest

from engine.samples.demos import all_demos, demo_record
from plugins.telemetry.otlp import as_json, encoded
from plugins.telemetry.trace import trace_of
from plugins.traces.reading import recognised


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("demo", sorted(demo.id for demo in all_demos()))
def test_searches_verdicts_context_and_answer_of_every_demo_come_back(demo: str, binary: bool) -> None:
    record = demo_record(demo)
    sent = [trace_of(record, content=True)]
    data = encoded(sent, "rag-workbench") if binary else as_json(sent, "rag-workbench").encode()
    (read,) = recognised([("run", data)]).traces
    assert (read.question, read.answer, read.project) == (record.question, record.answer, "rag-workbench")
    assert [search.query for search in read.searches] == [current.query for current in record.rounds]
    for search, current in zip(read.searches, record.rounds, strict=True):
        found = [item.passage.id for item in current.candidates]
        # What was reranked is read in its new order.
        assert [item.id for item in search.passages][len(current.reranked) :] == [
            name for name in found if name not in current.reranked
        ]
        assert {item.id for item in search.passages} == set(found)
    assert {(item.round, item.passage): (item.relevant, item.reason) for item in read.verdicts} == {
        (current.index, name): (verdict.relevant, verdict.reason[:500])
        for current in record.rounds
        for name, verdict in current.verdicts.items()
    }
