"""The engine that tests of pages share."""

from tests.pages.conftest import answers_are_awaited, engine, shared_engine

__all__ = ["answers_are_awaited", "engine", "shared_engine"]
