"""Errors of rights."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class NotSignedIn(WorkbenchError):
    """No door knows who acts."""

    code = "WB820"
    status = 401
    fact = N_("You are not signed in.")
    remedy = N_("Sign in on a page of the workbench; requests to the API need a token, which an admin makes on System.")
    # A bearer token that is not taken.
    token_unknown = Message(
        N_("The token of the request is not known here."),
        N_("Send `Authorization: Bearer TOKEN` with a token that an admin made on System."),
        code="WB822",
    )
    token_expired = Message(
        N_("The token of the request has expired."),
        N_("Ask an admin to make another one on System."),
        code="WB822",
    )
    token_revoked = Message(
        N_("The token of the request was revoked."),
        N_("Ask an admin to make another one on System."),
        code="WB822",
    )


class NotAllowed(WorkbenchError):
    """The role of a person or a token is not enough."""

    code = "WB821"
    status = 403
    editors = Message(
        N_("This is for editors, and you are signed in as a viewer."),
        N_("Ask an admin for the role of an editor."),
    )
    admins = Message(
        N_("This is for admins."),
        N_("Ask an admin to do it, or for the role of an admin."),
    )
    new_collection = Message(
        N_("The token is limited to some collections, and the new collection {name!r} would be open to others."),
        N_("Ask an admin to make the collection and a token for it."),
    )
    judged_by_another = Message(
        N_("Another person has judged this under the name {judge!r}."),
        N_("Judge under a name of your own."),
    )
    sign_in_off = Message(
        N_("Sign-in is not set up here, so tokens and groups mean nothing."),
        N_("Put a section `[auth]` into `.streamlit/secrets.toml` first, as docs/team.md says."),
        code="WB825",
        status=409,
    )


class PeopleUnusable(WorkbenchError):
    """Stored tokens, limits or changes cannot be read or written."""

    code = "WB826"
    status = 503
    fact = N_("The list of tokens, limits and changes {path!r} cannot be used: {why}.")
    remedy = N_("{advice}.")
    caller_unchecked = Message(
        N_("Who is calling cannot be checked at the moment."),
        N_("Try again shortly; the log of the workbench says what is wrong."),
        code="WB829",
    )
    """Who is calling cannot be found out; where and why is for the log alone, which no stranger reads."""
