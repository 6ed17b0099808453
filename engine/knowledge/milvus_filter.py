"""Filters of Milvus's query language, made from names that may contain anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from engine.model.values import SOURCE_KINDS, SourceKind
from engine.roles import Within

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def quoted(value: str) -> str:
    """A string as a literal of Milvus's filter language, no matter what it contains."""
    return f'"{value.translate(_ESCAPES)}"'


def equals(field: str, value: str) -> str:
    return f"{field} == {quoted(value)}"


def one_of(field: str, values: Iterable[str | int]) -> str:
    """A membership filter; numbers stay numbers."""
    if field.endswith("]"):
        # An embedded store asks only fields of the schema whether they are in a list.
        return f"({any_of([equals(field, str(value)) for value in values])})"
    items = ", ".join(str(value) if isinstance(value, int) else quoted(value) for value in values)
    return f"{field} in [{items}]"


def holds_any(field: str, parts: Iterable[str]) -> str:
    """A filter for texts that hold one of the parts, in which there is nothing but letters and digits."""
    return " or ".join(f'{field} like "%{part}%"' for part in parts)


def within_filter(
    within: Within, collection: str, *, source: str, section: str, meta: str, kind: str = ""
) -> str | None:
    """The filter that finds only passages ``within``; empty if all are, None if none can be.

    ``source``, ``section``, ``meta`` and ``kind`` are the names of the collection's fields, empty for those that it
    lacks: then every passage has the collection's name as its source, no section, and the kind that ``meta`` holds or
    ``vector``.
    """
    parts = [_of_kinds(within.kinds, meta, kind), _of_sections(within.sections, collection, source, section)]
    if None in parts:
        return None
    return " and ".join(f"({part})" for part in parts if part)


def _of_kinds(kinds: Sequence[SourceKind], meta: str, own: str) -> str | None:
    if not kinds or set(kinds) == set(SOURCE_KINDS):
        return ""
    if own:
        return one_of(own, [kind for kind in SOURCE_KINDS if kind in kinds])
    if not meta:
        return "" if "vector" in kinds else None
    field = f'{meta}["kind"]'
    if "vector" not in kinds:
        return " or ".join(equals(field, kind) for kind in SOURCE_KINDS if kind in kinds)
    # Passages without a kind are of this one too, and an embedded store finds no comparison true that lacks a side.
    others = " and ".join(f"{field} != {quoted(kind)}" for kind in SOURCE_KINDS if kind not in kinds)
    return f"(not (exists {field})) or ({others})"


def _of_sections(sections: Sequence[tuple[str, str]], collection: str, source: str, section: str) -> str | None:
    if not sections:
        return ""
    wanted = sorted(set(sections))
    if not source:
        wanted = [pair for pair in wanted if pair[0] == collection]
    if not section:
        wanted = [pair for pair in wanted if not pair[1]]
    whole = {name for name, inside in wanted if not inside}
    if not wanted or (not source and whole):
        return "" if wanted else None
    parts = [one_of(source, sorted(whole))] if whole else []
    for name, pairs in groupby((pair for pair in wanted if pair[0] not in whole), key=lambda pair: pair[0]):
        inside = one_of(section, [pair[1] for pair in pairs])
        parts.append(f"({equals(source, name)} and {inside})" if source else inside)
    return any_of(parts)


def any_of(parts: Sequence[str]) -> str:
    """Alternatives as a balanced tree: a server refuses expressions nested some fifty deep."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return f"({any_of(parts[:half])}) or ({any_of(parts[half:])})"
