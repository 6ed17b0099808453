"""Cases of batches know what they cost and when they ended; processes take turns at model servers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.database.migrations import here

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the columns ``calls``, ``tokens`` and ``ended_at``, and the tables of turns."""
    if here("evaluation"):
        for name in ("calls", "tokens"):
            op.add_column("batch_cases", sa.Column(name, sa.Integer, nullable=False, server_default=sa.text("0")))
        op.add_column("batch_cases", sa.Column("ended_at", sa.Text, nullable=False, server_default=""))
    if here("team"):
        text = sa.Text(collation="C")
        moment = sa.DateTime(timezone=True)
        op.create_table(
            "model_slots",
            sa.Column("server", text, primary_key=True, nullable=False),
            sa.Column("slot", sa.Integer, primary_key=True, nullable=False, autoincrement=False),
            sa.Column("holder", text, nullable=False),
            sa.Column("until", moment, nullable=False),
        )
        op.create_table(
            "model_paces",
            sa.Column("server", text, primary_key=True, nullable=False),
            sa.Column("next_at", moment, nullable=False),
        )
