"""Passages cut to the sentences that bear on a question: what is saved, and what of the answer is kept (GH-06).

On the sample questions, each with its expected passages and the two next to the first of them, as a search brings them;
then in runs of them, passages whole and refined.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.builtin.generator import BuiltinGenerator, asking_of, choose
from engine.builtin.refiner import refined
from engine.builtin.strips import kept_text
from engine.engine import Engine
from engine.knowledge.samples import sample_sources
from engine.model.config import RunConfig
from engine.model.values import Passage
from engine.samples import SampleQuestion, multi_hop_questions, sample_questions
from engine.settings import Settings
from tests.benchmarks.documentation import asked_of, share
from tests.benchmarks.harness import Bench, Row

THRESHOLDS = (0.2, RunConfig().sentence_threshold, 0.5)
_NEAR = 2
_TOLD = 60
"""Letters by which a quotation is found again: a long one is cut at another place where less stands around it."""


@dataclass(frozen=True, slots=True)
class Refined:
    """What refinement made of all questions at one threshold."""

    threshold: float
    saved: float
    """Share of the tokens that is left out, in [0, 1]."""
    best_kept: float
    """Share of the questions whose best sentence, as the built-in generator chooses, is still given."""
    quotes_kept: float
    """Share of all sentences that the built-in generator quotes from whole passages that are still given."""
    gold_kept: float
    """Share of the expected answers in passages that are still given."""
    ms: float
    """Of one passage."""


def refinement(bench: Bench) -> Iterator[Row]:
    """Rows for each threshold."""
    for threshold in THRESHOLDS:
        found = measured(threshold, bench.sizes.refined_every)
        name = f"bearing ≥ {threshold:.1f}"
        yield Row(f"{name}: context saved", "%", (found.saved,))
        yield Row(f"{name}: best sentence of the answer kept", "%", (found.best_kept,))
        yield Row(f"{name}: sentences of the answer kept", "%", (found.quotes_kept,))
        yield Row(f"{name}: expected answer kept", "%", (found.gold_kept,))
        yield Row(f"{name}: one passage", "ms", (found.ms,))
    with Engine.open(Settings(data_dir=bench.folder)) as engine:
        engine.wait_until_ready()
        for name, refine in (("whole", False), ("refined", True)):
            yield from _answers(f"runs, passages {name}", engine, RunConfig(refine=refine), bench.sizes.refined_every)


def _answers(name: str, engine: Engine, config: RunConfig, every: int) -> Iterator[Row]:
    """What became of the questions whose expected answer is a few words, and of those without one."""
    chosen = [item for item in sample_questions()[::every] if item.gold_answers or not item.expected]
    records = [engine.run(item.question, config) for item in chosen]
    asked = [asked_of(record, item.gold_answers) for record, item in zip(records, chosen, strict=True)]
    yield share(f"{name}: answered right", [item.right for item in asked if item.answerable])
    yield share(f"{name}: unanswerable, refused", [not item.given for item in asked if not item.answerable])
    contexts = [record.context for record, item in zip(records, asked, strict=True) if item.given]
    tokens = [context.tokens for context in contexts if context]
    yield Row(f"{name}: tokens of an answer's context", "", (sum(tokens) / max(len(tokens), 1),))


def measured(threshold: float, every: int = 1) -> Refined:
    """Answerable sample questions at one threshold, all or one of ``every``."""
    count = BuiltinGenerator().count_tokens
    whole = left = quotes = kept_quotes = best = asked = passages_read = 0
    gold = kept_gold = 0
    spent = 0.0
    for item in [*sample_questions(), *multi_hop_questions()][::every]:
        passages = given_for(item)
        if not passages:
            continue
        began = time.perf_counter()
        cut = refined(item.question, passages, threshold)
        spent += time.perf_counter() - began
        texts = [kept_text(passage, cut) for passage in passages]
        chosen = choose(asking_of(item.question), passages)
        still = [_bare(quote.text)[:_TOLD] in _bare(texts[quote.marker - 1]) for quote in chosen]
        asked += bool(chosen)
        best += bool(still) and still[0]
        quotes, kept_quotes = quotes + len(still), kept_quotes + sum(still)
        whole += sum(count(passage.text) for passage in passages)
        left += sum(map(count, texts))
        passages_read += len(passages)
        held = [own for answer in item.gold_answers for own in _holding(answer, passages, texts)]
        gold, kept_gold = gold + len(held), kept_gold + sum(held)
    shares = (1 - left / whole, best / asked, kept_quotes / quotes, kept_gold / gold)
    return Refined(threshold, *shares, spent * 1000 / passages_read)


def _holding(answer: str, passages: Sequence[Passage], texts: Sequence[str]) -> list[bool]:
    """For each passage that holds an answer, whether what is given of it does."""
    return [answer in text for passage, text in zip(passages, texts, strict=True) if answer in passage.text]


def given_for(item: SampleQuestion) -> Sequence[Passage]:
    """The expected passages and those next to the first of them; none for a question without an answer."""
    stored = {
        passage.id: (source, place) for source in sample_sources() for place, passage in enumerate(source.passages)
    }
    if not item.expected:
        return ()
    source, place = stored[item.expected[0]]
    near = [source.passages[at] for at in (place - 1, place + 1) if 0 <= at < len(source.passages)][:_NEAR]
    ids = dict.fromkeys((*item.expected, *(passage.id for passage in near)))
    found = []
    for name in ids:
        own, at = stored[name]
        passage = own.passages[at]
        found.append(Passage(name, own.name, passage.text, 0.5, 0.5, section=passage.section, title=own.title))
    return found


def _bare(text: str) -> str:
    return "".join(char for char in text if char.isalnum())
