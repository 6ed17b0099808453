"""The verdict cache: exact keys, several users, and files that let it down."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from engine.database import Database
from engine.database.tables import Part
from engine.llm.cache import VerdictCache
from engine.llm.grader import CachedReply, verdict_key
from engine.model.config import RoleModel

REPLY = CachedReply('{"relevant": true}', "hm", "former", 12, 3)
MODEL = RoleModel("ollama:qwen3:8b")


def get(cache: VerdictCache, *keys: str) -> dict[str, CachedReply]:
    return asyncio.run(cache.get(keys))


def test_what_is_put_is_got_by_this_cache_and_the_next(tmp_path: Path) -> None:
    for _ in range(2):
        cache = VerdictCache(tmp_path / "new" / "verdicts.db")
        cache.put("a", REPLY)
        assert get(cache, "a", "b") == {"a": REPLY}
        cache.close()
        cache.close()


def test_two_caches_on_one_database_see_each_other(database_of: Callable[[Part], Database]) -> None:
    one, other = VerdictCache(database_of("verdicts")), VerdictCache(database_of("verdicts"))
    one.put("a", REPLY)
    assert get(one, "a") == get(other, "a") == {"a": REPLY}
    one.close()
    other.close()


def test_a_key_changes_with_everything_a_verdict_depends_on() -> None:
    """Question, passage, model, weights, options and prompt version."""
    variants: Sequence[tuple[str, str, RoleModel, str, str]] = [
        ("q", "p", MODEL, "d", "v"),
        ("q2", "p", MODEL, "d", "v"),
        ("q", "p2", MODEL, "d", "v"),
        ("qp", "", MODEL, "d", "v"),
        ("q", "p", RoleModel("ollama:qwen3:0.6b"), "d", "v"),
        ("q", "p", MODEL, "d2", "v"),
        ("q", "p", RoleModel(MODEL.model, temperature=0.1), "d", "v"),
        ("q", "p", RoleModel(MODEL.model, seed=8), "d", "v"),
        ("q", "p", RoleModel(MODEL.model, num_ctx=4096), "d", "v"),
        ("q", "p", MODEL, "d", "v2"),
    ]
    assert len({verdict_key(*variant) for variant in variants}) == len(variants)
    assert verdict_key(*variants[0]) == verdict_key("q", "p", RoleModel("ollama:qwen3:8b"), "d", "v")
    assert verdict_key("\ud800", "\udfff", MODEL, "", "v")


def test_a_damaged_file_switches_the_cache_off_and_stays_as_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "v.db"
    path.write_bytes(b"This is no database at all. " * 100)
    cache = VerdictCache(path)
    cache.put("a", REPLY)
    assert get(cache, "a") == {}
    assert not cache.usable
    cache.put("a", REPLY)
    cache.close()
    assert path.read_bytes().startswith(b"This is no database")
    assert len(caplog.records) == 1 and "delete the file" in caplog.text


def test_a_locked_file_is_a_miss_that_passes(tmp_path: Path) -> None:
    cache = VerdictCache(tmp_path / "v.db")
    cache.put("a", REPLY)
    assert get(cache, "a") == {"a": REPLY}
    holder = sqlite3.connect(tmp_path / "v.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    cache.put("b", REPLY)
    assert get(cache, "b") == {}
    holder.execute("COMMIT")
    holder.close()
    cache.put("b", REPLY)
    assert get(cache, "b") == {"b": REPLY} and cache.usable
    cache.close()


def test_a_folder_that_cannot_be_made_is_a_miss(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = VerdictCache(tmp_path / "file" / "v.db")
    cache.put("a", REPLY)
    assert get(cache, "a") == {}
    cache.close()


@pytest.mark.parametrize("value", ["", "[]", '{"reply": "x", "unknown": 1}', "{}"])
def test_a_damaged_row_is_a_miss(tmp_path: Path, value: str) -> None:
    cache = VerdictCache(tmp_path / "v.db")
    cache.put("c", REPLY)
    assert get(cache, "a") == {}
    with sqlite3.connect(tmp_path / "v.db") as direct:
        direct.execute("INSERT INTO verdicts VALUES ('a', ?)", (value,))
    direct.close()
    cache.put("b", REPLY)
    assert get(cache, "a", "b") == {"b": REPLY}
    cache.close()


def test_a_closed_cache_misses_and_loses_quietly(tmp_path: Path) -> None:
    cache = VerdictCache(tmp_path / "v.db")
    cache.close()
    cache.put("a", REPLY)
    assert get(cache, "a") == {}
