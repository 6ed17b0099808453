"""What the quality-control loop gains on vague questions, and what it costs (QL-06, QL-07).

The score counts passages of the history and kinds of sources, so that a rewrite can raise it without finding anything
better. So plain and unanswerable questions go through the same loop, and a gain counts only beyond theirs.
Next to it stands a measure that no rewrite can talk up: the share of the passages that people marked as expected which
the last round keeps. The vague questions are those of a larger pool that the first round grades low.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from engine.engine import Engine
from engine.model.config import RunConfig
from engine.model.values import QualityGrade, RunRecord
from engine.samples import SampleQuestion, sample_questions
from engine.settings import Settings
from engine.workflows.quality_loop.options import quality_options
from engine.workflows.quality_loop.policy import check_quality
from tests.benchmarks.dumbbells import Measure, Pair, chart
from tests.benchmarks.harness import Bench, Row, in_turn
from tests.benchmarks.vague import MORE_VAGUE

REWRITES = 2
VAGUE = 20
"""Questions of the group: the first of the pool that grade low without a rewrite."""
_CONTROLS = 10
"""Questions of each control group, half of either language where the samples have so many."""
_LOOP = ("question_router", "retrieve", "fuse", "rerank", "grade_documents", "rewrite")


@dataclass(frozen=True, slots=True)
class Compared:
    """One question without a rewrite and with as many as are allowed."""

    item: SampleQuestion
    before: RunRecord
    after: RunRecord

    def pair(self, measure: Callable[[SampleQuestion, RunRecord], float]) -> tuple[float, float]:
        return measure(self.item, self.before), measure(self.item, self.after)


@dataclass(frozen=True, slots=True)
class Measured:
    """The groups, and how large the pool was that the vague questions were chosen from."""

    vague: Sequence[Compared]
    plain: Sequence[Compared]
    unanswerable: Sequence[Compared]
    pool: int
    """Vague questions that were asked without a rewrite."""
    low: int
    """Those of them that grade low."""


def quality_loop(bench: Bench) -> Iterator[Row]:
    """Vague questions and two control groups with 0 rewrites and with 2, on default settings and built-in roles."""
    found = measured(bench.folder)
    compared = found.vague
    if bench.out is not None:
        bench.out.mkdir(parents=True, exist_ok=True)
        (bench.out / "quality-loop.svg").write_text(_chart(compared), encoding="utf-8")
        (bench.out / "quality-loop.md").write_text(_report(found), encoding="utf-8")
    yield from gains(found)
    yield from times(bench, compared)


def measured(folder: Path, vague: int = VAGUE, controls: int = _CONTROLS) -> Measured:
    """Every question of the groups, of at most these sizes, asked twice, in an engine of its own."""
    samples = sample_questions()
    pool = [*(item for item in samples if item.kind == "vague"), *MORE_VAGUE]
    with Engine.open(Settings(data_dir=folder)) as engine:
        engine.wait_until_ready()
        # The first run of all imports LangGraph.
        engine.run(pool[0].question, _config(0))

        def again(item: SampleQuestion, before: RunRecord) -> Compared:
            return Compared(item, before, engine.run(item.question, _config(REWRITES)))

        def group(kind: str) -> list[Compared]:
            chosen = sorted((item for item in samples if item.kind == kind), key=lambda item: item.id[-2:])
            return [again(item, engine.run(item.question, _config(0))) for item in chosen[:controls]]

        first = [(item, engine.run(item.question, _config(0))) for item in pool]
        low = [(item, before) for item, before in first if grade(before) == "low"]
        compared = [again(item, before) for item, before in low[:vague]]
        return Measured(compared, group("plain"), group("unanswerable"), len(pool), len(low))


def gains(found: Measured) -> Iterator[Row]:
    """Rows of QL-06: what the score gained beyond the controls, and whether the passages became better too."""
    compared = found.vague
    controls = {"plain": found.plain, "unanswerable": found.unanswerable}
    yield Row("vague questions, low in the first round", "", (float(len(compared)),), f"{VAGUE}", f"pool {found.pool}")
    # First the measure that no rewrite can talk up.
    yield from _gain("expected passages kept", [item.pair(expected_kept) for item in compared])
    yield from _gain("quality score", [item.pair(score) for item in compared])
    for name, group in controls.items():
        yield from _gain(f"quality score, {name} (control)", [item.pair(score) for item in group])
    beyond = _mean_gain(compared) - max(_mean_gain(group) for group in controls.values())
    yield Row("quality score: mean gain beyond the controls", "", (beyond,), "≥ +0.15", "a target, reported")
    yield from _conversion("low became medium or high", compared, "≥ 60 %")
    for name, group in controls.items():
        yield from _conversion(f"low became medium or high, {name} (control)", group)
    yield from _gain("expected passages kept in any round", [item.pair(expected_kept_ever) for item in compared])
    yield from _gain("expected passages passed in any round", [item.pair(expected_passed) for item in compared])
    yield from _gain("passages passed in any round, of 10", [item.pair(passed) for item in compared])
    yield from _gain("mean relevance of what is kept", [item.pair(relevance) for item in compared])


def _mean_gain(compared: Sequence[Compared]) -> float:
    pairs = [item.pair(score) for item in compared]
    return mean(after - before for before, after in pairs) if pairs else 0.0


def _conversion(name: str, compared: Sequence[Compared], target: str = "") -> Iterator[Row]:
    low = [item for item in compared if grade(item.before) == "low"]
    better = [item for item in low if grade(item.after) != "low"]
    yield Row(name, "%", (len(better) / max(1, len(low)),), target, f"{len(better)} of {len(low)}")


def _gain(name: str, pairs: Sequence[tuple[float, float]], budget: str = "") -> Iterator[Row]:
    if not pairs:
        return
    before, after = mean(pair[0] for pair in pairs), mean(pair[1] for pair in pairs)
    worse = sum(second < first - 1e-9 for first, second in pairs)
    note = f"mean {before:.3f} → {after:.3f}; worse for {worse} of {len(pairs)} ({worse / len(pairs):.0%})"
    yield Row(f"{name}: mean gain", "", (after - before,), budget, note)


def times(bench: Bench, compared: Sequence[Compared]) -> Iterator[Row]:
    """Rows of QL-07, of the runs with rewrites."""
    runs = [item.after for item in compared]
    biggest = max(
        (current for record in runs for current in record.rounds), key=lambda current: len(current.candidates)
    )
    (checks,) = in_turn(lambda: check_quality(biggest, runs[0].config), repeats=bench.sizes.repeats)
    yield Row("time of a quality check", "ms", checks, "< 10 ms", f"{len(biggest.candidates)} candidates")
    rewrites = [node.duration_ms or 0.0 for record in runs for node in record.nodes if node.node == "rewrite"]
    if rewrites:
        yield Row("time of a rewrite", "ms", tuple(rewrites), "< 2 s")
    yield Row("time of one loop", "ms", tuple(took for record in runs for took in _loops(record)), "< 3 s")
    yield Row("time of a run", "ms", tuple(record.duration_ms for record in runs), "< 10 s", "generation included")


def _loops(record: RunRecord) -> list[float]:
    """Milliseconds of every loop: from the router to the decision, and the rewrite that follows it."""
    spent = [0.0] * len(record.rounds)
    for node in record.nodes:
        if node.node in _LOOP:
            spent[node.round] += node.duration_ms or 0.0
    return spent


def score(item: SampleQuestion, record: RunRecord) -> float:
    check = record.rounds[-1].quality
    return check.score if check else 0.0


def grade(record: RunRecord) -> QualityGrade:
    check = record.rounds[-1].quality
    return check.grade if check else "low"


def relevance(item: SampleQuestion, record: RunRecord) -> float:
    check = record.rounds[-1].quality
    return next((part.value for part in check.dimensions if part.name == "relevance"), 0.0) if check else 0.0


def expected_kept(item: SampleQuestion, record: RunRecord) -> float:
    """Share of the expected passages that the last round keeps."""
    return _share(item, {passage.id for passage in record.rounds[-1].kept})


def expected_kept_ever(item: SampleQuestion, record: RunRecord) -> float:
    """Share of the expected passages that some round kept: what the answer can draw on."""
    return _share(item, {passage.id for current in record.rounds for passage in current.kept})


def expected_passed(item: SampleQuestion, record: RunRecord) -> float:
    """Share of the expected passages that some round kept and that the reranker passed."""
    return _share(item, _passed(record))


def passed(item: SampleQuestion, record: RunRecord) -> float:
    """Distinct passages that passed, of the ten that a round has room for; may exceed 1."""
    return len(_passed(record)) / record.config.top_k


def _passed(record: RunRecord) -> set[str]:
    bar = record.config.min_confidence
    return {
        passage.id
        for current in record.rounds
        for passage in current.kept
        if passage.id in current.verdicts and current.verdicts[passage.id].passes(bar)
    }


def _share(item: SampleQuestion, found: set[str]) -> float:
    return len(found & set(item.expected)) / max(1, len(item.expected))


def _config(rewrites: int) -> RunConfig:
    return RunConfig(workflow="quality_loop", max_rewrites=rewrites)


def _chart(compared: Sequence[Compared]) -> str:
    options = quality_options(compared[0].after.config)
    bars = (options.medium_score, options.high_score)
    measures = [Measure("quality score", bars), Measure("expected passages kept")]
    pairs = [Pair(item.item.question, (item.pair(score), item.pair(expected_kept))) for item in compared]
    return chart("Vague questions before and after the quality-control loop", measures, pairs)


def _report(found: Measured) -> str:
    """The same as a Markdown table, with the queries that were searched."""
    lines = [
        "| group | question | score | grade | expected kept | rewrites | last query | outcome |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for item in (*found.vague, *found.plain, *found.unanswerable):
        scores, shares = item.pair(score), item.pair(expected_kept)
        cells = (
            item.item.kind,
            item.item.question,
            f"{scores[0]:.2f} → {scores[1]:.2f}",
            f"{grade(item.before)} → {grade(item.after)}",
            f"{shares[0]:.0%} → {shares[1]:.0%}" if item.item.expected else "–",
            str(len(item.after.rewrites)),
            item.after.query,
            item.after.outcome or "",
        )
        lines.append(f"| {' | '.join(cells)} |")
    summary = [f"- {row.name}: {row.values[0]:+.3f} ({row.note})" for row in gains(found) if not row.unit]
    return "\n".join([*lines, "", *summary, "", "![before and after](quality-loop.svg)", ""])
