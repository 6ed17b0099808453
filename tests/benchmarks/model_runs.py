"""A chat model in whole runs, next to the built-in roles on the same questions.

``python -m tests.benchmarks model-runs --model openai:NAME --url http://HOST:PORT/v1 --data DIR``. As grader and
generator on documentation that was kept apart, where it is at hand (see the benchmark ``documentation``); as grader
alone on questions in other words than their answers, where it is also calibrated on what the benchmark ``models``
asked it about the other half. ``--questions N`` draws so many; what was asked is kept and not asked again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from statistics import median
from typing import Any

from engine.engine import Engine
from engine.evaluation.fit_scores import table_of
from engine.evaluation.measured_models import Entry, Found
from engine.knowledge.items import IngestItem
from engine.llm.grader import ChatGrader
from engine.model.config import BUILTIN, RoleModel, RunConfig, config_from_dict
from engine.model.grader_fit import GraderFit
from engine.retrieval.similarity import ANCHOR_LANGUAGES
from tests.benchmarks.documentation import TREES, Asked, asked, filled, ingested, opened
from tests.benchmarks.harness import Bench, Row
from tests.benchmarks.labelled_pairs import LabelledPair, drawn, halves, labelled_pairs, other_words
from tests.benchmarks.model_grading import PROMPTS, graded, kept_replies, settings_of, share_of
from tests.benchmarks.models import circumstances, write
from tests.docs.model_tables import runs_table
from tests.fitting.fit_grader import Vectors

_ALL, _WITHOUT = "words_all", "words_without"
_COLLECTIONS: Mapping[str, Callable[[Mapping[str, Any]], Sequence[str]]] = {
    _ALL: lambda item: (item["right"], *item["wrong"]),
    _WITHOUT: lambda item: item["wrong"],
}
"""Collections of the questions in other words, by name: with the passages that answer, and without them."""


def model_runs(bench: Bench) -> Iterator[Row]:
    """Rows of the figures; ``--record`` puts them into the tables of the documentation."""
    if not bench.model:
        print("left out: it needs --model")
        return
    with opened(bench) as engine:
        found = Found(runs=[*of_trees(bench, engine), *of_other_words(bench, engine)])
    print(runs_table(found), flush=True)
    if bench.record:
        print(f"kept in {write(found)}")
    for entry in found.runs:
        for figure in ("right", "wrong", "refused"):
            if entry[figure]:
                yield Row(f"{entry['of']}, {entry['model']}: {figure}", "%", (entry[figure][0],))


def of_trees(bench: Bench, engine: Engine) -> Iterator[Entry]:
    """The first questions of a draw about each tree that was kept apart, in the language of its pages."""
    for path in sorted(TREES.glob("*.json")):
        tree = json.loads(path.read_text(encoding="utf-8"))
        if not tree.get("kept_apart") or bench.data is None or not (bench.data / path.stem).is_dir():
            continue
        collection = ingested(engine, bench.data / path.stem, "path")
        questions = sorted((*tree["answerable"], *tree["unanswerable"]), key=lambda item: drawn(item["en"]))
        for name in (BUILTIN, bench.model):
            config = _config(collection, grader=name, generator=name)
            kept = kept_replies(bench, "documentation", name)
            found = []
            for item in questions[: bench.sizes.drawn]:
                found.append(
                    kept.of(f"{PROMPTS} {item['en']}", partial(_made, asked, engine, item, tree["language"], config))
                )
            yield _entry(bench, f"{tree['name']}, kept apart", "grader, generator", name, found)


def of_other_words(bench: Bench, engine: Engine) -> Iterator[Entry]:
    """The half of the questions that is kept apart, among all passages and among those that answer none of them."""
    pairs = labelled_pairs(bench.data, Vectors(bench.vectors or bench.folder), bench.sizes.drawn)
    half = halves(pairs)
    items = [item for language in ANCHOR_LANGUAGES for item in other_words(language)]
    within = {
        name: filled(engine, [_item(item, text) for item in items for text in texts(item)], name, "none")
        for name, texts in _COLLECTIONS.items()
    }
    learnt = [pair for pair in pairs if half[pair.group] == "fit"]
    given = partial(_fit, bench, learnt)
    for name, fit in ((BUILTIN, None), (bench.model, None), (bench.model, given)):
        kept = kept_replies(bench, "other-words", name)
        found = []
        for collection in within:
            grader = engine.grader_fits.keep(fit(collection)).name if fit else name
            config = _config(collection, grader=grader)
            for item in items:
                if half[item["id"]] == "apart":
                    key = f"{PROMPTS} {grader} {collection} {item['question']}"
                    found.append(kept.of(key, partial(_made, _read, engine, item, config)))
        yield _entry(bench, "other words", "grader", name, found, len(learnt) if fit else 0)


def _made(ask: Callable[..., Asked], *given: object) -> dict[str, Any]:
    return asdict(ask(*given))


def _config(collection: str, **models: str) -> RunConfig:
    """Settings as shipped; reasons of verdicts change no figure, and cost a call each."""
    return config_from_dict({"collection": collection, "reasons": "never", "models": models})


def _item(item: Mapping[str, Any], text: str) -> IngestItem:
    return IngestItem(f"{hashlib.sha256(text.encode()).hexdigest()[:8]}.txt", data=text.encode())


def _fit(bench: Bench, learnt: Sequence[LabelledPair], collection: str) -> GraderFit:
    """The calibration of the chat grader on pairs, as one that people keep for a collection."""
    grader = ChatGrader(RoleModel(bench.model), settings_of(bench))
    given = graded(learnt, grader, kept_replies(bench, "models", bench.model), PROMPTS)
    known = [(one.raw, pair.relevant) for pair, one in given if one.raw is not None and one.kind == "token"]
    table = table_of([raw for raw, _ in known], [label for _, label in known])
    return GraderFit("calibration", bench.model, collection, {**table, "of": "token"}, len(known))


def _read(engine: Engine, item: Mapping[str, Any], config: RunConfig) -> Asked:
    """One question: right is an answer for which the passage that answers was read."""
    record = engine.run(item["question"], config)
    given = record.outcome in ("answered", "answered_forced")
    read = [passage.text.strip() for passage in record.context.passages] if record.context else []
    right = given and item["right"].strip() in read
    return Asked(config.collection == _ALL, None, given, right, record.duration_ms)


def _entry(
    bench: Bench, of: str, roles: str, name: str, found: Sequence[dict[str, Any] | None], fitted_on: int = 0
) -> Entry:
    """Figures of a model in whole runs; what is not kept, where nothing may be asked, is left out."""
    seen = [Asked(**plain) for plain in found if plain is not None]
    answerable = [item for item in seen if item.answerable]
    others = [item for item in seen if not item.answerable]
    return {
        "model": BUILTIN if name == BUILTIN else bench.called or name,
        **circumstances(),
        "of": of,
        "roles": roles,
        **({"fitted_on": fitted_on} if fitted_on else {}),
        "answerable": len(answerable),
        "right": _share(item.right for item in answerable),
        "wrong": _share(item.given and not item.right for item in answerable),
        "unanswerable": len(others),
        "refused": _share(not item.given for item in others),
        # What a calibrated grader says is in the cache already.
        "seconds": round(median(item.ms for item in seen) / 1000, 1) if seen and not fitted_on else None,
    }


def _share(hits: Iterable[bool]) -> list[float] | None:
    hits = list(hits)
    return share_of(hits, [str(place) for place in range(len(hits))])
