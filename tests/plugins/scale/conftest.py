"""The stores that loading is tried with, and the engine of the pages."""

from __future__ import annotations

from tests.contracts.conftest import case
from tests.pages.conftest import engine, shared_engine

__all__ = ("case", "engine", "shared_engine")
