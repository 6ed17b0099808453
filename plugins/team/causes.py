"""Errors of PostgreSQL about our database, as parts of error messages."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError, OperationalError

from engine.database.faults import FULL, LOCKED
from engine.messages import N_

_ADDRESS = N_("Start the PostgreSQL server, or correct WORKBENCH_DATABASE_URL")
_RIGHTS = N_("Give the user of WORKBENCH_DATABASE_URL the rights to read, write and make tables there")
_POSTGRES = {
    "08": (N_("the PostgreSQL server does not answer"), _ADDRESS),
    "28": (N_("the PostgreSQL server refuses this user or password"), N_("Correct WORKBENCH_DATABASE_URL")),
    "3D": (N_("the PostgreSQL server has no such database"), N_("Make it, or correct WORKBENCH_DATABASE_URL")),
    "42501": (N_("its user lacks a right there"), _RIGHTS),
    "25006": (N_("it may only be read"), N_("Name the server that takes writes in WORKBENCH_DATABASE_URL")),
    "53100": FULL,
    "53300": (
        N_("the PostgreSQL server takes no more connections"),
        N_("Raise its max_connections, or run fewer replicas"),
    ),
    "55P03": LOCKED,
    "57P": (N_("the PostgreSQL server is shutting down or starting"), N_("Wait until it is back")),
}
"""By the beginning of PostgreSQL's SQLSTATE, the longest one first that fits."""


def postgres_cause(error: DBAPIError) -> tuple[str, str] | None:
    """Return why a PostgreSQL database cannot be used and what to do about it; None for what is not known."""
    state = getattr(error.orig, "sqlstate", None) or ""
    fitting = [known for known in _POSTGRES if state.startswith(known)]
    if fitting:
        return _POSTGRES[max(fitting, key=len)]
    return _refused(str(error.orig)) if isinstance(error, OperationalError) and not state else None


def _refused(text: str) -> tuple[str, str]:
    """Explain a failed connection: libpq gives its reasons only as text."""
    if "password" in text or "authentication" in text:
        return _POSTGRES["28"]
    if "does not exist" in text:
        return _POSTGRES["3D"]
    if "too many clients" in text or "connection slots" in text:
        return _POSTGRES["53300"]
    if "starting up" in text or "shutting down" in text:
        return _POSTGRES["57P"]
    return _POSTGRES["08"]
