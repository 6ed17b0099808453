"""Cost of work: calls and time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of work."""

    calls: int = 0
    """Of chat models."""
    built_in_calls: int = 0
    seconds: float | None = 0.0
    """By this run's measured times; None where it measured no such step."""

    def __add__(self, other: Cost) -> Cost:
        unmeasured = self.seconds is None or other.seconds is None
        seconds = None if unmeasured else (self.seconds or 0.0) + (other.seconds or 0.0)
        return Cost(self.calls + other.calls, self.built_in_calls + other.built_in_calls, seconds)

    def __mul__(self, times: int) -> Cost:
        seconds = 0.0 if times == 0 else None if self.seconds is None else self.seconds * times
        return Cost(self.calls * times, self.built_in_calls * times, seconds)
