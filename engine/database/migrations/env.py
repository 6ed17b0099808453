"""Runs migrations on the connection that ``versions.migrate`` hands over; Alembic's command line needs none of it."""

from __future__ import annotations

from alembic import context

from engine.database.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
# In the transaction of the caller, so that a database is lifted whole or not at all.
context.run_migrations()
