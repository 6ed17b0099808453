"""Makes the roles that only the answer-evaluation loop has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.flow.context import Roles
from engine.workflows.answer_evaluation.roles import AnswerRoles
from engine.workflows.run_resources import RunResources


async def answer_roles(roles: Roles, given: RunResources) -> tuple[Roles, Mapping[str, str]]:
    """Add writer and evaluator, which never share an instance (AE-05)."""
    from engine.builtin.writer import BuiltinWriter
    from engine.records.observations import Observations

    own = AnswerRoles(
        writer=given.role("generator", BuiltinWriter, "engine.llm.writer:ChatWriter"),
        evaluator=given.evaluator(),
        observe=Observations(given.settings.data_dir / "observational_data.json").append,
    )
    return replace(roles, own=own), {}
