"""Which index is advised, built and searched with what: arithmetic that pages and jobs rely on."""

from __future__ import annotations

import pytest

from engine.knowledge.milvus_reader import search_params
from plugins.scale.choice import (
    advised,
    build_of,
    checked_breadth,
    kind_named,
    options,
    usual_breadth,
)


@pytest.mark.parametrize(
    ("passages", "kind"),
    [(0, "FLAT"), (99_999, "FLAT"), (100_000, "HNSW"), (9_999_999, "HNSW"), (10_000_000, "IVF_SQ8")],
)
def test_the_advice_follows_the_size(passages: int, kind: str) -> None:
    assert advised(passages) == kind
    assert [option.kind for option in options(passages, 384) if option.advised] == [kind]


def test_cells_are_four_times_the_root_of_what_a_segment_holds() -> None:
    assert build_of("IVF_FLAT", 10_000) == {"nlist": 400}
    assert build_of("IVF_SQ8", 100_000_000) == build_of("IVF_SQ8", 350_000) == {"nlist": 2366}
    assert build_of("IVF_FLAT", 0) == {"nlist": 16}
    assert build_of("FLAT", 10) == build_of("DISKANN", 10) == {}


def test_a_long_list_widens_a_search_of_a_graph_and_not_one_of_cells() -> None:
    """A graph refuses to give more hits than it looks at."""
    assert search_params("ef", 64, 20) == {"ef": 64}
    assert search_params("ef", 64, 500) == {"ef": 500}
    assert search_params("search_list", 16, 100) == {"search_list": 100}
    assert search_params("nprobe", 8, 500) == {"nprobe": 8}
    assert search_params("ef", 0, 20) == search_params("", 64, 20) == {}


def test_a_breadth_is_kept_within_what_a_store_takes() -> None:
    assert (checked_breadth("HNSW", 10**9), checked_breadth("HNSW", -4), checked_breadth("FLAT", 64)) == (32_768, 0, 0)
    assert [usual_breadth(kind) for kind in ("HNSW", "IVF_SQ8", "AUTOINDEX", "FLAT")] == [128, 32, 0, 0]


def test_memory_is_four_bytes_a_dimension_and_less_where_it_is_pressed() -> None:
    memory = {option.kind: option.memory_mb for option in options(1_000_000, 384)}
    assert memory["FLAT"] == memory["IVF_FLAT"] == 1536.0
    assert memory["HNSW"] == 1536.0 + 132.0
    assert (memory["IVF_SQ8"], memory["DISKANN"]) == (384.0, 192.0)


def test_an_index_is_known_by_its_name_in_any_case() -> None:
    assert (kind_named("hnsw"), kind_named(" IVF_SQ8 "), kind_named("AUTOINDEX"), kind_named("")) == (
        "HNSW",
        "IVF_SQ8",
        None,
        None,
    )
