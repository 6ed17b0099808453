"""The root of all our errors, and those of settings and questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self


class WorkbenchError(Exception):
    """Root of all our errors: one sentence of fact, one of remedy, no traceback needed to act."""

    code: ClassVar[str] = "WB000"

    def __init__(self, fact: str, *, remedy: str, params: Mapping[str, str] | None = None) -> None:
        super().__init__(f"{fact} {remedy}")
        self.fact = fact
        self.remedy = remedy
        self.params: dict[str, str] = dict(params or {})


class InvalidConfig(WorkbenchError):
    """A setting lies outside its range; ``field`` names it."""

    code = "WB100"

    def __init__(self, fact: str, *, remedy: str, params: Mapping[str, str] | None = None, field: str = "") -> None:
        super().__init__(fact, remedy=remedy, params=params)
        self.field = field

    @classmethod
    def out_of_range(cls, field: str, low: float, high: float) -> Self:
        return cls(
            f"{field} must lie between {low:.10g} and {high:.10g}.",
            remedy=f"Set {field} to a value in that range.",
            params={"field": field, "low": f"{low:.10g}", "high": f"{high:.10g}"},
            field=field,
        )

    @classmethod
    def not_one_of(cls, field: str, allowed: tuple[str, ...]) -> Self:
        names = ", ".join(allowed)
        return cls(
            f"{field} must be one of: {names}.",
            remedy=f"Set {field} to one of these values.",
            params={"field": field, "allowed": names},
            field=field,
        )


class InvalidQuestion(WorkbenchError):
    """The question is blank or too long."""

    code = "WB101"

    @classmethod
    def blank(cls) -> Self:
        return cls("The question is empty.", remedy="Type a question and run it again.")

    @classmethod
    def too_long(cls, length: int, limit: int) -> Self:
        return cls(
            f"The question has {length} characters; the limit is {limit}.",
            remedy="Shorten the question, or raise WORKBENCH_MAX_QUESTION_CHARS.",
            params={"length": str(length), "limit": str(limit)},
        )


class InvalidSettings(WorkbenchError):
    """A ``WORKBENCH_*`` variable or ``workbench.toml`` cannot be used."""

    code = "WB102"
