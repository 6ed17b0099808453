"""The path of a run as rows: nothing that a record holds is left out or said twice, in every workflow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.common.i18n import UiLanguage, words_for
from components.common.markup import Node
from components.common.phrases import inequality_text, node_text
from components.path.drawing import PRESS, path_of
from components.path.rows import rows_of
from components.picture.picture import STOPPED
from engine.model.events import Event, fold_all
from engine.model.values import Decision, NodeExecution, Outcome, RunRecord, Sentence
from engine.samples.demos import demo_record, demos
from tests.components.loop_events import RUNS
from tests.components.sample_run import sample_events
from tests.support.recorded import recorded_run

EN = words_for("en")
RECORDS: dict[str, RunRecord] = {
    **{demo.id: demo_record(demo.id) for demo in demos()},
    **{name: fold_all(run.events()) for name, run in RUNS.items()},
}


def drawn(record: RunRecord, language: UiLanguage = "en") -> list[tuple[str, list[str]]]:
    """The name of each row and the texts of its parts."""
    rows = path_of(record, words_for(language))
    return [(kids(row)[1].text, [part.text for part in parts_of(row)]) for row in rows]


def kids(row: Node) -> tuple[Node, Node, Node]:
    sentence, name, steps = nodes_in(row)
    return sentence, name, steps


def nodes_in(around: Node) -> list[Node]:
    return [item for item in around.kids if isinstance(item, Node)]


@pytest.mark.parametrize("name", RECORDS)
def test_every_visit_and_every_decision_stands_in_exactly_one_row(name: str) -> None:
    record = RECORDS[name]
    stops = [stop for row in rows_of(record) for stop in row.stops]
    assert [stop.visit for stop in stops if stop.visit] == list(record.nodes)
    assert sorted(map(repr, (stop.decision for stop in stops if stop.decision))) == sorted(map(repr, record.decisions))


ANY_WAY = st.lists(st.tuples(st.sampled_from(["retrieve", "grade", "rewrite", "generate", "x"]), st.booleans()))
REASONS = st.sampled_from(["below_gate", "passed", "max_rewrites", "elsewhere"])


@given(ANY_WAY, REASONS, st.integers(0, 3))
def test_no_record_loses_a_visit_or_a_decision_whatever_way_it_went(
    way: list[tuple[str, bool]], reason: Any, unvisited: int
) -> None:
    """Also of a plug-in's workflow, whose nodes and reasons are not known here, and of a trace without visits."""
    nodes = tuple(NodeExecution(node, 0, 1, float(place), 1.0) for place, (node, _) in enumerate(way))
    decided = [node for node, decides in way if decides] + ["grade"] * unvisited
    decisions = tuple(Decision(place, "rewrite", reason, (), 0, 5, node) for place, node in enumerate(decided))
    record = replace(RECORDS["demo-passes-en"], nodes=nodes, decisions=decisions)
    stops = [stop for row in rows_of(record) for stop in row.stops]
    assert [stop.visit for stop in stops if stop.visit] == list(nodes)
    assert sorted(stop.decision.round for stop in stops if stop.decision) == list(range(len(decisions)))
    assert len(path_of(record, EN)) == (min(5, len(rows_of(record))))


@pytest.mark.parametrize("name", RECORDS)
def test_no_row_holds_a_node_twice_and_only_the_last_ends(name: str) -> None:
    rows = rows_of(RECORDS[name])
    assert all(len({stop.node for stop in row.stops}) == len(row.stops) for row in rows)
    assert [row.number for row in rows].count(0) == 1
    ends = ["end" in part.attrs["class"].split() for row in path_of(RECORDS[name], EN) for part in parts_of(row)]
    assert ends.count(True) == 1 and ends[-1]


def parts_of(row: Node) -> list[Node]:
    """The steps of a row, its edges and its end."""
    _, _, steps = kids(row)
    legs = [item for item in steps.kids if isinstance(item, Node)]
    return [part for leg in legs for part in (inside(leg) if leg.attrs["class"] == "leg" else [leg])]


