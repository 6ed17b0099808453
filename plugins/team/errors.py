"""Errors of a team's installation."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class PostgresDriverMissing(WorkbenchError):
    """A PostgreSQL database is set, and the package that speaks to it is not installed."""

    code = "WB514"
    fact = N_("WORKBENCH_DATABASE_URL is set, but the PostgreSQL driver is not installed.")
    remedy = N_("Run `{command}` and start again, or leave WORKBENCH_DATABASE_URL empty.")


class UnknownToken(WorkbenchError):
    code = "WB823"
    status = 404
    fact = N_("There is no token {token}.")
    remedy = N_("Choose one of those on System.")


class InvalidToken(WorkbenchError):
    """A token cannot be made like this."""

    code = "WB824"
    status = 422
    bad_name = Message(
        N_("The name of a token must have 1 to {longest} characters, all of them visible."),
        N_("Name the program that is to use it."),
        field="name",
    )
    bad_days = Message(
        N_("A token must expire after 1 to {most} days."),
        N_("Choose a number of days in that range."),
        field="days",
    )
    admin_of_some = Message(
        N_("A token of an admin cannot be limited to some collections."),
        N_("Choose another role, or leave the collections empty: an admin can make tokens for all of them."),
        field="collections",
    )
