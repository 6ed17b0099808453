"""Errors of a team's installation."""

from __future__ import annotations

from engine.errors.base import WorkbenchError
from engine.messages import N_

DRIVER_MISSING = WorkbenchError.row(
    N_("WORKBENCH_DATABASE_URL is set, but the PostgreSQL driver is not installed."),
    N_("Run `{command}` and start again, or leave WORKBENCH_DATABASE_URL empty."),
    code="WB514",
)
"""A PostgreSQL database is set, and the package that speaks to it is not installed."""
UNKNOWN_TOKEN = WorkbenchError.row(
    N_("There is no token {token}."), N_("Choose one of those on System."), code="WB823", status=404
)
# A token cannot be made like this.
BAD_TOKEN_NAME = WorkbenchError.row(
    N_("The name of a token must have 1 to {longest} characters, all of them visible."),
    N_("Name the program that is to use it."),
    code="WB824",
    status=422,
    field="name",
)
BAD_TOKEN_DAYS = WorkbenchError.row(
    N_("A token must expire after 1 to {most} days."),
    N_("Choose a number of days in that range."),
    code="WB824",
    status=422,
    field="days",
)
ADMIN_OF_SOME = WorkbenchError.row(
    N_("A token of an admin cannot be limited to some collections."),
    N_("Choose another role, or leave the collections empty: an admin can make tokens for all of them."),
    code="WB824",
    status=422,
    field="collections",
)
