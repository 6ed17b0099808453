"""A database, empty and of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.database import Database
from engine.database.tables import Part


@pytest.fixture
def database(database_of: Callable[[Part], Database]) -> Database:
    return database_of("runs")