def inside(leg: Node) -> list[Node]:
    return [part for part in leg.kids if isinstance(part, Node)]


def test_a_question_that_a_rewrite_rescues_reads_from_the_first_search_to_the_answer() -> None:
    assert drawn(demo_record("demo-rescue-en")) == [
        ("as asked", ["✓ Retrieve 20→5", "→", "✓ Grade ✓0 ✗5", "0 < 1"]),
        (
            "rewrite 1",
            [
                "↻ Rewrite → sport safe sugar exercise glucose",
                "→",
                "✓ Retrieve 20→5",
                "→",
                "✓ Grade ✓1 ✗4",
                "1 ≥ 1",
                "✓ Generate 1 cited",
                "→",
                "✓ Answered",
            ],
        ),
    ]


def test_the_answer_says_how_many_sentences_it_was_given() -> None:
    record = demo_record("demo-rescue-en")
    assert record.context is not None
    strips = (Sentence("Kept. ", 0.9, kept=True), Sentence("Cut.", 0.1, kept=False))
    cut = replace(record.context, refined={record.context.passages[0].id: strips})
    *_, (_, parts) = drawn(replace(record, context=cut))
    assert "✓ Generate 1 cited · 1/2 sentences" in parts


@pytest.mark.parametrize("language", ["en", "zh"])
def test_parts_of_a_question_stand_once_in_words_and_then_by_number(language: UiLanguage) -> None:
    record, words, asked = demo_record("demo-rescue-en"), words_for(language), ("What is it?", "Who found it?")

    rounds = [
        replace(
            item,
            parts=asked,
            verdicts={name: replace(verdict, parts=(1.0, 0.0)) for name, verdict in item.verdicts.items()},
        )
        for item in record.rounds
    ]
    rows = path_of(replace(record, rounds=tuple(rounds)), words)
    *_, below = zip(*map(nodes_in, rows), strict=True)
    parts = [[part.text for part in nodes_in(row)] for row in below]
    covered, still_open = words("✓ part {n} covered", n=1), words("○ part {n} open", n=2)
    assert parts == [
        [words("{name}: {text}", name=words("○ part {n} open", n=n), text=part) for n, part in enumerate(asked, 1)],
        [covered, still_open],
    ]
    heard = [nodes_in(row)[0].text for row in rows]
    assert all(part in heard[0] and part not in heard[1] for part in asked) and covered in heard[1]


def test_attempts_used_up_are_said_where_the_path_leaves_them() -> None:
    *_, (name, last) = drawn(demo_record("demo-abstains-en"))
    assert (name, last[-4:]) == (
        "rewrite 3",
        ["0 < 1 · no rewrite left", "✓ Generate nothing passed, says so", "→", "∅ Refused"],
    )


@pytest.mark.parametrize(
    ("run", "names"),
    [
        ("quality: at the limit", ["as asked", "rewrite 1", "rewrite 2"]),
        ("dual: next strategy", ["first search", "direct passage search"]),
        ("dual: corrected", ["first search", "rewrite 1"]),
        ("dual: from memory, corrected", ["as asked", "rewrite 1"]),
        ("answers: revised", ["as asked", "answer 2", "answer 3"]),
        ("graph: refined, in vain", ["as asked", "rewrite 1"]),
    ],
)
def test_rows_are_named_by_what_happened_at_their_beginning(run: str, names: list[str]) -> None:
    assert [name for name, _ in drawn(RECORDS[run])] == names


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("quality: low, rewritten, high", ["score 0.72 · high", "0.72 ≥ 0.65"]),
        ("dual: on to the web", ["by section 0→0 · on the web 2→2"]),
        ("answers: revised", ["2 suggestions", "2 ≥ 1"]),
        ("graph: at once", ["Mode Mix", "3 from the graph 6→5"]),
    ],
)
def test_the_boxes_say_what_each_workflow_goes_by(run: str, said: list[str]) -> None:
    texts = " ".join(text for _, parts in drawn(RECORDS[run]) for text in parts)
    assert [item for item in said if item not in texts] == []


