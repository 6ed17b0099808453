"""What suites of people share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.plugins.team.people.ward import Ward, ward_in


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ward]:
    """An installation with a limited collection; while it is there people have to sign in."""
    with ward_in(tmp_path_factory.mktemp("ward")) as opened:
        yield opened
