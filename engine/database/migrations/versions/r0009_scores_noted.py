"""The scores of a gathering say when they were noted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.database.migrations import here

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the moment; of scores noted before it is not known."""
    if here("evaluation"):
        text = sa.Text(collation="C") if op.get_bind().dialect.name == "postgresql" else sa.Text()
        op.add_column("set_scores", sa.Column("noted_at", text, nullable=False, server_default=""))
