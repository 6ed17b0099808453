"""The four-node loop: retrieve → grade → (rewrite → retrieve …) | generate (SC-01)."""

from __future__ import annotations

from engine.flow.declaration import Workflow
from engine.flow.flow import END, Flow
from engine.messages import N_
from engine.workflows.steps import nodes
from engine.workflows.steps.grade import grade

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
        "en": (("Is sport safe when my sugar is high?", "paraphrase"), ("dc-en-03", ""), ("dc-en-17", "")),
        "zh": (("糖尿病能不能治好？", "paraphrase"), ("dc-zh-05", ""), ("dc-zh-17", "")),
    },
    on_grid=True,
    plain_gate=True,
    flow=Flow(
        nodes={
            "retrieve": nodes.RETRIEVE,
            "grade": nodes.grade(grade),
            "rewrite": nodes.REWRITE,
            "generate": nodes.GENERATE,
        },
        ways={"retrieve": "grade", "grade": ("rewrite", "generate", END), "rewrite": "retrieve", "generate": END},
        gate="grade",
    ),
)
