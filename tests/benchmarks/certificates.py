"""Whether certificates keep their promise on answers to labelled questions: bounds broken over resampled splits.

With ``--model``, on the sample questions over the cuts of a cascade: the built-in grader before that chat model.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from itertools import product

import numpy as np

from engine.engine import Engine
from engine.evaluation.aggregate import evaluate
from engine.evaluation.cases import QuerySet, sample_set
from engine.evaluation.certify import certify
from engine.evaluation.evidence import Evidence, gather
from engine.evaluation.figures import Evaluation, Measured, RightBy
from engine.evaluation.importing import read_query_set
from engine.evaluation.sweep import Axis, sweep
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import SAMPLE_COLLECTION
from engine.settings import Settings
from tests.benchmarks.documentation import opened
from tests.benchmarks.harness import Bench, Row

_LANGUAGES = ("en", "zh")
_QUESTIONS = 306
"""Of each language of XQuAD, half of what there is."""
_SPLITS = 1000
_HALVES = 200
_JUDGED = 100
"""Labelled questions of one split."""
_BOUNDS = (0.05, 0.1, 0.2)
_CONFIDENCES = (0.5, 0.6, 0.7, 0.8, 0.9)
"""Each is gathered, so that its answers exist; the first is the default."""
_AXES = (
    Axis("similarity_threshold", tuple(round(0.1 * step, 1) for step in range(8))),
    Axis("max_rewrites", (0, 1, 2, 3)),
    Axis("min_confidence", _CONFIDENCES),
)
_LOWS, _HIGHS = (0.1, 0.3, 0.5), (0.5, 0.7, 0.9)
"""Cuts of a cascade, each pair of which is gathered."""


def certificates(bench: Bench) -> Iterator[Row]:
    """The sample questions, and XQuAD with its gold answers where its files are at hand."""
    if bench.model:
        usual = RunConfig(cascade=True, reasons="never", models=RoleModels(grader=RoleModel(bench.model)))
        configs = [replace(usual, cascade_low=low, cascade_high=high) for low, high in product(_LOWS, _HIGHS)]
        with opened(bench) as engine:
            evidence = _evidence(engine, sample_set(), configs)
        yield from _broken(
            f"samples, cuts before {bench.called or bench.model}",
            evidence,
            (Axis("cascade_low", _LOWS), Axis("cascade_high", _HIGHS)),
        )
        return
    with Engine.open(Settings(data_dir=bench.folder)) as engine:
        engine.wait_until_ready()
        yield from _broken("samples", _evidence(engine, sample_set(), _confidences()), _AXES)
        for language in _LANGUAGES:
            path = bench.data and bench.data / f"xquad-dev.{language}.json"
            if not path or not path.is_file():
                print(f"left out: no folder with xquad-dev.{language}.json (--data)")
                continue
            plan = read_query_set(path, f"xquad {language}", limit=_QUESTIONS)
            report = engine.ingest(plan.items, plan.set.collection)
            asked = plan.after(report.to_dict())
            evidence = _evidence(engine, asked, _confidences(asked.collection))
            yield from _broken(f"XQuAD {language}", evidence, _AXES)


def _confidences(collection: str = SAMPLE_COLLECTION) -> list[RunConfig]:
    usual = RunConfig(collection=collection, grade_probe=True)
    return [replace(usual, min_confidence=confidence) for confidence in _CONFIDENCES]


def _evidence(engine: Engine, asked: QuerySet, configs: Sequence[RunConfig]) -> Evidence:
    gathered = [{case.id: engine.run(case.question, config) for case in asked.cases} for config in configs]
    return gather(asked.cases, gathered[0], gathered[1:])


def _broken(name: str, evidence: Evidence, axes: Sequence[Axis]) -> Iterator[Row]:
    """Draw questions with replacement: all of them are the population, so that every setting's true risk is known."""
    whole = sweep(evidence, evidence.gathered[0].table.config, axes).evaluation
    truth = whole.figures("wrong_given").value
    chance = random.Random(11)
    drawn = [chance.choices(range(len(evidence)), k=_JUDGED) for _ in range(_SPLITS)]
    yield Row(f"{name}: questions", "", (float(len(evidence)),))
    yield Row(f"{name}: wrong among answers given, as gathered", "%", (_risk(evidence),))
    for bound in _BOUNDS:
        found = [certify(_part(whole, rows), bound=bound).certified for rows in drawn]
        broken = [bool((truth[certified] > bound).any()) for certified in found]
        yield Row(
            f"{name}, at most {bound:.0%}: splits that certify a setting",
            "%",
            (_share([bool(item.any()) for item in found]),),
        )
        yield Row(f"{name}, at most {bound:.0%}: splits that certify one beyond the bound", "%", (_share(broken),),
                  budget="≤ 5 % + 2 % of chance")  # fmt: skip
    yield from _held_out(name, evidence, whole)


def _held_out(name: str, evidence: Evidence, whole: Evaluation) -> Iterator[Row]:
    """Certify on one half of the questions, take the certified setting that answers most, and measure on the other."""
    config = evidence.gathered[0].table.config
    usual = evaluate(evidence, [config])
    chance = random.Random(12)
    halves = [chance.sample(range(len(evidence)), len(evidence)) for _ in range(_HALVES)]
    for bound in _BOUNDS:
        pairs: list[tuple[tuple[float, float], tuple[float, float]]] = []
        for order in halves:
            fitted, new = order[: len(order) // 2], order[len(order) // 2 :]
            found = certify(_part(whole, fitted), bound=bound)
            if not found.certified.any():
                continue
            places = np.flatnonzero(found.certified)
            pick = int(places[np.argmax(found.trials[places])])
            pairs.append((_given(_part(usual, new), 0), _given(_part(whole, new), pick)))
        heading = f"{name}, at most {bound:.0%}, certified on one half"
        yield Row(f"{heading}: splits that certify a setting", "%", (len(pairs) / len(halves),))
        if not pairs:
            continue
        before, after = (np.nanmean([pair[side] for pair in pairs], axis=0) for side in (0, 1))
        better = _share([pair[1][0] < pair[0][0] for pair in pairs])
        yield Row(f"{heading}: wrong among answers given, other half, defaults", "%", (float(before[0]),))
        yield Row(f"{heading}: … the certified setting", "%", (float(after[0]),))
        yield Row(f"{heading}: … splits in which that is less", "%", (better,))
        yield Row(f"{heading}: questions answered, other half, defaults", "%", (float(before[1]),))
        yield Row(f"{heading}: … the certified setting", "%", (float(after[1]),))


def _given(evaluation: Evaluation, setting: int) -> tuple[float, float]:
    """The share of wrong ones among the answers given, and the share of questions with an answer that counts."""
    wrong = evaluation.measures["wrong_given"]
    given = float(wrong.weight[:, setting].sum())
    share = float(wrong.total[:, setting].sum()) / given if given else float("nan")
    return share, float(wrong.n[setting]) / len(wrong.total)


def _part(whole: Evaluation, rows: Sequence[int]) -> Evaluation:
    measures = {name: Measured(item.total[rows], item.weight[rows]) for name, item in whole.measures.items()}
    by = RightBy(*(getattr(whole.right_by, item.name)[rows] for item in fields(RightBy)))
    return replace(whole, measures=measures, right_by=by)


def _risk(evidence: Evidence) -> float:
    config = evidence.gathered[0].table.config
    return float(evaluate(evidence, [config]).figures("wrong_given").value[0])


def _share(values: Sequence[bool]) -> float:
    return float(np.mean(values))
