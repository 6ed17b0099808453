"""Columns of the page Side by side: what each run did, in both languages, with nothing of it ever markup."""

from __future__ import annotations

from dataclasses import replace

from components.common.i18n import words_for
from components.common.markup import Node
from engine.replay.side_by_side import side_by_side
from pages.parts.runs.side_by_side import side_by_side_nodes
from tests.components.sample_run import HOSTILE, sample_record
from tests.engine.test_side_by_side import FOUR, record


def texts(nodes: tuple[Node, ...]) -> str:
    return " ".join(item.text for item in nodes)


def tags(node: Node) -> set[str]:
    return {node.tag} | {tag for kid in node.kids if isinstance(kid, Node) for tag in tags(kid)}


def test_every_column_says_outcome_cost_and_answer() -> None:
    words = words_for("zh")
    said = texts(side_by_side_nodes(side_by_side([FOUR, record("dual_loop", cited=("b", "c"))]), words))
    assert words("Four-node loop") in said
    assert words("Dual loop") in said
    assert (
        words("The four-node loop answered; {workflows} cites further passages.", workflows=words("Dual loop")) in said
    )
    assert "Yunnan" in said


def test_while_runs_are_in_progress_the_columns_wait_without_a_verdict() -> None:
    words = words_for("zh")
    said = texts(side_by_side_nodes(side_by_side([FOUR, record("dual_loop", None)]), words))
    assert words("starting") in said
    assert words("Cited passages") not in said


def test_runs_that_were_stopped_blame_no_collection() -> None:
    words = words_for("zh")
    ended = [replace(FOUR, outcome="abstained", answer=""), record("dual_loop", "fallback")]
    stopped = [replace(item, outcome="cancelled") for item in ended]
    named = words("No workflow answered.")
    assert named in texts(side_by_side_nodes(side_by_side(ended), words))
    said = texts(side_by_side_nodes(side_by_side(stopped), words))
    assert words("Not every run ended, so they cannot be compared.") in said
    assert named not in said


def test_the_path_prints_each_inequality_and_texts_stay_texts() -> None:
    words = words_for("en")
    made = side_by_side_nodes(side_by_side([sample_record()]), words)
    said = texts(made)
    assert "pass rate 0." in said
    assert "→" in said
    assert "<img" not in said.replace(HOSTILE, "")
    # A marker that is pressed could only say where it points; here it is no button.
    assert all("button" not in tags(item) and "img" not in tags(item) for item in made)
