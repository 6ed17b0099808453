"""Runs, sets and judgements know their author; there are tokens, a log of changes, and limited collections."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

from engine.database.migrations import here

revision = "0003"
down_revision = "0002"

_ADDED_TO = {
    "sqlite": (
        "CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit "
        "BEGIN SELECT RAISE(ABORT, 'the log of changes is only added to'); END",
        "CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit "
        "BEGIN SELECT RAISE(ABORT, 'the log of changes is only added to'); END",
    ),
    "postgresql": (
        "CREATE FUNCTION audit_is_added_to() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the log of changes is only added to'; END $$",
        "CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_is_added_to()",
    ),
}


def upgrade() -> None:
    """Add columns to runs, query sets and judgements, and the tables of people."""
    if here("runs"):
        _add("runs", "author")
        _add("runs", "searched")
        _note_what_was_searched(op.get_bind())
    if here("evaluation"):
        _add("query_sets", "author")
        _add("batches", "author")
        _add("labels", "author")
    if here("people"):
        _make_people()


def _add(table: str, column: str) -> None:
    op.add_column(table, sa.Column(column, _text(), nullable=False, server_default=""))


def _note_what_was_searched(connection: sa.Connection) -> None:
    """A run was asked for its collection by a name that may have been an alias; its manifest has the collection's."""
    connection.execute(sa.text("UPDATE runs SET searched = collection"))
    named = {}
    for run_id, data in connection.execute(sa.text("SELECT run_id, data FROM events WHERE kind = 'prepared'")):
        try:
            named[run_id] = str(json.loads(data)["manifest"]["collection"])
        except (ValueError, TypeError, KeyError):
            continue
    change = sa.text("UPDATE runs SET searched = :name WHERE id = :run AND searched <> :name")
    for run_id, name in named.items():
        connection.execute(change, {"run": run_id, "name": name})


def _make_people() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", _text(), primary_key=True, nullable=False),
        *(sa.Column(name, _text(), nullable=False) for name in ("name", "digest", "role")),
        sa.Column("collections", _text()),
        *(sa.Column(name, _text(), nullable=False) for name in ("made_by", "made_at", "expires_at")),
        *(sa.Column(name, _text(), nullable=False, server_default="") for name in ("used_at", "revoked_at")),
        sa.UniqueConstraint("digest"),
    )
    op.create_table(
        "audit",
        sa.Column("number", sa.Integer, primary_key=True, nullable=False, autoincrement=False),
        *(sa.Column(name, _text(), nullable=False) for name in ("at", "who", "name", "role", "operation", "object")),
    )
    for statement in _ADDED_TO[op.get_bind().dialect.name]:
        op.execute(statement)
    op.create_table(
        "collection_groups",
        sa.Column("collection", _text(), primary_key=True, nullable=False),
        sa.Column("group_name", _text(), primary_key=True, nullable=False),
    )


def _text() -> sa.Text:
    """Text that PostgreSQL compares byte by byte."""
    return sa.Text(collation="C") if op.get_bind().dialect.name == "postgresql" else sa.Text()
