"""Questions are drafted from documents, and wait to be accepted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.database.migrations import here

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the table of drafts."""
    if not here("evaluation"):
        return
    text = sa.Text(collation="C") if op.get_bind().dialect.name == "postgresql" else sa.Text()
    op.create_table(
        "drafts",
        sa.Column("id", text, primary_key=True, nullable=False),
        sa.Column("collection", text, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("made_at", text, nullable=False),
        sa.Column("state", text, nullable=False),
        sa.Column("set_name", text, nullable=False, server_default=""),
        sa.Column("decided_at", text, nullable=False, server_default=""),
        sa.Column("author", text, nullable=False, server_default=""),
        sa.Column("data", text, nullable=False),
    )
