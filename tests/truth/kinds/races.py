"""The race of modes: what only the graph found is in no vector search, kept or dropped, and drops are as recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from components.common.i18n import Words
from engine.model.values import Candidate, PassageId, RunRecord
from engine.running.mode_race import mode_race
from pages.parts.runs.modes import finding_text, found_before_text, mode_race_nodes
from tests.truth.claims import Claim, numbers, rows_of


def claims(records: Sequence[RunRecord], words: Words) -> Iterator[Claim]:
    race = mode_race(records)
    graph_led = {item.passage.id for item in _seen(records) if {"local", "global"} & set(item.found_in)}
    kept = {item.passage.id for item in _seen(records) if item.gate == "kept"}
    naive = [item for item in _seen(records) if item in _seen([r for r in records if r.config.mode == "naive"])]
    naive_kept = {item.passage.id for item in naive if item.gate == "kept"}
    by_vectors = {item.passage.id for item in naive} | {
        item.passage.id for item in _seen(records) if "vector" in item.found_in
    }
    led = (graph_led & kept) - naive_kept
    if race.finding in ("cited", "found"):
        cited = led & {item.passage_id for record in records for item in record.citations}
        printed = [int(item) for item in numbers(finding_text(race, words))]
        wrong = (
            []
            if set(printed) <= {len(led), len(cited)} and len(led) in printed
            else [f"{len(led)}, {len(cited)} cited"]
        )
        wrong += [] if bool(cited) == (race.finding == "cited") else ["cited or not"]
        yield Claim(finding_text(race, words), tuple(wrong))
        yield _found_before(found_before_text(race, words), led, by_vectors, naive)
    elif race.finding == "nothing":
        yield Claim(finding_text(race, words), ("the graph led to some",) if led else ())
    yield from _rows(records, race_rows(records, words), led, by_vectors, words)


def race_rows(records: Sequence[RunRecord], words: Words) -> dict[PassageId, str]:
    race = mode_race(records)
    rows = [row.text for tree in mode_race_nodes(race, words) for row in rows_of(tree)][1:]
    return {item.passage.id: row for item, row in zip(race.passages, rows, strict=True)}


def _found_before(said: str, led: set[PassageId], by_vectors: set[PassageId], naive: Sequence[Candidate]) -> Claim:
    dropped = led & {item.passage.id for item in naive}
    wanted = [len(led - by_vectors), len(dropped), len(led & by_vectors - dropped)]
    printed = [int(item) for item in numbers(said)]
    return Claim(said, () if printed == wanted else (f"they are {wanted}",))


def _rows(
    records: Sequence[RunRecord],
    rows: dict[PassageId, str],
    led: set[PassageId],
    by_vectors: set[PassageId],
    words: Words,
) -> Iterator[Claim]:
    bars = {record.config.similarity_threshold for record in records}
    for name, row in rows.items():
        marked = words("only the graph") in row
        wrong = [] if marked == (name in led - by_vectors) else ["only the graph, or not"]
        if found := re.search(r"(?:similarity|相似度不足) · (\d\.\d+) < (\d\.\d+)", row):
            value, bar = float(found.group(1)), float(found.group(2))
            near = [item.passage.similarity for item in _seen(records) if item.passage.id == name]
            wrong += (
                [] if value < bar and bar in bars and min(abs(value - item) for item in near) < 0.006 else ["values"]
            )
        yield Claim(row[:120], tuple(wrong))


def _seen(records: Sequence[RunRecord]) -> list[Candidate]:
    return [item for record in records for current in record.rounds for item in current.candidates]
