"""The history of weak points in a database."""

from __future__ import annotations

from collections.abc import Callable

from engine.database import Database
from engine.database.tables import Part
from engine.knowledge.weak_points import WeakPoint, WeakPoints


def point(name: str, collection: str = "notes", day: int = 1) -> WeakPoint:
    return WeakPoint(name, collection, "Why?", "refused", "run", f"2026-01-0{day}T00:00:00.000+00:00")


def test_entries_are_kept_listed_renamed_and_deleted(database_of: Callable[[Part], Database]) -> None:
    points = WeakPoints(database_of("weak_points"))
    assert points.list() == [] and points.is_on("notes") and not points.is_on("samples")
    for item in (point("a"), point("b", day=2), point("c", "other"), point("d", "samples"), point("b", day=3)):
        points.note(item)
    assert points.list("notes") == [point("b", day=3), point("a")]
    assert points.list(limit=1) == [point("b", day=3)]
    points.switch("notes", on=False)
    points.note(point("e"))
    points.rename_collection("notes", "new")
    assert (points.is_on("notes"), points.is_on("new")) == (True, False)
    assert [item.id for item in points.list("new")] == ["b", "a"]
    assert (points.delete("a"), points.delete("a")) == (True, False)
    assert (points.delete_all("new"), [item.id for item in points.list()]) == (1, ["c"])
