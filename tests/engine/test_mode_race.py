"""One question in several modes: what they share, what only the graph brought, and what could not do its work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model.config import Mode, RunConfig
from engine.model.values import Candidate, Citation, Outcome, Passage, PassageId, Round, RunId, RunRecord, Verdict
from engine.model.values.graphs import GraphEvidence, ModeNote, RetrievalList
from engine.running.mode_race import Finding, mode_race


def found(name: str, rank: int, *lists: RetrievalList, dropped: bool = False) -> Candidate:
    passage = Passage(PassageId(name), f"{name}.md", f"Text of {name}.", 0.5, 0.5)
    return Candidate(passage, rank, "below_threshold" if dropped else "kept", 0.2, found_in=dict.fromkeys(lists, rank))


def run(
    mode: Mode,
    *candidates: Candidate,
    outcome: Outcome | None = "answered",
    cited: tuple[str, ...] = (),
    fell_back: bool = False,
) -> RunRecord:
    notes = (ModeNote("no_graph", "local"),) if fell_back else ()
    graph = GraphEvidence(mode, notes=notes, fell_back_to=("vector",) if fell_back else ())
    verdicts = {item.passage.id: Verdict(True, 0.9, "") for item in candidates if item.passage.id in cited}
    rounds = (Round(0, "q", candidates, verdicts=verdicts, graph=graph),) if mode != "bypass" else ()
    return RunRecord(
        id=RunId(f"run-{mode}"),
        question="q",
        config=RunConfig(workflow="graph_hybrid", mode=mode),
        started_at="2026-01-01",
        rounds=rounds,
        citations=tuple(Citation(n, PassageId(name), f"{name}.md") for n, name in enumerate(cited, start=1)),
        outcome=outcome,
    )


NAIVE = run("naive", found("a", 1, "vector"), found("b", 2, "vector"), cited=("a",))
LOCAL = run("local", found("a", 1, "local"), found("c", 2, "local"), cited=("c",))
GLOBAL = run("global", found("a", 2, "global"), found("d", 1, "global"))
LOST = run("local", found("a", 1, "vector"), found("z", 2, "vector"), fell_back=True)


def test_shared_and_unique_passages_are_distinguished() -> None:
    """GH-02: what every mode keeps, what one keeps alone, and what only the graph brought."""
    race = mode_race([GLOBAL, NAIVE, LOCAL])
    assert [lane.mode for lane in race.lanes] == ["naive", "local", "global"]
    assert race.shared == ("a",)
    assert race.unique == {"naive": ("b",), "local": ("c",), "global": ("d",)}
    assert set(race.only_graph) == {"c", "d"}
    assert race.passages[0].passage.id == "a"


def test_no_passage_is_shared_with_a_mode_that_kept_nothing() -> None:
    """GH-02: a mode that searched and kept nothing shares nothing; one that searched nothing is not asked."""
    empty = run("naive", found("a", 1, "vector", dropped=True))
    assert mode_race([empty, LOCAL, GLOBAL]).shared == ()
    assert mode_race([run("bypass"), LOCAL, GLOBAL]).shared == ("a",)


@pytest.mark.parametrize(
    ("records", "finding"),
    [
        ([NAIVE, LOCAL], "cited"),
        ([NAIVE, GLOBAL], "found"),
        ([NAIVE, run("mix", found("a", 1, "vector", "local"))], "nothing"),
        ([NAIVE, LOST], "unable"),
        ([NAIVE, run("mix", found("z", 1, "vector"))], "unable"),
        ([LOCAL, GLOBAL], "no_baseline"),
        ([NAIVE, replace(LOCAL, outcome="cancelled")], "cut_short"),
        ([NAIVE, replace(LOCAL, outcome=None)], "running"),
    ],
)
def test_what_the_graph_was_good_for_follows_from_the_runs(records: list[RunRecord], finding: Finding) -> None:
    assert mode_race(records).finding == finding


def test_a_mode_that_searched_something_else_brings_nothing_of_the_graph() -> None:
    """GH-02: no mode silently becomes another."""
    race = mode_race([NAIVE, LOST])
    assert race.unable == ("local",)
    assert race.only_graph == ()
    assert [note.code for note in race.lanes[1].notes] == ["no_graph"]


def test_what_was_dropped_at_a_gate_was_not_kept() -> None:
    race = mode_race([run("naive", found("a", 1, "vector"), found("c", 2, "vector", dropped=True)), LOCAL])
    assert (race.only_graph, race.rescued, race.finding) == ((), ("c",), "cited")
    assert "c" not in race.lanes[0].kept
    dropped = next(item.dropped for item in race.passages if item.passage.id == "c")
    assert dropped is not None
    assert dropped.gate == "below_threshold"


def test_what_vectors_of_any_mode_found_is_no_find_of_the_graph_alone() -> None:
    """GH-02: compared with all candidates, not with what was kept."""
    mixed = run("mix", found("a", 1, "vector"), found("c", 9, "vector", "local", dropped=True))
    race = mode_race([NAIVE, LOCAL, mixed])
    assert (race.led, race.only_graph, race.rescued, race.finding) == (("c",), (), (), "cited")


@pytest.mark.parametrize("outcome", ["answered", "abstained"])
def test_bypass_is_a_column_that_skipped_grading_and_citations(outcome: Outcome) -> None:
    """GH-02: bypass shows grading and citations as skipped, and takes nothing from what the others share."""
    race = mode_race([NAIVE, LOCAL, run("bypass", outcome=outcome)])
    assert [lane.skipped for lane in race.lanes] == [False, False, True]
    assert [lane.answered for lane in race.lanes] == [True, True, outcome == "answered"]
    assert race.shared == ("a",)


def test_no_runs_are_no_race() -> None:
    race = mode_race([])
    assert (race.lanes, race.passages, race.finding) == ((), (), "no_baseline")
