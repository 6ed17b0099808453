"""The suites of the core that name a database, on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from engine.database import Database
from engine.database.tables import Part
from plugins.team.postgres import PostgresDatabase


@pytest.fixture
def database_of(postgres_url: str) -> Iterator[Callable[[Part], Database]]:
    """One empty database for all parts."""
    database = PostgresDatabase(postgres_url)
    yield lambda part: database
    database.close()


@pytest.fixture
def database(database_of: Callable[[Part], Database]) -> Database:
    return database_of("runs")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of imported suites only what uses the database is tried once more."""
    items[:] = [item for item in items if _own(item) or "database_of" in item.fixturenames]  # type: ignore[attr-defined]


def _own(item: pytest.Item) -> bool:
    assert isinstance(item, pytest.Function)
    return not item.module.__name__.startswith(__package__) or item.function.__module__ == item.module.__name__
