"""Indexes and vector files pass by the rights of who acts, and changes are noted as they always were."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from components.common.i18n import words_for
from engine.errors import NotAllowed, NotSignedIn, UnknownCollection
from engine.people import Person
from plugins.scale.actions import Scale
from plugins.scale.errors import INDEX_FIXED
from tests.support.errors import raises
from tests.support.people import ADMIN, EDITOR, PEOPLE, VIEWER


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with pytest.importorskip("tests.plugins.team.people.ward").ward_in(tmp_path_factory.mktemp("ward")) as opened:
        yield opened


def test_each_needs_its_role_and_nothing_is_done_for_a_thread_that_no_door_has_named(ward: Any) -> None:
    scale = Scale.of(ward.engine)
    with pytest.raises(NotSignedIn):
        scale.index("samples")
    for person in PEOPLE:
        with ward.as_(person):
            assert scale.index("samples").state.kind == "FLAT"
    with ward.as_(VIEWER), pytest.raises(NotAllowed):
        scale.load_vectors([], "of_a_viewer")
    for person in (VIEWER, EDITOR):
        with ward.as_(person):
            with pytest.raises(NotAllowed):
                scale.set_breadth("samples", 8)
            with pytest.raises(NotAllowed):
                scale.start_index("samples", "HNSW")
    with ward.as_(ADMIN), raises(INDEX_FIXED):
        scale.start_index("samples", "hnsw")


@pytest.mark.parametrize("name", ["ward", "station"])
def test_a_collection_that_is_kept_from_a_person_is_not_there(ward: Any, name: str) -> None:
    with ward.as_(EDITOR):
        with pytest.raises(UnknownCollection):
            Scale.of(ward.engine).index(name)
        with pytest.raises((UnknownCollection, NotAllowed)):
            Scale.of(ward.engine).load_vectors([], name)


def test_what_a_token_of_some_collections_loads_is_limited_as_these_are(ward: Any) -> None:
    def made(only: set[str], name: str) -> bool:
        with ward.as_(Person("token t", "t", "editor", frozenset(), frozenset(only))):
            try:
                Scale.of(ward.engine).load_vectors([], name)
            except NotAllowed:
                return False
        return True

    assert made({"ward", "samples"}, "loaded")
    assert not made({"samples"}, "loaded_2") and not made(set(), "loaded_3")


@pytest.mark.parametrize(
    "entry", ["Scale.set_breadth", "Library.set_breadth", "Library.load_vectors", "Ingestions.start_index"]
)
def test_entries_of_the_log_say_what_was_done_whichever_version_noted_them(entry: str) -> None:
    change_text = pytest.importorskip("plugins.team.people_panel").change_text
    assert change_text(entry, words_for("en")) not in ("", entry)
    assert change_text("Scale.unknown", words_for("en")) == "Scale.unknown"
