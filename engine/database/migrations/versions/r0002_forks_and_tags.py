"""Runs know the run that they were branched off from, and have tags."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.database.migrations import here

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column ``parent`` to the runs, and the table of tags."""
    if not here("runs"):
        return
    op.add_column("runs", sa.Column("parent", sa.Text, nullable=False, server_default=""))
    op.create_table(
        "tags",
        sa.Column("run_id", sa.Text, primary_key=True, nullable=False),
        sa.Column("tag", sa.Text, primary_key=True, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("tags_by_name", "tags", ["tag", "run_id"])
