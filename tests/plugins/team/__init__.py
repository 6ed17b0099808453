"""What tests of the core need of it (``tests/support/brought.py``)."""

SETTINGS = {"metrics": True}
PATHS = {"/metrics": {"get"}}
WAITS = {("plugins/team/turns.py", "result"): "asked only once it is done"}
MISSING = {"team": ("psycopg", "WORKBENCH_DATABASE_URL", "postgresql://127.0.0.1:1/x")}
"""A package without which nothing starts where this setting asks for it."""
