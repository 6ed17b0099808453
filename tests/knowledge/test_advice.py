"""What is said of a collection that has grown: at the right size, for the right store, from the measured table."""

from __future__ import annotations

import pytest

from engine.knowledge.advice import LARGE_FROM, LITE_SEARCH_MS, SLOW_FROM, advice, lite_search_ms
from engine.roles import CollectionInfo

FOLDER, SERVER = "/data/knowledge.db", "http://127.0.0.1:19530"


def _info(passages: int) -> CollectionInfo:
    return CollectionInfo("docs", "m", 384, "", "", "", passages=passages)


@pytest.mark.parametrize(
    ("passages", "address", "code"),
    [
        (SLOW_FROM - 1, FOLDER, None),
        (SLOW_FROM, FOLDER, "lite_slow"),
        (LARGE_FROM - 1, FOLDER, "lite_slow"),
        (LARGE_FROM, FOLDER, "lite_large"),
        (10 * LARGE_FROM, SERVER, None),
    ],
)
def test_only_a_large_collection_in_the_embedded_store_is_advised_to_move(
    passages: int, address: str, code: str | None
) -> None:
    given = advice(_info(passages), address)
    assert (given.code if given else None) == code
    if given is not None:
        assert (given.passages, given.search_ms) == (passages, lite_search_ms(passages))


def test_the_expected_time_is_the_measured_one_at_the_measured_sizes_and_grows_between_and_beyond() -> None:
    for passages, milliseconds in LITE_SEARCH_MS:
        assert lite_search_ms(passages) == pytest.approx(milliseconds)
    sizes = [1, 1_000, 5_000, 10_000, 50_000, 100_000, 1_000_000]
    expected = [lite_search_ms(size) for size in sizes]
    assert expected == sorted(expected)
    assert expected[-1] == pytest.approx(10 * expected[-2])
