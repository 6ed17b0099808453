"""How good the built-in roles are: on the labelled sample questions, and on XQuAD where its files are at hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from engine.engine import Engine
from engine.model.config import RunConfig
from engine.model.values import RunRecord
from engine.retrieval.similarity import ANCHOR_LANGUAGES, AnchorLanguage
from engine.samples import SampleQuestion, sample_questions
from engine.settings import Settings
from tests.benchmarks.harness import Bench, Row

Asked = tuple[SampleQuestion, RunRecord]
_TOP = 5


def samples(bench: Bench) -> Iterator[Row]:
    """Every labelled sample question, run with the default settings and the built-in roles."""
    with Engine.open(Settings(data_dir=bench.folder)) as engine:
        engine.wait_until_ready()
        asked = [(item, engine.run(item.question, RunConfig())) for item in sample_questions()]
    for language in ANCHOR_LANGUAGES:
        yield from _of_language(language, [pair for pair in asked if pair[0].language == language])
    for kind in sorted({item.kind for item, _ in asked}):
        mix = Counter[str](record.outcome or "none" for item, record in asked if item.kind == kind)
        yield Row(f"samples: {kind}, runs", "", (float(mix.total()),), note=_mix(mix))
    outcomes = Counter[str](record.outcome or "none" for _, record in asked)
    yield Row("samples: all, runs", "", (float(outcomes.total()),), note=_mix(outcomes))
    yield Row("samples: time of a run", "ms", tuple(record.duration_ms for _, record in asked))


def _of_language(language: str, asked: Sequence[Asked]) -> Iterator[Row]:
    answerable = [pair for pair in asked if pair[0].expected]
    unanswerable = [pair for pair in asked if not pair[0].expected]
    yield _share(f"samples {language}: an expected passage in the first five", [_hit(*pair) for pair in answerable])
    yield Row(
        f"samples {language}: pass rate of the first round",
        "%",
        tuple(record.decisions[0].pass_rate for _, record in answerable if record.decisions),
    )
    yield _share(f"samples {language}: answered", [_answered(record) for _, record in answerable])
    yield _share(
        f"samples {language}: answered, an expected passage cited", [_cites_expected(*pair) for pair in answerable]
    )
    yield _share(
        f"samples {language}: unanswerable, abstained", [record.outcome == "abstained" for _, record in unanswerable]
    )


def xquad(bench: Bench) -> Iterator[Row]:
    """Retrieval and the grader on 24 articles of XQuAD a language; the grader by coefficients that saw no article."""
    if bench.data is None or not (bench.data / "xquad-dev.en.json").is_file():
        print("left out: no folder with xquad-dev.en.json and xquad-dev.zh.json (--data)")
        return
    # The fitting script needs scikit-learn and the built-in model.
    from tests.fitting.fit_grader import Vectors

    vectors = Vectors(bench.vectors or bench.folder / "vectors")
    for language in ANCHOR_LANGUAGES:
        yield from _retrieval(bench.data, language, vectors)
        yield from _grader(bench.data, language, vectors)


def _retrieval(data: Path, language: str, vectors: object) -> Iterator[Row]:
    from tests.fitting.fit_grader import Vectors, read_xquad

    assert isinstance(vectors, Vectors)
    paragraphs, questions = read_xquad(data / f"xquad-dev.{language}.json")
    matrix = np.stack([vectors.passage(text) for _, text in paragraphs])
    ranks = []
    for asked in questions:
        cosines = matrix @ vectors.query(asked.question)
        ranks.append(int((cosines > cosines[asked.paragraph]).sum()))
    yield _share(f"XQuAD {language}: right paragraph first", [rank == 0 for rank in ranks])
    yield _share(f"XQuAD {language}: right paragraph in the first five", [rank < _TOP for rank in ranks])


def _grader(data: Path, language: AnchorLanguage, vectors: object) -> Iterator[Row]:
    from sklearn.metrics import f1_score, roc_auc_score

    from engine.builtin.evidence import FEATURES
    from tests.fitting.fit_grader import SETS, Vectors, cross_validated, pairs_of

    assert isinstance(vectors, Vectors)
    pairs = pairs_of(data, language, vectors)
    chances = cross_validated(pairs, FEATURES)
    for name in ("easy", "answer cut out"):
        chosen = [at for at, pair in enumerate(pairs) if pair.kind in SETS[name]]
        truth, chance = [pairs[at].relevant for at in chosen], chances[chosen]
        note = f"{len(chosen)} pairs, cross-validated by article"
        yield Row(f"XQuAD {language}: grader AUC, {name}", "", (float(roc_auc_score(truth, chance)),), note=note)
        yield Row(f"XQuAD {language}: grader F1, {name}", "", (float(f1_score(truth, chance >= 0.5)),), note=note)


def _hit(item: SampleQuestion, record: RunRecord) -> bool:
    first = record.rounds[0].candidates[:_TOP] if record.rounds else ()
    return any(candidate.passage.id in item.expected for candidate in first)


def _answered(record: RunRecord) -> bool:
    return record.outcome in ("answered", "answered_forced")


def _cites_expected(item: SampleQuestion, record: RunRecord) -> bool:
    return _answered(record) and any(citation.passage_id in item.expected for citation in record.citations)


def _share(name: str, hits: Sequence[bool]) -> Row:
    return Row(name, "%", (sum(hits) / max(len(hits), 1),), note=f"{sum(hits)} of {len(hits)}")


def _mix(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())
