"""The four-node loop: retrieve → grade → (rewrite → retrieve …) | generate (SC-01)."""

from __future__ import annotations

from engine.messages import N_
from engine.model.config import RunConfig
from engine.workflows.declaration import Workflow, chat_calls, judged_a_round
from engine.workflows.flow import END, Flow
from engine.workflows.steps import nodes
from engine.workflows.steps.grade import grade
from engine.workflows.steps.state import RunState


def worst_case_calls(config: RunConfig) -> int:
    """Gradings of every round, rewrites with the one retry that a repeated query gets, and the answer."""
    rounds = config.max_rewrites + 1
    return chat_calls(
        config,
        {"grader": judged_a_round(config) * rounds, "rewriter": 2 * config.max_rewrites, "generator": 1},
    )


WORKFLOW = Workflow(
    id="self_corrective",
    name=N_("Four-node loop"),
    title=N_("Self-corrective · 4 nodes"),
    summary=N_("Grades each passage, and rephrases the question while too few pass."),
    introduction=N_(
        "Retrieve passages, let an independent grader judge each one, rephrase the question if too few pass, and "
        "answer only from what passed. Everything that happened stays visible below."
    ),
    samples={
        "en": (("dc-en-03", ""), ("dm-en-06", ""), ("dc-en-01", ""), ("dm-en-12", ""), ("dc-en-17", "")),
        "zh": (("dc-zh-05", ""), ("dm-zh-01", ""), ("dc-zh-01", ""), ("dc-zh-13", ""), ("dc-zh-17", "")),
    },
    on_grid=True,
    plain_gate=True,
    flow=Flow(
        state=RunState,
        nodes={
            "retrieve": nodes.RETRIEVE,
            "grade": nodes.grade(grade),
            "rewrite": nodes.REWRITE,
            "generate": nodes.GENERATE,
        },
        ways={"retrieve": "grade", "grade": ("rewrite", "generate", END), "rewrite": "retrieve", "generate": END},
        opening=frozenset({"retrieve"}),
        gate="grade",
    ),
    # Three steps a round, one generation, and one to spare.
    recursion_limit=lambda config: 3 * (config.max_rewrites + 1) + 2,
    worst_case_calls=worst_case_calls,
)
