"""Runs whose sentences are held against their records: the recorded demos, and more than a hundred generated ones."""

from __future__ import annotations

import random
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from engine.engine import Engine
from engine.model.config import GatePolicy, Mode, Options, RoleModel, RoleModels, RunConfig, WorkflowName
from engine.model.values import RunRecord
from engine.samples import multi_hop_questions, sample_questions
from engine.samples.demos import all_demos, demo_record
from engine.settings import Settings
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.dual_loop.options import DualLoopOptions
from engine.workflows.quality_loop.options import QualityOptions
from tests.engine.whatif.loops import QUESTION, LoopWorld, run_in
from tests.support.same_roles import SameRoles

LOOPS: tuple[WorkflowName, ...] = ("self_corrective", "quality_loop", "dual_loop", "answer_evaluation")
_CHAT = RoleModel("ollama:qwen3:4b")
_GREETED = ("Hello! What should people with diabetes eat?", "你好，糖尿病人可以吃什么？谢谢")


@lru_cache(maxsize=1)
def every_run() -> tuple[RunRecord, ...]:
    """Demos in both languages, sample questions asked of the real engine, and loops whose roles fail now and then."""
    demos = tuple(demo_record(demo.id) for demo in all_demos())
    return (*demos, *_asked(), *(_looped(seed, loop) for loop in LOOPS for seed in range(24)))


@lru_cache(maxsize=1)
def raced_runs() -> tuple[tuple[RunRecord, ...], ...]:
    """One question in all modes of graph + vector retrieval at a time."""
    questions = [*multi_hop_questions()[::6], *sample_questions()[::24]]
    with _engine() as engine:
        return tuple(
            tuple(
                engine.run(item.question, RunConfig(workflow="graph_hybrid", mode=mode, similarity_threshold=bar))
                for mode in get_args(Mode)
            )
            for item, bar in zip(questions, [0.3, 0.4, 0.5] * len(questions), strict=False)
        )


def _asked() -> tuple[RunRecord, ...]:
    """Real runs with built-in roles, in every workflow, under settings that let some pass and force others."""
    with _engine() as engine:
        questions = [item.question for item in sample_questions()]
        runs = [engine.run(text, _varied(place, LOOPS[place % 4])) for place, text in enumerate(questions[::2])]
        runs += [engine.run(text, RunConfig(workflow="dual_loop", options=DualLoopOptions(memory=False)))
                 for text in _GREETED]  # fmt: skip
        modes = get_args(Mode)
        runs += [engine.run(item.question, RunConfig(workflow="graph_hybrid", mode=modes[place % len(modes)]))
                 for place, item in enumerate(multi_hop_questions()[::3])]  # fmt: skip
        return tuple(runs)


def _engine() -> Engine:
    settings = Settings(data_dir=Path(tempfile.mkdtemp(prefix="workbench-truth-")))
    engine = Engine(settings, SameRoles(settings, of=lambda config: (config.workflow, config.search, config.models)))
    engine.wait_until_ready()
    return engine


def _varied(place: int, workflow: WorkflowName) -> RunConfig:
    dice = random.Random(place)
    return RunConfig(
        workflow=workflow,
        similarity_threshold=dice.choice([0.2, 0.3, 0.3, 0.45]),
        grade_pass_threshold=dice.choice([0.4, 0.6, 0.8, 1.0]),
        min_confidence=dice.choice([0.5, 0.5, 0.5, 0.7, 0.4]),
        top_k=dice.choice([3, 5, 5, 8]),
        max_rewrites=dice.choice([1, 2, 3, 5]),
        gate=dice.choice(get_args(GatePolicy)),
        grade_probe=dice.random() < 0.3,
        options=_options(workflow, dice),
    )


def _looped(seed: int, workflow: WorkflowName) -> RunRecord:
    """A real run of a loop in a world of its own; chat models in half of them, faults in a third."""
    dice = random.Random(seed)
    near = [0.0, 0.2, 0.3, 0.35, 0.5, 0.6, 0.75]
    models = RoleModels(grader=_CHAT, router=_CHAT, generator=_CHAT, rewriter=_CHAT) if seed % 2 else RoleModels()
    config = RunConfig(
        workflow=workflow,
        top_k=dice.randint(1, 10),
        similarity_threshold=dice.choice(near),
        grade_pass_threshold=dice.choice([0.3, 0.5, 0.6, 0.75, 1.0]),
        max_rewrites=dice.randint(0, 5),
        min_confidence=dice.choice([0.0, 0.3, 0.5, 0.6, 0.7]),
        min_relevant=dice.randint(1, 4),
        gate=dice.choice(get_args(GatePolicy)),
        context=dice.choice(["union", "union", "last_round"]),
        answer_unverified=dice.random() < 0.3,
        grade_probe=dice.random() < 0.5,
        budget_s=120,
        models=models,
        options=_options(workflow, dice, memory=seed % 2 == 0),
    )
    world = LoopWorld(seed, faults=0.1 if seed % 3 == 0 else 0.0, question=QUESTION, memories=seed % 4, strict=0.6)
    return run_in(world, config)


def _options(workflow: WorkflowName, dice: random.Random, *, memory: bool = False) -> Options:
    kinds: dict[WorkflowName, Any] = {
        "quality_loop": lambda: QualityOptions(medium_score=dice.choice([0.3, 0.4, 0.5, 0.6])),
        "dual_loop": lambda: DualLoopOptions(dice.randint(0, 3), memory=memory),
        "answer_evaluation": lambda: AnswerEvaluationOptions(dice.randint(1, 4)),
    }
    return kinds[workflow]() if workflow in kinds else RunConfig().options
