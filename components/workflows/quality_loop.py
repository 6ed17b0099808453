"""What only the quality-control loop draws."""

from __future__ import annotations

from streamlit.delta_generator import DeltaGenerator

from components.common.i18n import Words
from components.common.own import Machine, Own
from components.workflows.config_options import ceiling_note, quality_controls
from components.workflows.quality_facts import FACTS
from engine.model.config import Options, RunConfig, WorkflowName


class QualityLoop(Own):
    """Weights that sum to 1, the score that can be reached at all, and boxes that say what only its nodes do."""

    facts = FACTS

    def options(
        self, words: Words, workflow: WorkflowName, below: dict[str, DeltaGenerator], machine: Machine
    ) -> Options:
        return quality_controls(words, below)

    def before_run(self, words: Words, config: RunConfig, machine: Machine) -> None:
        if machine.kinds_of is not None:
            ceiling_note(words, config, machine.kinds_of(config.collection))


OWN = QualityLoop()
