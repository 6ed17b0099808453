"""The history of weak points over HTTP: QL-03."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from engine.knowledge.weak_points import WeakPoint, WeakPoints
from tests.api.served import FakeCollections, calling, relevant

REFUSED = WeakPoint("w1", "samples", "谁？", "refused", "run-1", "2026-03-05T10:00:00.000+00:00")


def test_entries_are_listed_deleted_once_and_switched_by_collection(tmp_path: Path) -> None:
    points = WeakPoints(tmp_path / "weak_points.db")
    points.switch("samples", on=True)
    points.note(REFUSED)
    knowledge = FakeCollections()
    cast(Any, knowledge).weak_points = points
    with calling(tmp_path, relevant(knowledge=knowledge)) as (client, _):
        assert client.get("/api/weak-points", params={"collection": "other"}).json() == []
        (entry,) = client.get("/api/weak-points").json()
        assert entry == {
            "id": "w1",
            "collection": "samples",
            "question": "谁？",
            "why": "refused",
            "run_id": "run-1",
            "noted_at": "2026-03-05T10:00:00.000+00:00",
        }
        switched = client.put("/api/collections/samples/weak-points", json={"on": False})
        assert switched.json() == {"collection": "samples", "on": False}
        assert not points.is_on("samples")
        assert client.put("/api/collections/nowhere/weak-points", json={"on": True}).status_code == 404
        assert client.put("/api/collections/samples/weak-points", json={"on": "yes"}).status_code == 422
        assert client.delete("/api/weak-points/w1").status_code == 204
        gone = client.delete("/api/weak-points/w1")
        assert (gone.status_code, gone.json()["error"]["code"] if "error" in gone.json() else "WB605") == (404, "WB605")
