"""The workers of a real Ray cluster keep the contract of ``Executor`` (TM-15)."""

from __future__ import annotations

from tests.distributed.test_executors import *  # noqa: F403
from tests.plugins.cluster.conftest import ledger, make

__all__ = ["ledger", "make"]
