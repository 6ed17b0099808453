"""JSON and JSON lines: records with a text become sections, everything else readable lines."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from engine.errors import SourceDamaged
from engine.knowledge.loaders.contents import Allowance, Contents, Section, counted, heading, named, note, of_text
from engine.knowledge.loaders.encoding import without_control
from engine.knowledge.loaders.flattened import value_lines, value_text
from engine.messages import N_
from engine.model.values import SourceNote

TEXT_FIELDS = (
    "text", "content", "body", "passage", "document", "context", "article", "abstract", "answer", "description",
    "summary", "正文", "内容", "文本", "段落", "答案", "摘要", "描述",
)  # fmt: skip
"""Names of the field that holds a record's text, the likeliest first; any case."""
TITLE_FIELDS = ("title", "heading", "name", "question", "subject", "标题", "题目", "名称", "问题")
MOST_RECORDS = 50_000


@of_text
def load_json(name: str, text: str, _hidden: bool) -> Contents:
    """Sections of a JSON file: one for each record of its list of records, else one for each top-level key.

    Raises ``SourceDamaged`` with the place of the first error, ``SourceError``.
    """
    try:
        value = _loaded(text)
    except json.JSONDecodeError as error:
        raise SourceDamaged.at_line(name=name, line=error.lineno) from error
    except (RecursionError, ValueError) as error:
        raise SourceDamaged.named(
            name=name, found=N_("it is nested too deeply or holds a number that is too long")
        ) from error
    title, sections, notes = contents_of(Allowance(name, len(text)), value)
    return Contents(title, sections, notes=(*notes, *_empty(value)))


@of_text
def load_json_lines(name: str, text: str, _hidden: bool) -> Contents:
    """One section for each line; lines that are no JSON are left out and counted, unless none is any."""
    records, bad, more = list[Any](), list[int](), 0
    for number, line in enumerate(text.split("\n"), 1):
        if len(records) >= MOST_RECORDS:
            more += bool(line.strip())
        elif line.strip():
            try:
                records.append(_loaded(line))
            except (RecursionError, ValueError):
                bad.append(number)
    if bad and len(bad) >= len(records):
        raise SourceDamaged.at_line(name=name, line=bad[0])
    sections, cut = _record_sections(Allowance(name, len(text)), records, more)
    return Contents("", sections, notes=(*named({"lines_unreadable": bad}), *cut, *_empty(records)))


def _loaded(text: str) -> Any:
    return json.loads(text, parse_float=Decimal, object_pairs_hook=_every_value)


def _every_value(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a name that stands in it several times has the list of its values."""
    values = defaultdict[str, list[Any]](list)
    for name, value in pairs:
        values[name].append(value)
    return {name: found[0] if len(found) == 1 else found for name, found in values.items()}


def contents_of(allowance: Allowance, value: Any) -> tuple[str, tuple[Section, ...], tuple[SourceNote, ...]]:
    if isinstance(value, list):
        return "", *_record_sections(allowance, value)
    if not isinstance(value, dict):
        return "", (Section((), value_text(value)),), ()
    if _field(value, TEXT_FIELDS):
        return _title(value), (Section((), _record_text(allowance, value)),), ()
    lists = [key for key, inner in value.items() if isinstance(inner, list) and _are_records(inner)]
    rest = {key: inner for key, inner in value.items() if key not in lists and key != _field(value, TITLE_FIELDS)}
    sections, notes = list[Section](), tuple[SourceNote, ...]()
    for key, inner in rest.items():
        if isinstance(inner, dict | list):
            sections.append(Section((heading(key),), _lines_text(allowance, inner)))
    plain = {key: inner for key, inner in rest.items() if not isinstance(inner, dict | list)}
    if plain:
        sections.insert(0, Section((), _lines_text(allowance, plain)))
    for key in lists:
        found, cut = _record_sections(allowance, value[key])
        above = (heading(key),) if len(lists) > 1 or rest else ()
        sections.extend(Section((*above, *section.path), section.text) for section in found)
        notes += cut
    return _title(value), tuple(sections), notes


def _empty(value: Any) -> tuple[SourceNote, ...]:
    """Count the empty values inside, which no line names."""
    pending, count = [value], 0
    while pending:
        inner = pending.pop()
        count += inner in (None, "", [], {})
        pending += inner.values() if isinstance(inner, dict) else inner if isinstance(inner, list) else ()
    return counted({"values_empty": count})


def _are_records(values: Sequence[Any]) -> bool:
    return bool(values) and all(isinstance(value, dict) for value in values)


def _record_sections(
    allowance: Allowance, records: Sequence[Any], more: int = 0
) -> tuple[tuple[Section, ...], tuple[SourceNote, ...]]:
    """A section for each record; values that are no records are lines of one section.

    ``more`` records are left out in addition to those above the limit.
    """
    kept = records[:MOST_RECORDS]
    more += len(records) - len(kept)
    cut = (note("rows_beyond", kept=MOST_RECORDS, count=more),) if more else ()
    if not any(isinstance(record, dict | list) for record in kept):
        return (Section((), "\n".join(f"- {value_text(record)}" for record in kept if value_text(record))),), cut
    sections = []
    for number, record in enumerate(kept, 1):
        title = _title(record) if isinstance(record, dict) else ""
        sections.append(Section((title or f"#{number}",), _record_text(allowance, record)))
    return tuple(sections), cut


def _record_text(allowance: Allowance, record: Any) -> str:
    """A record's text with its other fields as lines below it."""
    field = _field(record, TEXT_FIELDS) if isinstance(record, dict) else ""
    if not field:
        return _lines_text(allowance, record)
    title = _field(record, TITLE_FIELDS)
    rest = {key: value for key, value in record.items() if key not in (field, title)}
    return "\n\n".join(part for part in (without_control(record[field].strip()), _lines_text(allowance, rest)) if part)


def _lines_text(allowance: Allowance, value: Any) -> str:
    try:
        return "\n".join(allowance.lines(value_lines(value)))
    except RecursionError as error:
        raise SourceDamaged.named(name=allowance.name, found=N_("it is nested too deeply")) from error


def _title(record: dict[str, Any]) -> str:
    field = _field(record, TITLE_FIELDS)
    return heading(without_control(record[field])) if field else ""


def _field(record: dict[str, Any], names: Sequence[str]) -> str:
    """The record's key of the first of these names that holds words."""
    by_name = {key.strip().casefold(): key for key in reversed(record)}
    for name in names:
        key = by_name.get(name)
        if key is not None and isinstance(record[key], str) and record[key].strip():
            return key
    return ""
