"""Errors of a team's installation."""

from __future__ import annotations

from engine.errors.base import WorkbenchError
from engine.messages import N_


class PostgresDriverMissing(WorkbenchError):
    """A PostgreSQL database is set, and the package that speaks to it is not installed."""

    code = "WB514"
    fact = N_("WORKBENCH_DATABASE_URL is set, but the PostgreSQL driver is not installed.")
    remedy = N_("Run `{command}` and start again, or leave WORKBENCH_DATABASE_URL empty.")
