"""Tools that change what is there; only with ``WORKBENCH_MCP=write``."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from engine.api.knowledge_routes import AT_ONCE
from engine.knowledge.items import IngestItem
from engine.model.values import PassageContext
from engine.people import current_user
from plugins.mcp.configs import config_for
from plugins.mcp.declared import CollectionNamed, RunNamed, SettingsGiven, Tools, tool
from plugins.mcp.results import Done

JUDGE = "agent"
"""The name under which an agent judges, so that people see whose judgement it is."""


class Changing(Tools):
    """Tools by which an agent may leave something."""

    @tool("Save settings", "changes", "write")
    def save_settings(
        self,
        name: Annotated[str, Field(description="what they are called; those of the same name are replaced")],
        settings: SettingsGiven,
        collection: CollectionNamed = "",
    ) -> Done:
        """Keep settings under a name, for ask and for people."""
        engine = self._bench.engine
        engine.evaluation.save_settings(name, config_for(engine, "", collection, settings))
        return Done(done="saved", id=name)

    @tool("Tag a run", "changes", "write")
    def tag_run(self, run_id: RunNamed, tag: str, remove: bool = False) -> Done:
        """Put a tag on a run, or take it away."""
        engine = self._bench.engine
        tags = engine.untag_run(run_id, tag) if remove else engine.tag_run(run_id, tag)
        return Done(done=f"tags: {', '.join(tags) or 'none'}", id=run_id)

    @tool("Judge a passage", "changes", "write")
    def judge_passage(
        self,
        run_id: RunNamed,
        passage_id: str,
        relevant: bool,
        explanation: Annotated[str, Field(max_length=1000)] = "",
    ) -> Done:
        """Say whether a passage helps to answer the question of a run; people see that an agent said it.

        Diagnoses and figures count it together with people's judgements.
        """
        engine = self._bench.engine
        question = engine.record(run_id).question
        # Where people sign in, each token is a judge of its own.
        judge = f"{JUDGE} {current_user().author}".strip()
        engine.evaluation.set_label(question, passage_id, relevant, explanation=explanation, judge=judge)
        return Done(done="judged relevant" if relevant else "judged not relevant", id=passage_id)

    @tool("Put a text into a collection", "changes", "write", asks=True)
    def ingest_text(
        self,
        name: Annotated[str, Field(description="of the source, e.g. notes.md; one of that name is replaced")],
        text: Annotated[str, Field(min_length=1)],
        collection: CollectionNamed,
        context: Annotated[
            PassageContext | None, Field(description="of a new collection: what is embedded in front of its passages")
        ] = None,
    ) -> Done:
        """Cut a text into passages and put them into a collection, which is made where it is missing."""
        engine = self._bench.engine
        item = IngestItem(name, data=text.encode("utf-8", "replace"))
        if len(item.data or b"") > AT_ONCE:
            return Done(done="begun", id=engine.ingestions.start([item], collection, context=context))
        report = engine.ingest([item], collection, context=context)
        if report.failed:
            raise ToolError(self._bench.telling.fault(report.failed[0][1], "en"))
        if report.skipped_duplicates:
            return Done(done="nothing: a source with the same content is there", id=report.skipped_duplicates[0][1])
        return Done(done=f"{report.passages} passages {'replaced' if report.replaced else 'added'}", id=name)

    @tool("Gather evidence", "adds", "write", again=False, asks=True)
    def gather(
        self,
        query_set: Annotated[str, Field(description="name of a query set, as list_batches has it")],
        settings: SettingsGiven = {},  # noqa: B006 - pydantic copies it
        saved: Annotated[str, Field(description="name of saved settings to run under")] = "",
    ) -> Done:
        """Begin to run every question of a set under one setting, for sweep; list_batches says how far it is.

        It costs the calls of all these runs.
        """
        engine = self._bench.engine
        collection = engine.evaluation.query_set(query_set).collection
        batch = engine.batches.start(query_set, config_for(engine, saved, collection, settings))
        return Done(done="begun", id=batch)
