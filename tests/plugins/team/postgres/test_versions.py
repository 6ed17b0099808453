"""The tables of a PostgreSQL database are made once, lifted from an earlier version, and left to a later one."""

from __future__ import annotations

import threading
from contextlib import closing

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

from engine.database.tables import METADATA
from engine.database.versions import HEAD, revision_name
from engine.errors import RecordError
from engine.evaluation.store import EvaluationStore
from plugins.team.postgres import PostgresDatabase
from tests.support.errors import raises


def test_a_new_postgres_database_is_what_the_tables_say(postgres_url: str) -> None:
    database = PostgresDatabase(postgres_url)
    with database.writing() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
        assert set(inspect(connection).get_table_names()) == {*METADATA.tables, "alembic_version"}
    database.close()


def test_on_postgres_a_database_of_a_newer_version_is_left_alone(postgres_url: str) -> None:
    """TM-01"""
    first = PostgresDatabase(postgres_url)
    with first.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    first.close()
    again = PostgresDatabase(postgres_url)
    with raises(RecordError.database_newer, match=r"format 9999.*Update the workbench"), again.writing():
        pass
    again.close()


def test_on_postgres_two_that_start_at_once_make_the_tables_once(postgres_url: str) -> None:
    databases = [PostgresDatabase(postgres_url) for _ in range(4)]
    faults: list[Exception] = []

    def use(database: PostgresDatabase) -> None:
        try:
            with database.writing():
                pass
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=use, args=(database,)) for database in databases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    engine = create_engine(postgres_url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        assert connection.scalars(text("SELECT version_num FROM alembic_version")).all() == [revision_name(HEAD)]
    engine.dispose()
    for database in databases:
        database.close()


def test_on_postgres_labels_of_a_former_version_are_kept_and_get_a_judge(postgres_url: str) -> None:
    database = PostgresDatabase(postgres_url)
    with database.writing() as connection:
        for statement in (
            "DROP TABLE grader_fits",
            *(f"DROP TABLE {name}" for name in ("guidelines", "judges", "set_scores", "drafts")),
            "DROP TABLE answer_judgements",
            "DROP TABLE labels",
            'CREATE TABLE labels (question TEXT COLLATE "C" NOT NULL, passage_id TEXT COLLATE "C" NOT NULL, '
            'relevant INTEGER NOT NULL, labelled_at TEXT COLLATE "C" NOT NULL, '
            "author TEXT COLLATE \"C\" NOT NULL DEFAULT '', PRIMARY KEY (question, passage_id))",
            "INSERT INTO labels VALUES ('Why?', 'p', 1, '2025', 'ada@example.org')",
            "UPDATE alembic_version SET version_num = '0004'",
        ):
            connection.execute(text(statement))
    database.close()
    with closing(EvaluationStore(again := PostgresDatabase(postgres_url))) as store:
        store.set_label("Why?", "p", False, judge="Bo")
        assert [(item.judge, item.relevant, item.author) for item in store.labels("Why?")] == [
            ("", True, "ada@example.org"),
            ("Bo", False, ""),
        ]
        with again.reading() as connection:
            assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
            key = inspect(connection).get_pk_constraint("labels")
        assert (key["name"], key["constrained_columns"]) == ("labels_pkey", ["question", "passage_id", "judge"])
    again.close()
