"""The engine of the pages, and a database."""

from __future__ import annotations

import pytest

from tests.pages.conftest import engine, shared_engine

__all__ = ("engine", "shared_engine")


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest) -> str:
    """That of all tests, left out where no plug-in can use it."""
    pytest.importorskip("plugins.team.postgres")
    return str(request.getfixturevalue("postgres_url"))
