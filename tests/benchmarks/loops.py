"""When the four-node loop is enough: every labelled sample question through each workflow, with the built-in roles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from engine.engine import Engine
from engine.model.config import WORKFLOWS, RunConfig, WorkflowName
from engine.model.values import RunRecord
from engine.replay.side_by_side import side_by_side
from engine.samples import SampleQuestion, sample_questions
from engine.settings import Settings
from engine.workflows.dual_loop.options import DualLoopOptions
from tests.benchmarks.harness import Bench, Row, prefixed

_ANSWERED = ("answered", "answered_forced")


def loops(bench: Bench) -> Iterator[Row]:
    """Answers, right citations, refusals, steps and time of each workflow, and how often the first one was enough."""
    questions = sample_questions()
    asked: dict[WorkflowName, list[RunRecord]] = {}
    with Engine.open(Settings(data_dir=bench.folder)) as engine:
        engine.wait_until_ready()
        for name in WORKFLOWS:
            engine.run(questions[0].question, _config(name))
            asked[name] = [engine.run(item.question, _config(name)) for item in questions]
    for name, records in asked.items():
        yield from prefixed(name, _of_workflow(questions, records))
    base = asked["self_corrective"]
    for name, records in asked.items():
        if name != "self_corrective":
            found = Counter(side_by_side(pair).enough for pair in zip(base, records, strict=True))
            note = ", ".join(f"{code} {count}" for code, count in found.most_common())
            yield _share(f"{name}: four-node loop enough", found["enough"] + found["only_it"], len(records), note)


def _config(name: WorkflowName) -> RunConfig:
    # Without memory: a question must not be answered by the one before it.
    options = {"options": DualLoopOptions(memory=False)} if name == "dual_loop" else {}
    return RunConfig(workflow=name, **options)  # type: ignore[arg-type]


def _of_workflow(questions: Sequence[SampleQuestion], records: Sequence[RunRecord]) -> Iterator[Row]:
    pairs = list(zip(questions, records, strict=True))
    answerable = [(item, record) for item, record in pairs if item.expected]
    others = [record for item, record in pairs if not item.expected]
    yield _share("answered", sum(record.outcome in _ANSWERED for _, record in answerable), len(answerable))
    right = sum(
        record.outcome in _ANSWERED and any(citation.passage_id in item.expected for citation in record.citations)
        for item, record in answerable
    )
    yield _share("answered, an expected passage cited", right, len(answerable))
    yield _share("unanswerable, refused", sum(record.outcome not in _ANSWERED for record in others), len(others))
    yield Row("calls as if on chat models", "", tuple(float(len(record.model_calls)) for record in records))
    yield Row("time of a run", "ms", tuple(record.duration_ms for record in records))
    outcomes = Counter(record.outcome or "none" for record in records)
    note = ", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common())
    yield Row("runs", "", (float(len(records)),), note=note)


def _share(name: str, hits: int, total: int, note: str = "") -> Row:
    return Row(name, "%", (hits / max(total, 1),), note=f"{hits} of {total}" + (f": {note}" if note else ""))
