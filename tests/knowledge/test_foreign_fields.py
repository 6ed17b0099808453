"""What the fields of another program's collection may hold, read from its schema and a few rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.knowledge.foreign_fields import Seen, fields_of, proposed_fields
from engine.library.values import FieldMap


def field(name: str, kind: str, *, primary: bool = False, dim: int = 0) -> dict[str, Any]:
    return {"name": name, "type": kind, "is_primary": primary, "params": {"dim": dim} if dim else {}}


KEY = field("pk", "INT64", primary=True)
VECTOR = field("embedding", "FLOAT_VECTOR", dim=4)


def seen(
    fields: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]] = (),
    *,
    dynamic: bool = False,
    needs_index: bool = False,
    **metrics: str,
) -> Seen:
    return Seen("theirs", {"fields": list(fields), "enable_dynamic_field": dynamic}, metrics, rows, needs_index)


def proposal(found: Seen) -> FieldMap | None:
    return proposed_fields(fields_of(found), found.rows)


def test_fields_are_proposed_by_their_names() -> None:
    fields = [KEY, field("title", "VARCHAR"), field("chunk_text", "VARCHAR"), field("file_name", "VARCHAR"), VECTOR]
    assert proposal(seen(fields)) == FieldMap("pk", "chunk_text", "embedding", "file_name", "title")


def test_a_text_of_an_unknown_name_is_the_longest_one() -> None:
    fields = [KEY, field("a", "VARCHAR"), field("b", "VARCHAR"), VECTOR]
    rows = [{"pk": 1, "a": "short", "b": "a much longer text that a passage may have", "embedding": [1.0, 0, 0, 0]}]
    found = proposal(seen(fields, rows))
    assert found is not None and found.text == "b"


def test_a_label_under_a_good_name_does_not_pass_for_the_text() -> None:
    fields = [KEY, field("text", "VARCHAR"), field("inhalt", "VARCHAR"), VECTOR]
    rows = [{"text": "A-17", "inhalt": "Cats sleep sixteen hours a day and eat fish."}]
    found = proposal(seen(fields, rows))
    assert found is not None and found.text == "inhalt"


def test_text_and_source_may_be_keys_of_a_dynamic_or_a_json_field() -> None:
    rows = [{"pk": 1, "doc": "Cats eat fish, all day long.", "metadata": {"source": "cats.md", "page": 3}}]
    found = seen([KEY, field("metadata", "JSON"), VECTOR], rows, dynamic=True)
    names = {item.name: (item.type, item.sample) for item in fields_of(found)}
    assert names["doc"] == ("dynamic", "Cats eat fish, all day long.")
    assert names['metadata["source"]'] == ("json", "cats.md")
    assert proposal(found) == FieldMap("pk", "doc", "embedding", 'metadata["source"]')


def test_keys_that_a_filter_could_be_made_from_are_quoted() -> None:
    rows = [{"pk": 1, 'x" or 1==1': "text", "meta": {'a"] == "b': "text"}}]
    found = seen([KEY, field("meta", "JSON"), VECTOR], rows, dynamic=True)
    quoted = ['$meta["x\\" or 1==1"]', 'meta["a\\"] == \\"b"]']
    assert [item.name for item in fields_of(found)] == ["pk", "meta", "embedding", *quoted]


def test_of_several_vectors_the_first_with_an_index_that_compares_meaning_is_proposed() -> None:
    fields = [KEY, field("text", "VARCHAR"), field("v1", "FLOAT_VECTOR", dim=2), field("v2", "FLOAT_VECTOR", dim=8)]
    found = proposal(seen(fields, v2="IP"))
    assert found is not None and found.vector == "v2"


def test_a_sample_is_one_short_line() -> None:
    rows = [{"text": "first\nsecond " + "x" * 500, "embedding": [0.123456, 1, 2, 3, 4]}]
    by_name = {item.name: item.sample for item in fields_of(seen([KEY, field("text", "VARCHAR"), VECTOR], rows))}
    assert by_name["text"].startswith("first second xxx") and len(by_name["text"]) == 160
    assert by_name["embedding"] == "[0.123, 1, 2, 3, …]"
