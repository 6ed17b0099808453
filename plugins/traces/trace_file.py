"""A file of traces as spans: its form is recognised by its content; what cannot be read is named."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from engine.errors import WorkbenchError
from plugins.traces.errors import (
    NO_CONTENTS,
    NO_STEPS,
    NOT_JSON,
    NOTHING,
    TOO_DEEP,
    TOO_LARGE,
    TOO_LONG,
    TOO_MANY_SPANS,
    UNKNOWN,
)
from plugins.traces.foreign import LeftOut, Recognised
from plugins.traces.langfuse import LangfuseFound, langfuse_rows
from plugins.traces.observed import is_observed, observed_spans
from plugins.traces.otlp import decoded, is_otlp, otlp_span, otlp_spans
from plugins.traces.phoenix import annotated, is_annotation, is_phoenix_span, phoenix_span
from plugins.traces.spans import Span, items
from plugins.traces.understanding import MOST_OF_TRACE, MOST_SEARCHES, understood

MOST_MB = 64
MOST_SPANS = 50_000
_PAGES = ("data", "spans", "traces", "runs", "observations", "annotations", "batch")
"""Names under which answers of an API, and files made of several of them, keep their lists."""


@dataclass(slots=True)
class _Found:
    """Contents of a file found so far."""

    name: str
    project: str
    spans: list[Span] = field(default_factory=list)
    annotations: list[Mapping[str, Any]] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    langfuse: LangfuseFound = field(default_factory=LangfuseFound)
    known: bool = False

    def add(self, spans: Iterable[Span]) -> None:
        self.known = True
        for span in spans:
            self.spans.append(span)
            if len(self.spans) > MOST_SPANS:
                raise TOO_MANY_SPANS(name=self.name, limit=MOST_SPANS)


def recognised(files: Iterable[tuple[str, bytes]], project: str = "") -> Recognised:
    """The traces of some files together: annotations may be in a file of their own, and one trace in several.

    ``project`` names where spans are from that do not say it. Raises ``WorkbenchError``.
    """
    found = _Found("", project)
    for name, data in files:
        found.name = name
        if len(data) > MOST_MB * 1_000_000:
            raise TOO_LARGE(name=name, size=round(len(data) / 1e6), limit=MOST_MB)
        found.known = False
        _take(found, data)
        if not found.known:
            raise UNKNOWN(name=name)
    found.add(found.langfuse.spans())
    found.left_out.extend(found.langfuse.left_out())
    spans = annotated(found.spans, found.annotations)
    spans.sort(key=lambda span: span.trace_id)
    traces = []
    for _, members in groupby(spans, key=lambda span: span.trace_id):
        trace = understood(list(members))
        if isinstance(trace, LeftOut):
            found.left_out.append(trace)
        else:
            traces.append(trace)
    if not traces:
        raise _unusable(found, len(spans))
    return Recognised(tuple(traces), len(spans), tuple(found.left_out))


def _unusable(found: _Found, spans: int) -> WorkbenchError:
    """Explain why no trace of the files can be used."""
    codes = [item.code for item in found.left_out]
    if "many_spans" in codes or "many_searches" in codes:
        return TOO_LONG(name=found.name, spans=MOST_OF_TRACE, searches=MOST_SEARCHES)
    if "no_contents" in codes:
        return NO_CONTENTS(name=found.name, n=codes.count("no_contents"))
    if "no_steps" in codes:
        return NO_STEPS(name=found.name, n=codes.count("no_steps"))
    return NOTHING(name=found.name, spans=spans)


def _take(found: _Found, data: bytes) -> None:
    try:
        for value in _values(found, data):
            _take_value(found, value, 0)
    except RecursionError:
        raise TOO_DEEP(name=found.name) from None


def _values(found: _Found, data: bytes) -> Iterator[Any]:
    """The JSON value of a file, those of its lines, or the rows of a table; one binary message where it is no text."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = ""
    if not text.lstrip().startswith(("{", "[")):
        if (rows := _table(found, text)) is not None:
            found.known = True
            yield rows
            return
        message = decoded(found.name, data)
        if message is None:
            raise NOT_JSON(name=found.name, why="its first character begins no object and no list")
        yield message
        return
    try:
        yield json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as whole:
        # Not splitlines: a string of JSON may hold U+2028, which is no end of a line there.
        lines = [(place, line) for place, line in enumerate(text.split("\n"), start=1) if line.strip()]
        if len(lines) < 2:
            raise NOT_JSON(name=found.name, why=str(whole)) from None
        read = 0
        for place, line in lines:
            try:
                value = json.loads(line, parse_constant=lambda _: None)
            except (ValueError, RecursionError) as error:
                found.left_out.append(LeftOut("line", {"line": str(place), "why": str(error)[:200]}))
                continue
            read += 1
            yield value
        if not read:
            raise NOT_JSON(name=found.name, why=str(whole)) from None


def _table(found: _Found, text: str) -> list[dict[str, Any]] | None:
    try:
        return langfuse_rows(text)
    except csv.Error as error:
        raise NOT_JSON(name=found.name, why=str(error)) from None


def _take_value(found: _Found, value: Any, depth: int) -> None:
    if depth > 4:
        return
    if isinstance(value, list):
        for item in value:
            _take_value(found, item, depth + 1)
    elif is_otlp(value):
        found.add(otlp_spans(value))
    elif is_observed(value):
        found.add(observed_spans(value))
    elif is_phoenix_span(value):
        found.add([phoenix_span(value, found.project)])
    elif is_annotation(value):
        found.known = True
        found.annotations.append(value)
    elif isinstance(value, Mapping) and not _take_of_services(found, value):
        _take_page(found, value, depth)


def _take_of_services(found: _Found, value: Mapping[str, Any]) -> bool:
    """Take what Langfuse writes, or a span of OTLP alone; False where it is neither."""
    if found.langfuse.take(value):
        found.known = True
    elif (span := otlp_span(value, found.project)) is not None:
        found.add([span])
    else:
        return False
    return True


def _take_page(found: _Found, value: Mapping[str, Any], depth: int) -> None:
    """The lists of an object: pages of an API, and columns of a data frame as its ``to_json`` writes them."""
    ids = value.get("context.span_id")
    if isinstance(ids, Mapping):
        for row in ids:
            cells = {name: column.get(row) for name, column in value.items() if isinstance(column, Mapping)}
            if is_phoenix_span(cells):
                found.add([phoenix_span(cells, found.project)])
        return
    for name in _PAGES:
        for item in items(value.get(name)):
            _take_value(found, item, depth + 1)
