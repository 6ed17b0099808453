"""Recorded runs that ship with the product: nine scenarios in two languages, shown with no model, store or network.

Five show the four-node loop, one each of the other loops.

They were really run with the built-in roles on the sample collection; ``python -m tests.recordings`` makes them again.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from engine.errors import UnknownRun
from engine.flow import workflow
from engine.model.config import RunConfig, WorkflowName, options_from_dict
from engine.model.events import Event, fold_all
from engine.model.values import RunId, RunRecord
from engine.records.codec import event_from_json

DEMO_PREFIX = "demo-"
Scenario = Literal["passes", "noise", "rescue", "forced", "abstains", "quality", "correction", "revision", "chain"]
DemoLanguage = Literal["en", "zh"]

_QUESTIONS: dict[Scenario, dict[DemoLanguage, str]] = {
    "passes": {
        "en": "What are the types of diabetes?",
        "zh": "糖尿病有哪些类型？",
    },
    "noise": {
        "en": "Which insulin acts fastest?",
        "zh": "哪一种胰岛素起效最快？",
    },
    "rescue": {
        "en": "Is sport safe when my sugar is high?",
        "zh": "糖尿病能不能治好？",
    },
    "forced": {
        "en": "Who was the first person treated with insulin, and when?",
        "zh": "没开封的胰岛素应该怎样保存？",
    },
    "abstains": {
        "en": "How much does a box of insulin glargine pens cost?",
        "zh": "糖尿病人可以献血吗？",
    },
}

_OF_LOOPS: dict[Scenario, tuple[WorkflowName, dict[DemoLanguage, str]]] = {
    "quality": ("quality_loop", {"en": "logic", "zh": "逻辑"}),
    "correction": (
        "dual_loop",
        {
            "en": (
                "Why was the walk over the bridges impossible in Euler's day, "
                "and could it be done over the bridges that stand now?"
            ),
            "zh": "中国邮递员问题是谁在哪一年提出的？",
        },
    ),
    "revision": (
        "answer_evaluation",
        {
            "en": "Which surgeon had the idea that led to insulin, and with whom did he share his Nobel Prize money?",
            "zh": "四个元素的集合上有多少个等价关系？",
        },
    ),
    "chain": (
        "graph_hybrid",
        {"en": "What did Best and Macleod do for Banting?", "zh": "贝斯特和麦克劳德是什么关系？"},
    ),
}


@dataclass(frozen=True, slots=True)
class Demo:
    """One recorded run and what it is there to show."""

    id: RunId
    scenario: Scenario
    """``passes`` at once, ``noise`` is dropped and the rest suffices, a rewrite comes to the ``rescue``, an answer is
    ``forced`` although the gate was never met, or the run ``abstains`` honestly; the score of the ``quality`` loop
    rises, the dual loop makes a ``correction``, an evaluator asks for a ``revision``, a ``chain`` of relationships
    joins two passages."""
    language: DemoLanguage
    question: str
    workflow: WorkflowName = "self_corrective"

    @property
    def config(self) -> RunConfig:
        """Defaults; without long-term memory, which is another one on every machine, and with the pass rate where an
        answer is forced: under the default gate one passed passage is enough."""
        own: dict[str, Any] = {"memory": False} if workflow(self.workflow).remembers else {}
        usual = RunConfig(workflow=self.workflow, options=options_from_dict(self.workflow, own))
        return replace(usual, gate="pass_rate") if self.scenario == "forced" else usual


@cache
def demos() -> tuple[Demo, ...]:
    """The demos of the four-node loop, scenario by scenario, English before Chinese."""
    return tuple(
        Demo(RunId(f"{DEMO_PREFIX}{scenario}-{language}"), scenario, language, question)
        for scenario, questions in _QUESTIONS.items()
        for language, question in questions.items()
    )


@cache
def loop_demos() -> tuple[Demo, ...]:
    """The demos of the other loops, in the same order."""
    return tuple(
        Demo(RunId(f"{DEMO_PREFIX}{scenario}-{language}"), scenario, language, question, workflow)
        for scenario, (workflow, questions) in _OF_LOOPS.items()
        for language, question in questions.items()
    )


def all_demos() -> tuple[Demo, ...]:
    """Every shipped demo."""
    return (*demos(), *loop_demos())


def is_demo(run_id: str) -> bool:
    """Return whether an id is that of a demo; runs of an engine have ids of another form."""
    return run_id.startswith(DEMO_PREFIX)


@cache
def demo_events(run_id: str) -> tuple[Event, ...]:
    """The events of a demo as its record holds them; raises ``UnknownRun`` for an id that is none."""
    if all(demo.id != run_id for demo in all_demos()):
        raise UnknownRun(run=run_id)
    entry = files("engine.samples") / "recordings" / f"{run_id}.jsonl.gz"
    lines = gzip.decompress(entry.read_bytes()).splitlines()
    return tuple(event_from_json(line) for line in lines)


@cache
def demo_record(run_id: str) -> RunRecord:
    """The finished record of a demo; raises ``UnknownRun`` for an id that is none."""
    return fold_all(demo_events(run_id))
