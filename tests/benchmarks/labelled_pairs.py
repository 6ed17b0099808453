"""Pairs of a question and a passage, labelled before any model saw them, in English and Chinese.

Drawn by a fixed seed. XQuAD where its files are at hand: the passage of the question, and the one of the same article
that the built-in embedder puts nearest among those without the answer. Questions of our own writing whose answer is
said in other words (``other_words.jsonl`` and ``tests/fitting/paraphrases.jsonl``), each with passages of its words
that do not answer. The labelled questions of the samples, vague ones left out: what else a search puts first is taken
as not relevant. RGB where ``DIR/rgb/en.json`` and ``zh.json`` are at hand.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np

from engine.knowledge.samples import sample_sources
from engine.model.values import Passage, PassageId
from engine.retrieval.similarity import ANCHOR_LANGUAGES, AnchorLanguage, similarity
from engine.samples import SampleQuestion, sample_questions
from tests.fitting.fit_grader import PARAPHRASES, Array, Asked, Similarities, Vectors, read_xquad

Half = Literal["fit", "apart"]
SetName = Literal["XQuAD", "other words", "samples", "RGB"]
SEED = 33
QUESTIONS = 40
"""Of XQuAD and RGB, a language."""
OTHER_WORDS = Path(__file__).with_name("other_words.jsonl")


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A question with one passage."""

    of: SetName
    language: AnchorLanguage
    group: str
    """What is drawn and split as one: an article, whose questions are the same in both languages, or a question."""
    question: str
    passage: Passage
    """Its similarity is that of the built-in embedder."""
    relevant: bool
    assumed: bool = False
    """The label says only that no one named the passage."""
    gold: str = ""
    """The answer, where the set has one."""
    other: str = field(default="", compare=False)
    """An answer to another question about the same passage."""

    @property
    def key(self) -> str:
        content = "\0".join((self.question, self.passage.heading, self.passage.text))
        return hashlib.sha256(content.encode()).hexdigest()[:20]


def labelled_pairs(data: Path | None, vectors: Vectors, questions: int = QUESTIONS) -> list[LabelledPair]:
    """Every pair, in an order drawn by question: what was measured when a run stops is a fair part of all."""
    found: list[LabelledPair] = []
    for language in ANCHOR_LANGUAGES:
        near = Similarities(vectors, language)
        found += _own_words(language, vectors, near)
        found += _of_samples(language, vectors)
        if data is not None and (data / f"xquad-dev.{language}.json").is_file():
            found += _of_xquad(data / f"xquad-dev.{language}.json", language, vectors, near, questions)
        if data is not None and (data / "rgb" / f"{language}.json").is_file():
            found += _of_rgb(data / "rgb" / f"{language}.json", language, vectors, near, questions)
    return sorted(found, key=lambda pair: (drawn(pair.question), pair.key))


def halves(pairs: Iterable[LabelledPair]) -> dict[str, Half]:
    """Which half each group is in: every other one of a set, by draw, so that both halves have of all sets."""
    groups: dict[SetName, set[str]] = {name: set() for name in get_args(SetName)}
    for pair in pairs:
        groups[pair.of].add(pair.group)
    names = get_args(Half)
    return {
        group: cast(Half, names[place % 2])
        for of in groups.values()
        for place, group in enumerate(sorted(of, key=drawn))
    }


def drawn(text: str) -> str:
    """A key that puts texts into the order of a draw by the fixed seed."""
    return hashlib.sha256(f"{SEED}:{text}".encode()).hexdigest()


def passage_of(source: str, text: str, cosine: float, floor: float, heading: str = "") -> Passage:
    """A passage as a search would hand it over."""
    return Passage(PassageId(f"{source}#1"), source, text, similarity(cosine, floor), cosine, section=heading)


def other_words(language: AnchorLanguage) -> list[dict[str, Any]]:
    """Questions of our own writing with a ``right`` passage in other words and ``wrong`` ones in theirs."""
    lines = [line for path in (OTHER_WORDS, PARAPHRASES) for line in path.read_text(encoding="utf-8").splitlines()]
    return [item for item in map(json.loads, lines) if item["language"] == language]


