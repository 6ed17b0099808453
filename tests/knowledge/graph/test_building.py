"""Building a knowledge graph: what was read is not read again, no matter what cut it off. GH-03"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from engine.errors import JobError, ModelError
from engine.knowledge.graph import building
from engine.knowledge.graph.building import build_graph, community_key
from engine.knowledge.kept_replies import KeptReplies
from engine.knowledge.progress import Progress
from engine.model.values import Community, PassageId
from engine.roles.graph import GraphInfo
from tests.support.errors import raises
from tests.support.graph_fakes import FakeExtractor
from tests.support.graph_knowledge import TEXTS, GraphCollections


def within(folder: Path, work: Callable[[GraphCollections], Coroutine[Any, Any, Any]]) -> Any:
    async def main() -> Any:
        farm = GraphCollections(folder=folder)
        try:
            return await work(farm)
        finally:
            await farm.close()

    return asyncio.run(main())


async def built(farm: GraphCollections, extractor: FakeExtractor, kept: KeptReplies | None = None) -> GraphInfo:
    return await build_graph(farm.graphs, farm, extractor, "alias", kept=kept)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "_BATCH", 1)
    monkeypatch.setattr(building, "_PAGE", 3)


def test_every_passage_is_read_once_and_communities_are_summed_up(tmp_path: Path) -> None:
    """GH-03: progress, rate and what was found are reported on the way."""
    seen: list[Progress] = []

    async def work(farm: GraphCollections) -> None:
        extractor = FakeExtractor()
        info = await build_graph(farm.graphs, farm, extractor, "alias", seen.append)
        assert (info.collection, info.extractor, info.passages, info.finished) == ("farm", "fake:model", 4, True)
        assert (info.entities, info.relationships, info.communities) == (8, 6, 3)
        assert info.fingerprint == (await farm.describe("farm")).fingerprint
        assert extractor.asked == list("abcd")
        assert {item.summarised_by for item in await farm.graphs.communities("farm")} == {"fake:model"}
        assert all(item.title and item.summary for item in await farm.graphs.communities("farm"))

    within(tmp_path, work)
    assert [item.done for item in seen if item.state == "extracting"][-1] == 4
    assert {item.state for item in seen} == {"extracting", "summarising"}
    assert seen[-1].graph is not None and seen[-1].graph.communities == 3
    assert any(item.per_second > 0 and item.remaining_s is not None for item in seen)


def test_a_finished_graph_of_an_unchanged_collection_is_left_as_it_is(tmp_path: Path) -> None:
    async def work(farm: GraphCollections) -> None:
        first = await built(farm, FakeExtractor())
        again = FakeExtractor()
        assert await built(farm, again) == first
        assert (again.asked, again.summarised) == ([], 0)

    within(tmp_path, work)


def test_only_what_is_new_or_changed_is_read_and_what_is_gone_is_forgotten(tmp_path: Path) -> None:
    """GH-03"""

    async def work(farm: GraphCollections) -> None:
        await built(farm, FakeExtractor())
        farm.texts |= {"b": "Goats helps milk.", "e": "Rain helps rivers."}
        del farm.texts["d"]
        again = FakeExtractor()
        info = await built(farm, again)
        assert (again.asked, info.passages) == (["b", "e"], 4)
        names = set(await farm.graphs.names("farm"))
        assert {"goats", "rivers"} <= names and not {"night", "stars"} & names
        fresh = GraphCollections(folder=tmp_path / "fresh", texts=dict(farm.texts))
        (tmp_path / "fresh").mkdir()
        rebuilt = await built(fresh, FakeExtractor())
        assert await fresh.graphs.communities("farm") == await farm.graphs.communities("farm")
        assert (rebuilt.entities, rebuilt.relationships) == (info.entities, info.relationships)
        await fresh.close()

    within(tmp_path, work)


def test_a_building_that_failed_continues_and_ends_as_if_it_never_had(tmp_path: Path) -> None:
    """GH-03: the passages before the failure are not asked for again."""

    async def work(farm: GraphCollections) -> None:
        with pytest.raises(ModelError, match="gone"):
            await built(farm, FakeExtractor(fails_at=2))
        found = await farm.graphs.describe("farm")
        assert found is not None and (found.passages, found.finished) == (2, False)
        again = FakeExtractor()
        assert (await built(farm, again)).passages == 4
        assert again.asked == ["c", "d"]

    within(tmp_path, work)


def test_passages_whose_reply_could_not_be_read_are_tried_again_by_the_next_building(tmp_path: Path) -> None:
    async def work(farm: GraphCollections) -> None:
        first = FakeExtractor(garbled=frozenset({"b"}))
        info = await built(farm, first)
        assert (info.passages, first.unreadable) == (3, (PassageId("b"),))
        again = FakeExtractor()
        assert (await built(farm, again)).passages == 4
        assert again.asked == ["b"]

    within(tmp_path, work)


def test_a_changed_passage_whose_reply_cannot_be_read_keeps_nothing_of_its_earlier_text(tmp_path: Path) -> None:
    async def work(farm: GraphCollections) -> None:
        await built(farm, FakeExtractor())
        farm.texts["d"] = "Unreadable."
        await built(farm, FakeExtractor(garbled=frozenset({"d"})))
        assert "night" not in await farm.graphs.names("farm")

    within(tmp_path, work)


def test_a_model_whose_every_reply_is_unreadable_and_a_collection_of_nothing_are_said(tmp_path: Path) -> None:
    async def work(farm: GraphCollections) -> None:
        with raises(JobError.extractor_failed, match="4 passages"):
            await built(farm, FakeExtractor(garbled=frozenset(TEXTS)))
        farm.texts.clear()
        with raises(JobError.nothing_to_read, match="farm"):
            await built(farm, FakeExtractor())

    within(tmp_path, work)


def test_another_extractor_reads_everything_again(tmp_path: Path) -> None:
    async def work(farm: GraphCollections) -> None:
        await built(farm, FakeExtractor())
        other = FakeExtractor(name="other:model")
        assert (await built(farm, other)).extractor == "other:model"
        assert other.asked == list("abcd")

    within(tmp_path, work)


def test_summaries_that_were_paid_for_are_kept_next_to_the_job_and_damage_costs_only_calls(tmp_path: Path) -> None:
    """GH-03: a building cut off among its summaries asks only for those that are missing."""
    place = tmp_path / "summaries.jsonl"

    async def work(farm: GraphCollections) -> None:
        await built(farm, FakeExtractor(), KeptReplies(place))
        *whole, last = filter(None, place.read_text().splitlines())
        place.write_text("\n".join([*whole, last[:20]]))
        await farm.graphs.drop("farm")
        again = FakeExtractor()
        await built(farm, again, KeptReplies(place))
        assert (again.summarised, len(await farm.graphs.communities("farm"))) == (1, 3)
        none = FakeExtractor()
        await farm.graphs.drop("farm")
        await built(farm, none, KeptReplies(place))
        assert none.summarised == 0

    within(tmp_path, work)


def test_a_summary_is_kept_for_the_very_same_members_and_passages_only() -> None:
    community = Community("c", "T", "S", ("a", "b"), (PassageId("p"),))
    fewer = Community("c", "", "", ("a",), (PassageId("p"),))
    keys = (community_key(community, ["hash"]), community_key(community, ["other"]), community_key(fewer, ["hash"]))
    assert len(set(keys)) == 3
    assert community_key(Community("d", "", "", ("b", "a"), (PassageId("p"),)), ["hash"]) == keys[0]
