"""Make an export of a config from what an engine has: its knowledge base, its models, its settings."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine.exporting.collection import exported_collection
from engine.exporting.graph_file import Machine
from engine.exporting.project import Project, project
from engine.exporting.refusing import refuse
from engine.llm.connection import keep_alive, shown_address
from engine.llm.pace import first_limit_s
from engine.llm.providers import shown_openai_address
from engine.model.config import RunConfig

if TYPE_CHECKING:
    from engine.running.resources import Resources


async def exported(resources: Resources, config: RunConfig) -> Project:
    """The project of a config; raises ``NotExportable``, and what makes its collection impossible to search."""
    refuse(config)
    collection = await exported_collection(resources.knowledge, config)
    settings = resources.settings
    machine = Machine(
        ollama_url=shown_address(settings),
        openai_url=shown_openai_address(settings),
        keep_alive=keep_alive(settings),
        call_timeout_s=first_limit_s(settings.call_timeout_s, by_hand="call_timeout_s" in settings.model_fields_set),
        answer_allowance_s=settings.generation_allowance_s,
        calls_at_once=settings.grader_concurrency,
    )
    return await asyncio.to_thread(project, config, collection, machine, settings)
