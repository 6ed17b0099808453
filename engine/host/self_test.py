"""Expectations of scores that hold wherever model and store are sound: what they are, and what was found.

Keys of ``SelfTestCase.detail`` by code:

- ``dimension``: stored, given
- ``unit_length``: off, the largest distance of a vector's length from 1
- ``deterministic``: off, the largest difference between two embeddings of the same text
- ``prefixes``: query, passage (as recorded), cosine between a text as query and as passage
- ``order``: hits, and upturned, the pairs of neighbours out of order
- ``cosine``: hits, and off, the largest difference between the store's score and our own
- ``own_text``: found, sample, lowest (cosine of a stored passage with its text re-embedded)
- ``floor``: right, unrelated (medians of the best similarity), floor
- ``clear_yes``, ``clear_no``: right, asked, grader, and low or high, the worst P(relevant)
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from engine.errors import NothingToTest
from engine.host.values import SelfTest, SelfTestCase, SelfTestCode
from engine.model.language import language_of
from engine.model.values import Passage, PassageId, Verdict
from engine.retrieval.search import CollectionRetriever
from engine.retrieval.similarity import Calibration
from engine.roles import CollectionInfo, Embedder, Grader, Hit, PassageStore, Vector

SAMPLE = 5
CASES: Final = 10
_HITS = 50
_OFF_UNIT = 1e-3
_OFF_SCORE = 2e-3
"""Stores compute with single precision, and vectors that ship with the product had half of it."""
_SAME = 0.995
"""Cosine from which a stored vector counts as that of its text: another model or prefix stays well below."""
_LONGEST_QUERY = 120
_UNRELATED: Final = (
    "When does the night bus to the harbour leave on Sundays?",
    "Which paint dries fastest on a wooden garden fence?",
    "周日去码头的夜班车几点发车？",
    "院子的木栅栏刷什么油漆干得最快？",
)
_CLEAR: Final = (
    (
        "At which temperature is an unopened pen of insulin kept?",
        "An unopened pen of insulin is kept in the refrigerator at a temperature of two to eight degrees Celsius.",
        "A tree with n vertices has exactly n − 1 edges, and between any two of them there is one path.",
    ),
    (
        "没开封的胰岛素应该怎样保存？",
        "没开封的胰岛素应该放在冰箱冷藏室里保存，温度为二到八摄氏度。",
        "欧拉回路要求连通图中每个顶点的度数都是偶数。",
    ),
)

Exact = npt.NDArray[np.float64]
Count = Callable[[int], None]
"""Told how many cases are done."""


@dataclass(frozen=True, slots=True)
class _Sampled:
    """A few stored passages with their stored vectors, and their texts re-embedded as passages."""

    hits: Sequence[Hit]
    stored: Exact
    fresh: Exact


async def run_self_test(retriever: CollectionRetriever, grader: Grader, grader_name: str, count: Count) -> SelfTest:
    """Put a collection's scores to the test; raises ``NothingToTest``, ``ModelError`` and ``StoreError``."""
    store, embedder, info, calibration = retriever.parts
    probe = await embedder.embed_query(_UNRELATED[0])
    found = await store.search(info.name, probe, _HITS)
    if not found:
        raise NothingToTest(collection=info.name)
    cases = [_dimension(info, probe)]
    count(len(cases))
    sampled = await _sampled(store, embedder, info, found)
    cases += [_unit_length(probe, sampled), await _deterministic(embedder, probe)]
    count(len(cases))
    cases.append(await _prefixes(embedder, info))
    count(len(cases))
    cases += [_order(found), await _cosine(store, info, found, probe)]
    count(len(cases))
    cases.append(await _own_text(store, info, sampled))
    count(len(cases))
    cases.append(await _floor(retriever, calibration, embedder, sampled))
    count(len(cases))
    cases += await _clear(grader, grader_name, embedder, calibration)
    count(len(cases))
    return SelfTest(info.name, info.embedding_model, tuple(cases))


def _case(code: SelfTestCode, passed: bool, **detail: object) -> SelfTestCase:
    shown = {name: f"{value:.4f}" if isinstance(value, float) else str(value) for name, value in detail.items()}
    return SelfTestCase(code, bool(passed), shown)


async def _sampled(store: PassageStore, embedder: Embedder, info: CollectionInfo, found: Sequence[Hit]) -> _Sampled:
    """Evenly from the best to the worst of what an unrelated question found."""
    places = np.linspace(0, len(found) - 1, min(SAMPLE, len(found))).round().astype(int)
    hits = [found[place] for place in sorted(set(places.tolist()))]
    vectors = await store.vectors(info.name, [hit.passage.id for hit in hits])
    hits = [hit for hit in hits if hit.passage.id in vectors]
    if not hits:
        raise NothingToTest(collection=info.name)
    stored = np.stack([np.asarray(vectors[hit.passage.id], dtype=np.float64) for hit in hits])
    fresh = await embedder.embed_passages([hit.passage.text for hit in hits])
    return _Sampled(hits, _unit(stored), _unit(fresh))


def _dimension(info: CollectionInfo, probe: Vector) -> SelfTestCase:
    return _case("dimension", probe.shape == (info.dim,), stored=info.dim, given=probe.shape[-1])


def _unit_length(probe: Vector, sampled: _Sampled) -> SelfTestCase:
    off = abs(float(np.linalg.norm(probe.astype(np.float64))) - 1.0)
    finite = bool(np.isfinite(sampled.fresh).all())
    return _case("unit_length", off <= _OFF_UNIT and finite, off=off)


