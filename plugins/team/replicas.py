"""State shared with the other processes on the database in addition to records: jobs, and turns at model servers."""

from __future__ import annotations

from engine.engine import Engine
from engine.llm.connection import shared_turns
from engine.plugins import Part
from plugins.team.jobs import JobTable, TeamJobs
from plugins.team.settings import TeamSettings
from plugins.team.turns import Turns


class Replicas(Part):
    """Shares them while its engine is open."""

    def __init__(self, engine: Engine) -> None:
        own = engine.settings.of(TeamSettings)
        database = engine.databases.runs
        self._url = engine.settings.database_url.get_secret_value()
        self._turns = shared_turns[self._url] = Turns(database, own.model_calls_at_once, own.model_calls_per_second)
        if not engine.worker:
            engine.ingestions.share(lambda jobs, run: TeamJobs(jobs, JobTable(database), run))

    def close(self) -> None:
        """Take no more turns; the engine closes its jobs itself."""
        # Another engine of this process may share the database.
        if shared_turns.get(self._url) is self._turns:
            del shared_turns[self._url]
        self._turns.close()
