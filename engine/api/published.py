"""Patterns and ranges in the API description that are checked deeper in the code."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from engine.model.config import PARAMETERS, RunConfig
from engine.records.tagging import LONGEST_TAG

NOT_BLANK: Final[dict[str, Any]] = {"pattern": r"\S"}
FILE: Final[dict[str, Any]] = {
    "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    "contentEncoding": "base64",
}
MODEL: Final[dict[str, Any]] = {"pattern": r"^(|builtin|[^:]*[^:\s][^:]*:.*\S.*)$"}
EMBEDDING_MODEL: Final[dict[str, Any]] = {"pattern": r"^(|builtin|hashing|(ollama|local):.*\S.*)$"}
TAG: Final[dict[str, Any]] = {
    "maxLength": LONGEST_TAG,
    "pattern": r"^[^\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]*$",
}


def range_of(name: str) -> dict[str, Any]:
    """The range of one number of a run."""
    limits = PARAMETERS[name]
    return {"minimum": limits.low, "maximum": limits.high}


def config() -> dict[str, Any]:
    """The fields of ``RunConfig``, with the ranges of its numbers."""
    known: dict[str, Any] = {item.name: {} for item in fields(RunConfig)}
    for name, limits in PARAMETERS.items():
        known[name] = {"type": "integer" if limits.whole else "number", **range_of(name)}
    return {"properties": known, "additionalProperties": False}
