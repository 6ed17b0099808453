"""Life-lines: no candidate of any round is lost, and each says where it went."""

from __future__ import annotations

from dataclasses import replace

from components.common.life_lines import LifeLine, life_lines
from engine.model.values import Context, PassageId, RunRecord
from tests.components.sample_run import CONFIG, sample_events, sample_record


def by_id(record: RunRecord) -> dict[str, LifeLine]:
    return {line.passage.id: line for line in life_lines(record)}


def test_every_distinct_candidate_of_every_round_has_exactly_one_line() -> None:
    """SC-02: nothing is silently lost."""
    record = sample_record()
    seen = {item.passage.id for current in record.rounds for item in current.candidates}
    lines = life_lines(record)
    assert len(lines) == len(seen) == 9
    assert {line.passage.id for line in lines} == seen


def test_cited_passages_come_first_by_marker_then_kept_ones_by_rank_then_dropped_ones() -> None:
    order = [line.passage.id for line in life_lines(sample_record())]
    assert order == ["symptoms", "thirst", "alarm", "history", "hostile", "silent", "log", "eyes", "sugar"]


def test_a_line_keeps_rank_gate_and_verdict_of_every_round() -> None:
    thirst = by_id(sample_record())["thirst"]
    assert [(seen.round.index, seen.found.rank, seen.found.gate, seen.reused) for seen in thirst.sightings] == [
        (0, 1, "kept", False),
        (1, 2, "kept", True),
    ]
    assert (thirst.marker, thirst.fate, thirst.passes) == (2, "cited", True)


def test_fates_tell_apart_failed_unreadable_and_dropped() -> None:
    lines = by_id(sample_record())
    assert lines["history"].fate == "failed"
    assert lines["hostile"].fate == "unreadable"
    assert lines["log"].fate == "below_threshold"
    assert lines["eyes"].fate == "beyond_top_k"
    assert [name for name, line in lines.items() if line.dropped] == ["log", "eyes", "sugar"]


def test_a_passage_given_but_not_cited_and_one_cut_from_the_context_are_said() -> None:
    """SC-07: the cut part is shown."""
    record = sample_record()
    assert record.context is not None
    given = record.context.passages
    changed = replace(
        record,
        citations=record.citations[:1],
        context=Context(given[:2], cut=(PassageId("alarm"),), tokens=300, token_budget=300),
    )
    lines = by_id(changed)
    assert (lines["thirst"].fate, lines["thirst"].marker) == ("uncited", 2)
    assert (lines["alarm"].fate, lines["alarm"].marker) == ("cut", None)


def test_the_bar_of_confidence_decides_whether_a_verdict_passes() -> None:
    """SC-03: a passage passes when P(relevant) reaches min_confidence."""
    strict = sample_record(replace(CONFIG, min_confidence=0.6))
    assert by_id(strict)["alarm"].passes is False
    lenient = sample_record(replace(CONFIG, min_confidence=0.36))
    assert by_id(lenient)["silent"].passes is True


def test_a_run_without_rounds_has_no_lines() -> None:
    record = replace(sample_record(), rounds=())
    assert life_lines(record) == ()


def test_the_sample_run_has_the_decisions_it_is_meant_to_have() -> None:
    record = sample_record()
    assert [item.reason for item in record.decisions] == ["below_gate", "passed"]
    assert record.last_seq == len(sample_events())