def test_each_answer_says_its_own_citations() -> None:
    record = RECORDS["answers: revised"]
    first, *others = record.drafts
    changed = replace(record, drafts=(replace(first, citations=first.citations[:1] or record.citations[:1]), *others))
    boxes = [text for _, parts in drawn(changed) for text in parts if "Generate" in text]
    assert boxes == [
        f"✓ Generate {len(item.citations)} cited" if item.citations else boxes[0] for item in changed.drafts
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", RECORDS)
def test_a_row_is_one_sentence_with_each_step_and_the_whole_inequality(name: str, language: UiLanguage) -> None:
    record, words = RECORDS[name], words_for(language)
    heard = [kids(row)[0].text for row in path_of(record, words)]
    for row, sentence in zip(rows_of(record), heard, strict=True):
        for stop in row.stops:
            assert node_text(stop.node, record.workflow, words) in sentence
            if stop.decision is not None:
                assert inequality_text(stop.decision, words) in sentence
    assert "{" not in " ".join(heard)


def test_rows_beyond_four_are_folded_between_the_first_and_the_last() -> None:
    first, second, more, *last = path_of(fold_all(recorded_run(4, "answered_forced")), EN)
    assert [kids(row)[1].text for row in (first, second, *last)] == ["as asked", "rewrite 1", "rewrite 3", "rewrite 4"]
    assert "1 more round" in more.text and "rewrite 2" in more.text


def test_boxes_lead_to_their_nodes_and_are_plain_where_nothing_can_be_pressed() -> None:
    record = demo_record("demo-passes-en")
    boxes = [part for row in path_of(record, EN) for part in parts_of(row) if "visit" in part.attrs["class"]]
    assert [(box.tag, box.attrs["data-action"]) for box in boxes] == [
        ("button", PRESS + item.node) for item in record.nodes
    ]
    plain = [part for row in path_of(record, EN, pressed=False) for part in parts_of(row)]
    assert {part.tag for part in plain} == {"span"}


def moments(events: list[Event]) -> list[RunRecord]:
    return [fold_all(events[: place + 1]) for place in range(len(events))]


def test_during_a_run_the_grader_counts_its_verdicts_and_rows_only_grow() -> None:
    seen: list[str] = []
    names: list[str] = []
    for record in moments(list(recorded_run(1, "answered"))):
        now = drawn(record)
        grown = [name for name, _ in now]
        assert grown[: len(names)] == names, "a row that stands there is neither taken away nor named otherwise"
        names = grown
        seen += [text for _, parts in now for text in parts if text.startswith("● Grade") and text not in seen]
    assert names == ["as asked", "rewrite 1"]
    assert [text.removeprefix("● Grade ") for text in seen[:3]] == ["✓0 ✗0 –5", *seen_of(seen, 2)]


def seen_of(seen: list[str], n: int) -> list[str]:
    """Each with one verdict more, and one passage less that waits."""
    found = [text.removeprefix("● Grade ") for text in seen[1 : n + 1]]
    assert [int(text.rsplit("–", 1)[1]) for text in found] == [4, 3]
    return found


@pytest.mark.parametrize(
    ("outcome", "error", "sign", "end"),
    [("cancelled", STOPPED, "■", "■ Cancelled"), ("failed", "", "✗", "✗ Failed"), ("failed", "Boom", "✗", "✗ Failed")],
)
def test_a_run_that_broke_off_ends_at_the_step_where_it_did(outcome: Outcome, error: str, sign: str, end: str) -> None:
    record = next(item for item in moments(sample_events()) if item.rounds and item.nodes[-1].duration_ms is None)
    last = replace(record.nodes[-1], error=error)
    *_, (_, parts) = drawn(replace(record, outcome=outcome, nodes=(*record.nodes[:-1], last)))
    assert (parts[-3][0], parts[-2:]) == (sign, ["→", end])
