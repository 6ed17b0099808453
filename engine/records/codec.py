"""Events and records as JSON: pydantic stands here, at the edge, and validates what files and networks bring back."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from engine.errors import InvalidConfig, RecordError
from engine.model.events import Event, PassageGraded
from engine.model.values import RunRecord, record_adapter


@cache
def _events() -> TypeAdapter[Any]:
    return TypeAdapter(Annotated[Event, Field(discriminator="kind")])


def prepare() -> None:
    """Make what reads and writes events and records now; the first of them would wait for it."""
    _events()
    record_adapter()


def event_to_json(event: Event) -> bytes:
    """One event as compact UTF-8 JSON."""
    return _events().dump_json(event)


def event_from_json(data: bytes | str) -> Event:
    """Read an event back; raises ``RecordError`` where the text is damaged."""
    try:
        event: Event = _events().validate_json(data)
    except (ValidationError, InvalidConfig) as error:
        raise RecordError.damaged_event(why=_faults(error)) from None
    if isinstance(event, PassageGraded) and not _names_its_policy(data):
        return replace(event, verdict=replace(event.verdict, policy=1))
    return event


def _names_its_policy(data: bytes | str) -> bool:
    # Within a text of the event a quotation mark is escaped, so that this can only be the field itself.
    return b'"policy":' in data if isinstance(data, bytes) else '"policy":' in data


def record_from_dict(plain: dict[str, Any]) -> RunRecord:
    """Read what :meth:`engine.model.values.RunRecord.to_dict` wrote; raises ``RecordError`` where it is damaged."""
    try:
        return record_adapter().validate_python(_with_policies(plain))
    except (ValidationError, InvalidConfig) as error:
        raise RecordError.unreadable_export(why=_faults(error)) from None


def _with_policies(plain: dict[str, Any]) -> dict[str, Any]:
    """The record with the first policy where a verdict names none: it was written before there was another."""
    rounds = plain.get("rounds")
    if not isinstance(rounds, list | tuple) or not all(isinstance(item, dict) for item in rounds):
        return plain
    return {**plain, "rounds": [_with_policy(item) for item in rounds]}


def _with_policy(current: dict[str, Any]) -> dict[str, Any]:
    verdicts = current.get("verdicts")
    if not isinstance(verdicts, dict) or not all(isinstance(item, dict) for item in verdicts.values()):
        return current
    return {**current, "verdicts": {name: {"policy": 1, **item} for name, item in verdicts.items()}}


def _faults(error: ValidationError | InvalidConfig) -> str:
    """Count the faults, or name the setting out of range; never the stored text itself."""
    return f"{error.error_count()} faults" if isinstance(error, ValidationError) else error.field