def _own_words(language: AnchorLanguage, vectors: Vectors, near: Similarities) -> Iterator[LabelledPair]:
    for item in other_words(language):
        query = vectors.query(item["question"])
        floor = near.floor(query)
        for place, text in enumerate((item["right"], *item["wrong"])):
            passage = passage_of(f"{item['id']}-{place}", text, float(vectors.passage(text) @ query), floor)
            yield LabelledPair("other words", language, item["id"], item["question"], passage, place == 0)


def _of_samples(language: AnchorLanguage, vectors: Vectors) -> Iterator[LabelledPair]:
    stored = [item for source in sample_sources() for item in source.passages if f".{language}." in item.source]
    matrix = np.stack([vectors.passage(item.searched("path")) for item in stored])
    near = Similarities(vectors, language, "path")
    for item in sample_questions():
        if item.language != language or item.kind == "vague":
            continue
        query = vectors.query(item.question)
        floor, cosines = near.floor(query), matrix @ query
        for at in _of_sample(item, [passage.id for passage in stored], cosines.astype(float)):
            shown = stored[at]
            passage = Passage(
                shown.id, shown.source, shown.text, similarity(float(cosines[at]), floor), float(cosines[at]),
                shown.section, shown.title, shown.ordinal, context=shown.context,
            )  # fmt: skip
            right = shown.id in item.expected
            assumed = not right and bool(item.expected)
            yield LabelledPair("samples", language, item.id, item.question, passage, right, assumed)


def _of_sample(item: SampleQuestion, ids: Sequence[PassageId], cosines: Array) -> Iterator[int]:
    """One of the expected passages, and the nearest of the others; two of those where nothing answers."""
    order = sorted(range(len(ids)), key=lambda at: -cosines[at])
    if item.expected:
        yield ids.index(random.Random(drawn(item.id)).choice(item.expected))
    others = [at for at in order if ids[at] not in item.expected]
    yield from others[: 1 if item.expected else 2]


def _of_xquad(
    path: Path, language: AnchorLanguage, vectors: Vectors, near: Similarities, count: int
) -> Iterator[LabelledPair]:
    paragraphs, asked = read_xquad(path)
    matrix = np.stack([vectors.passage(text) for _, text in paragraphs])
    chosen = sorted(range(len(asked)), key=lambda at: drawn(f"{language}{at}"))[:count]
    for at in chosen:
        item = asked[at]
        query = vectors.query(item.question)
        cosines, floor = matrix @ query, near.floor(query)
        others = [one.answer for one in asked if one.paragraph == item.paragraph and one.answer != item.answer]
        other = random.Random(drawn(item.question)).choice(others) if others else ""
        for place in (item.paragraph, _hardest(item, paragraphs, cosines.astype(float))):
            text, source = paragraphs[place][1], f"xquad-{language}-{place}"
            passage = passage_of(source, text, float(cosines[place]), floor)
            right = place == item.paragraph
            group = f"article {item.article}"
            yield LabelledPair("XQuAD", language, group, item.question, passage, right, False, item.answer, other)


def _hardest(asked: Asked, paragraphs: Sequence[tuple[int, str]], cosines: Array) -> int:
    """The nearest paragraph without the answer: of the article where there is one."""

    def rank(at: int) -> tuple[bool, float]:
        return paragraphs[at][0] != asked.article, -cosines[at]

    without = [at for at, (_, text) in enumerate(paragraphs) if asked.answer.casefold() not in text.casefold()]
    return min((at for at in without if at != asked.paragraph), key=rank)


def _of_rgb(
    path: Path, language: AnchorLanguage, vectors: Vectors, near: Similarities, count: int
) -> Iterator[LabelledPair]:
    """The nearest passage of either label; RGB is a JSON object a line."""
    items = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    for item in sorted(items, key=lambda item: drawn(f"{language}{item['id']}"))[:count]:
        query = vectors.query(item["query"])
        floor = near.floor(query)
        for label in ("positive", "negative"):
            if not item[label]:
                continue
            cosine, text = max((float(vectors.passage(text) @ query), text) for text in item[label])
            passage = passage_of(f"rgb-{language}-{item['id']}-{label}", text, cosine, floor)
            yield LabelledPair("RGB", language, f"rgb {item['id']}", item["query"], passage, label == "positive")
