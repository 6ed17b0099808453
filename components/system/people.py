"""Tokens, and what people changed, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache

from components.common.amounts import moment
from components.common.i18n import Words
from components.common.markup import Node, button, chip, command, node, table
from components.labels.people import ROLE_NAMES
from components.system.draw import draw_system
from engine.messages import N_, NC_
from engine.people.audit import SIGNED_IN, Entry
from engine.people.rights import OPERATIONS
from engine.people.tokens import Token
from engine.plugins import plugins

REVOKE = "revoke:"
_TOKEN = (
    N_("Name"),
    N_("Role"),
    N_("Collections"),
    N_("Expires"),
    N_("Last used"),
    N_("State"),
    "",
)
_ENTRY = (N_("When (UTC)"), NC_("people", "Who"), NC_("people", "What"), N_("On what"))


def token_table(tokens: Sequence[Token], words: Words, *, key: str) -> str | None:
    """Draw the tokens; returns the id of the one to revoke."""
    now = datetime.now(UTC)
    rows = [_token(item, now, words) for item in tokens]
    head = [words(text) if text else "" for text in _TOKEN]
    pressed = draw_system((table("sheet", head, rows),), words, key=key)
    return pressed.removeprefix(REVOKE) if pressed and pressed.startswith(REVOKE) else None


def new_token(text: str, words: Words, *, key: str) -> None:
    """Draw the text of a token that was made a moment ago, to be copied."""
    said = node("strong", "", words("Copy it now: it is shown this once."))
    draw_system((node("section", "card", said, command(text, words)),), words, key=key)


def entry_table(entries: Sequence[Entry], words: Words, *, key: str) -> None:
    """Draw lines of the log."""
    rows = [_entry(item, words) for item in entries]
    draw_system((table("sheet", [words(text) for text in _ENTRY], rows),), words, key=key)


def change_text(operation: str, words: Words) -> str:
    """What was done; the name of the operation where a later version or a plug-in that is gone noted it."""
    change = _changes().get(operation)
    return words(change) if change else operation


@cache
def _changes() -> Mapping[str, str]:
    return {
        SIGNED_IN: N_("Signed in"),
        **{
            f"{kind}.{name}": operation.change
            for table in (OPERATIONS, *(plugin.operations for plugin in plugins()))
            for kind, operations in table.items()
            for name, operation in operations.items()
            if operation is not None and operation.change
        },
        # Of earlier versions.
        "Host.start_measure": N_("Model measured"),
        "Host.start_self_test": N_("Self-test begun"),
    }


def _token(item: Token, now: datetime, words: Words) -> list[Node | str]:
    if item.revoked_at:
        state = chip("grey", words("revoked"))
    elif not item.usable(now):
        state = chip("grey", words("expired"))
    else:
        state = chip("pass", words("valid"))
    only = words("all that are not limited") if item.collections is None else words(", ").join(item.collections)
    made = words("made by {who}, {when}", who=item.made_by, when=moment(item.made_at)[:10])
    actions = [button(words("Revoke"), f"{REVOKE}{item.id}", "button quiet")] if item.usable(now) else []
    return [
        node("div", "", node("span", "name", node("bdi", "", item.name)), node("span", "under", made)),
        words(ROLE_NAMES[item.role]),
        node("bdi", "", only),
        node("span", "num", moment(item.expires_at)[:10]),
        node("span", "num", moment(item.used_at) if item.used_at else words("never")),
        state,
        node("div", "actions", *actions),
    ]


def _entry(item: Entry, words: Words) -> list[Node | str]:
    role = words(ROLE_NAMES[item.role]) if item.role in ROLE_NAMES else item.role
    who = node(
        "div", "", node("span", "name", node("bdi", "", item.name)), node("span", "under", f"{item.who} · {role}")
    )
    return [
        node("span", "num", item.at.replace("T", " ")[:19]),
        who,
        change_text(item.operation, words),
        node("bdi", "", item.on),
    ]
