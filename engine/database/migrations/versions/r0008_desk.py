"""Sets have guidelines for judges and keep their scores over time; judges have names."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.database.migrations import here

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the tables of guidelines, judges and scores."""
    if not here("evaluation"):
        return
    text = sa.Text(collation="C") if op.get_bind().dialect.name == "postgresql" else sa.Text()

    def column(name: str, *, key: bool = False, server_default: str | None = None) -> sa.Column[str]:
        return sa.Column(name, text, primary_key=key, nullable=False, server_default=server_default)

    op.create_table(
        "guidelines",
        column("set_name", key=True),
        column("text"),
        column("saved_at"),
        column("author", server_default=""),
    )
    op.create_table("judges", column("name", key=True), column("made_at"))
    op.create_table(
        "set_scores",
        column("batch_id", key=True),
        column("set_name"),
        column("at"),
        column("note", server_default=""),
        column("figures"),
    )
