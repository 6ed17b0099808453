"""Tables of what was measured, made from the files that ``make bench`` writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.model.config import WORKFLOWS
from tests.benchmarks.recorded import read

Rows = Mapping[str, Mapping[str, Any]]
_LANGUAGES = ("en", "zh")
_OF_SAMPLES = {
    "an expected passage in the first five": "an expected passage among the first five",
    "answered": "answerable questions answered",
    "answered, an expected passage cited": "… and an expected passage cited",
    "unanswerable, abstained": "unanswerable questions left unanswered",
}
_OF_LOOPS = {
    "answered": "answered",
    "answered, an expected passage cited": "… and an expected passage cited",
    "unanswerable, refused": "the unanswerable ones refused",
    "calls as if on chat models": "calls a question, as if on chat models (median)",
    "time of a run": "time of a run (median, machine under load)",
    "four-node loop enough": "questions for which the four-node loop was enough",
}
_NAMES = {
    "self_corrective": "four-node",
    "quality_loop": "quality control",
    "dual_loop": "dual loop",
    "answer_evaluation": "answer evaluation",
    "graph_hybrid": "graph + vector",
}


def samples_table() -> str:
    """What the built-in roles do with the sample questions, by language."""
    rows = read("samples")
    return table(
        ("", "English", "Chinese"),
        [
            (said, *(_note(rows, f"samples {code}: {name}") for code in _LANGUAGES))
            for name, said in _OF_SAMPLES.items()
        ],
    )


def kinds_table() -> str:
    """How the runs of each kind of sample question ended."""
    ends = {name: row for name, row in read("samples").items() if name.endswith(", runs")}
    names = {name: name.removeprefix("samples: ").removesuffix(", runs").replace("_", " ") for name in ends}
    lines = [(names[name], f"{row['median']:g}", str(row["note"])) for name, row in ends.items()]
    return table(("questions", "how many", "how they ended"), lines)


def loops_table() -> str:
    """What each workflow does with them."""
    rows = read("loops")
    return table(
        ("", *(_NAMES[workflow] for workflow in WORKFLOWS)),
        [(said, *(_note(rows, f"{workflow}: {name}") for workflow in WORKFLOWS)) for name, said in _OF_LOOPS.items()],
    )


def _note(rows: Rows, name: str) -> str:
    """``22 of 32`` where that is known, else the median; nothing where a benchmark has no such row."""
    row = rows.get(name)
    if row is None:
        return ""
    return str(row["note"]).partition(":")[0] or str(row["text"])


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---" for _ in head], *rows]
    return "\n".join(f"| {' | '.join(cell or ' ' for cell in line)} |" for line in lines)
