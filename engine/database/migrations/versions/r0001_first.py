"""The tables as the first versions made them."""

from __future__ import annotations

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Change nothing: a database of this revision has its tables, and a new one is made as the newest revision."""
