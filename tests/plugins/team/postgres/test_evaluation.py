"""A PostgreSQL keeps query sets, judgements, fits and drafts as SQLite files do (TM-01)."""

import threading
from contextlib import closing

from sqlalchemy import delete, insert, text

from engine.database.tables import CASES as CASES_TABLE
from engine.database.tables import QUERY_SETS
from engine.evaluation.cases import QuerySet
from engine.evaluation.store import EvaluationStore
from plugins.team.postgres import PostgresDatabase
from tests.annotation.test_judging import *  # noqa: F403
from tests.drafting.test_drafting import *  # noqa: F403
from tests.evaluation.test_grader_fits import *  # noqa: F403
from tests.evaluation.test_store import *  # noqa: F403
from tests.evaluation.test_store import CASES


def test_on_postgres_of_two_who_save_a_set_at_once_the_later_one_has_it(postgres_url: str) -> None:
    waits = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = :own")
    with closing(PostgresDatabase(postgres_url)) as database, closing(PostgresDatabase(postgres_url)) as other:
        store = EvaluationStore(database)
        store.save_query_set(QuerySet("set", CASES[:1]))
        later = threading.Thread(target=store.save_query_set, args=(QuerySet("set", CASES[1:]),))
        with other.writing() as connection:
            connection.execute(delete(QUERY_SETS))
            again = {"name": "set", "collection": "samples", "origin": "", "saved_at": ""}
            connection.execute(insert(QUERY_SETS), again)
            connection.execute(insert(CASES_TABLE), {"set_name": "set", "place": 0, "id": "new", "data": "{}"})
            later.start()
            pause = threading.Event()
            while not connection.scalar(waits, {"own": "workbench"}):
                pause.wait(0.02)
        later.join()
        assert store.query_set("set").cases == CASES[1:]
