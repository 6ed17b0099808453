"""Answers can be judged; judgements of passages say why, how the pair came up, and whose they are."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.database.migrations import here

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the table of judged answers, and ``explanation``, ``drawn`` and the key ``judge`` to the labels."""
    if not here("evaluation"):
        return
    op.create_table(
        "answer_judgements",
        *(_column(name, key=True) for name in ("pair", "kind", "judge", "shown")),
        *(_column(name) for name in ("question", "answer", "verdict", "explanation", "drawn", "claims")),
        *(_column(name) for name in ("judged_at", "author")),
    )
    # A key cannot be widened in SQLite, so the table is made again in both.
    op.rename_table("labels", "former_labels")
    if op.get_bind().dialect.name == "postgresql":
        # Its name belongs to the schema, and the new table wants it.
        op.execute("ALTER INDEX labels_pkey RENAME TO former_labels_pkey")
    op.create_table(
        "labels",
        _column("question", key=True),
        _column("passage_id", key=True),
        sa.Column("relevant", sa.Integer, nullable=False),
        _column("labelled_at"),
        *(_column(name, server_default="") for name in ("author", "explanation", "drawn")),
        _column("judge", key=True, server_default=""),
    )
    op.execute(
        "INSERT INTO labels (question, passage_id, relevant, labelled_at, author) "
        "SELECT question, passage_id, relevant, labelled_at, author FROM former_labels"
    )
    op.drop_table("former_labels")


def _column(name: str, *, key: bool = False, server_default: str | None = None) -> sa.Column[str]:
    """Text that PostgreSQL compares byte by byte."""
    text = sa.Text(collation="C") if op.get_bind().dialect.name == "postgresql" else sa.Text()
    return sa.Column(name, text, primary_key=key, nullable=False, server_default=server_default)
