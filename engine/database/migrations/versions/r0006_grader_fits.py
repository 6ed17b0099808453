"""Graders can be fitted to collections."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.database.migrations import here

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the table of fits."""
    if not here("evaluation"):
        return
    text = sa.Text(collation="C") if op.get_bind().dialect.name == "postgresql" else sa.Text()
    op.create_table(
        "grader_fits",
        sa.Column("id", text, primary_key=True, nullable=False),
        *(sa.Column(name, text, nullable=False) for name in ("collection", "model", "content", "made_at", "author")),
    )