async def _deterministic(embedder: Embedder, probe: Vector) -> SelfTestCase:
    """Whether an embedder is deterministic, tried with passages, since vectors of queries are kept."""
    first = await embedder.embed_passages([_UNRELATED[0]])
    again = await embedder.embed_passages([_UNRELATED[0]])
    off = float(np.abs(first - again).max()) if first.shape == again.shape else float("inf")
    return _case("deterministic", off <= _OFF_UNIT and bool(np.isfinite(probe).all()), off=off)


async def _prefixes(embedder: Embedder, info: CollectionInfo) -> SelfTestCase:
    """One text gives two vectors exactly where its prefixes differ, and the prefixes are those recorded."""
    text = _UNRELATED[0]
    query, passage = await embedder.embed_query(text), (await embedder.embed_passages([text]))[0]
    cosine = float(_unit(query) @ _unit(passage))
    differ = info.query_prefix != info.passage_prefix
    recorded = (embedder.query_prefix, embedder.passage_prefix) == (info.query_prefix, info.passage_prefix)
    held = recorded and (cosine < 1.0 - 1e-5 if differ else cosine > 1.0 - _OFF_UNIT)
    return _case("prefixes", held, query=info.query_prefix, passage=info.passage_prefix, cosine=cosine)


def _order(found: Sequence[Hit]) -> SelfTestCase:
    upturned = sum(later.cosine > earlier.cosine + 1e-6 for earlier, later in pairwise(found))
    return _case("order", upturned == 0, hits=len(found), upturned=upturned)


async def _cosine(store: PassageStore, info: CollectionInfo, found: Sequence[Hit], probe: Vector) -> SelfTestCase:
    vectors = await store.vectors(info.name, [hit.passage.id for hit in found])
    query = _unit(probe)
    offs = [
        abs(hit.cosine - float(query @ _unit(vectors[hit.passage.id]))) for hit in found if hit.passage.id in vectors
    ]
    off = max(offs, default=float("inf"))
    return _case("cosine", off <= _OFF_SCORE, hits=len(offs), off=off)


async def _own_text(store: PassageStore, info: CollectionInfo, sampled: _Sampled) -> SelfTestCase:
    """A text that occurs twice may find either place."""
    found = 0
    cosines = np.einsum("ij,ij->i", sampled.stored, sampled.fresh)
    for hit, vector, cosine in zip(sampled.hits, sampled.fresh, cosines, strict=True):
        first = await store.search(info.name, vector.astype(np.float32), 1)
        itself = first and (first[0].passage.id == hit.passage.id or first[0].cosine - float(cosine) <= _OFF_SCORE)
        found += bool(itself and cosine >= _SAME)
    lowest = float(cosines.min())
    return _case("own_text", found == len(sampled.hits), found=found, sample=len(sampled.hits), lowest=lowest)


async def _floor(
    retriever: CollectionRetriever, calibration: Calibration, embedder: Embedder, sampled: _Sampled
) -> SelfTestCase:
    """What a passage begins with, asked for, is found above its floor; unrelated questions find nothing as near."""
    right, floors = [], []
    for hit in sampled.hits:
        query = hit.passage.text[:_LONGEST_QUERY]
        vector = await embedder.embed_query(query)
        floor = calibration.floor(vector, language_of(query)).value
        floors.append(floor)
        best = (await retriever.search(query, 1)).passages
        right.append(best[0].similarity if best else 0.0)
    unrelated = []
    for question in _UNRELATED:
        best = (await retriever.search(question, 1)).passages
        unrelated.append(best[0].similarity if best else 0.0)
    near, far = statistics.median(right), statistics.median(unrelated)
    return _case("floor", near > 0.0 and near > far, right=near, unrelated=far, floor=statistics.median(floors))


async def _clear(grader: Grader, name: str, embedder: Embedder, calibration: Calibration) -> list[SelfTestCase]:
    yes: list[float] = []
    no: list[float] = []
    for number, (question, right, wrong) in enumerate(_CLEAR):
        vector = await embedder.embed_query(question)
        floor = calibration.floor(vector, language_of(question)).value
        rows = await embedder.embed_passages([right, wrong])
        passages = [
            Passage(
                id=PassageId(f"self-test-{number}-{place}"),
                source="self-test",
                text=text,
                similarity=calibration.similarity(float(vector @ row), floor),
                raw_score=float(vector @ row),
            )
            for place, (text, row) in enumerate(zip((right, wrong), rows, strict=True))
        ]
        verdicts = await grader.grade(question, passages)
        yes.append(_relevance(verdicts[0]))
        no.append(_relevance(verdicts[1]))
    agreed, refused = sum(p >= 0.5 for p in yes), sum(0.0 <= p < 0.5 for p in no)
    asked = len(_CLEAR)
    return [
        _case("clear_yes", agreed == asked, right=agreed, asked=asked, grader=name, low=max(min(yes), 0.0)),
        _case("clear_no", refused == asked, right=refused, asked=asked, grader=name, high=max(no)),
    ]


def _relevance(verdict: Verdict) -> float:
    """P(relevant), -1 for a reply that could not be read: neither a yes nor a no."""
    if verdict.relevant is None:
        return -1.0
    return verdict.confidence if verdict.relevant else 1.0 - verdict.confidence


def _unit(vectors: npt.NDArray[Any]) -> Exact:
    """Rows, or one vector, at length 1; a vector of zeros stays one."""
    rows = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    unit: Exact = rows / np.where(lengths > 0.0, lengths, 1.0)
    return unit
