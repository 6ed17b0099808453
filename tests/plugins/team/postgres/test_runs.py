"""A PostgreSQL keeps runs, tags, people, weak points and verdicts as SQLite files do (TM-01)."""

from tests.database.test_database import *  # noqa: F403
from tests.database.test_weak_points import *  # noqa: F403
from tests.llm.test_verdict_cache import *  # noqa: F403
from tests.plugins.team.people.test_records import *  # noqa: F403
from tests.records.test_tags import *  # noqa: F403

# Last: its fixture of a store has what the others need too.
from tests.records.test_store import *  # noqa: F403 # isort: skip
