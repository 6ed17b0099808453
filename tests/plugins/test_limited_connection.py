"""A connection that is limited to groups is kept from others: left out where one of the plug-ins is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import StoreError, UnknownCollection
from engine.knowledge.ingest import IngestItem
from engine.people import acting_as
from tests.support.errors import raises
from tests.support.foreign_milvus import Elsewhere, fill
from tests.support.people import ADMIN

connected = pytest.importorskip("tests.plugins.connected")
wards = pytest.importorskip("tests.plugins.team.people.ward")


def test_a_connection_that_is_limited_is_not_there_for_others(tmp_path: Path) -> None:
    with wards.ward_in(tmp_path / "ward") as ward:
        engine, theirs = ward.engine, Elsewhere(str(tmp_path / "theirs.db"), "")
        fill(theirs)
        with acting_as(ADMIN):
            connected.connect_as(engine, theirs.uri, "wiki", "wiki")
            engine.limit_collection("wiki", ["clinic"])
        with ward.as_(wards.MEMBER):
            assert "wiki" in [part.name for part in engine.host.health()]
            assert engine.library.search("wiki", "tea")
            with raises(StoreError.foreign_collection):
                engine.ingest([IngestItem("a.md", data=b"# A")], "wiki")
        with ward.as_(wards.OUTSIDER):
            assert "wiki" not in [part.name for part in engine.host.health()]
            assert "wiki" not in [info.name for info in engine.collections()]
            for call in (engine.describe, engine.sources, lambda name: engine.library.search(name, "tea")):
                with pytest.raises(UnknownCollection):
                    call("wiki")
            with pytest.raises(UnknownCollection):
                engine.ingest([IngestItem("a.md", data=b"# A")], "wiki")
