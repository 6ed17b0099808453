"""``pytest.raises`` for one error of a class that has several."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import WorkbenchError
from engine.errors.base import BoundMessage

Expected = type[WorkbenchError] | BoundMessage[Any]


def raises(*expected: Expected, match: str | None = None) -> Any:
    """Expect one of these errors, known by its code: ``with raises(SourceError.missing) as caught:``."""
    codes = {error.code for error in expected}
    return pytest.raises(WorkbenchError, match=match, check=lambda error: error.code in codes)
