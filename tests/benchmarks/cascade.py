"""What a cascade saves, and what it costs in right decisions: the built-in grader before a chat model.

``python -m tests.benchmarks cascade --model openai:NAME --url http://HOST:PORT/v1`` asks what the benchmark ``models``
has not asked yet of the same model. Of XQuAD, and of questions asked in other words: cuts are chosen on one half,
figures are of the other, next to those of the default cuts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from engine.model.config import BUILTIN, RoleModel, RunConfig
from engine.model.decide import by_cut
from engine.model.values import Verdict
from engine.workflows.run_resources import grader_of
from tests.benchmarks.harness import Bench, Row
from tests.benchmarks.labelled_pairs import LabelledPair, halves, labelled_pairs
from tests.benchmarks.model_grading import PROMPTS, graded, kept_replies, settings_of, share_of, similarity_of
from tests.fitting.fit_grader import Vectors

_SETS = ("XQuAD", "other words")
_STEPS = tuple(round(place / 20, 2) for place in range(21))


@dataclass(frozen=True, slots=True)
class Decided:
    """One pair with what both graders say of it."""

    pair: LabelledPair
    cheap: float | None
    dear: float | None
    """P(relevant) by the screener and by the grader; None where unreadable."""

    def alone(self) -> bool:
        """Whether the grader alone decides right."""
        return (self.dear is not None and self.dear >= 0.5) == self.pair.relevant

    def in_cascade(self, cuts: RunConfig) -> tuple[bool, bool]:
        """Whether it is decided right, and whether the grader was asked."""
        relevant = None if self.cheap is None else self.cheap >= 0.5
        sure = 0.0 if self.cheap is None else max(self.cheap, 1 - self.cheap)
        settled = by_cut(Verdict(relevant, sure, ""), cuts)
        return (self.alone(), True) if settled is None else (settled.relevant == self.pair.relevant, False)


def chosen(learnt: Sequence[Decided]) -> RunConfig:
    """The cuts with the fewest calls that decide at least as many pairs right as the grader alone.

    Of equals those with the widest band.
    """
    least = sum(item.alone() for item in learnt)
    best, fewest = RunConfig(cascade_low=0, cascade_high=1), len(learnt) + 1
    for low, high in sorted(product(_STEPS, _STEPS), key=lambda cuts: cuts[0] - cuts[1]):
        if low > high:
            continue
        cuts = replace(best, cascade_low=low, cascade_high=high)
        found = [item.in_cascade(cuts) for item in learnt]
        asked = sum(called for _, called in found)
        if sum(right for right, _ in found) >= least and asked < fewest:
            best, fewest = cuts, asked
    return best


def cascade(bench: Bench) -> Iterator[Row]:
    """Rows: right decisions by the grader alone and in the cascade, and the share of calls that is left."""
    drawn = labelled_pairs(bench.data, Vectors(bench.vectors or bench.folder), bench.sizes.drawn)
    if not bench.model:
        print("cascade left out: it needs --model")
        return
    for name in _SETS:
        pairs = [pair for pair in drawn if pair.of == name]
        half, found = halves(drawn), list(_both(bench, pairs))
        learnt, apart = ([item for item in found if half[item.pair.group] == side] for side in ("fit", "apart"))
        if learnt and apart:
            yield from _rows(f"{name} ({len(learnt)} + {len(apart)})", apart, chosen(learnt))


def _rows(name: str, apart: Sequence[Decided], cuts: RunConfig) -> Iterator[Row]:
    hits = {
        "right, grader alone": [item.alone() for item in apart],
        "right, screener alone": [((item.cheap or 0.0) >= 0.5) == item.pair.relevant for item in apart],
    }
    for own in (cuts, RunConfig()):
        decided = [item.in_cascade(own) for item in apart]
        between = f"{own.cascade_low:g} to {own.cascade_high:g}"
        hits[f"right, {between}"] = [right for right, _ in decided]
        hits[f"calls, {between}"] = [asked for _, asked in decided]
    for what, values in hits.items():
        if shares := share_of(values, [item.pair.group for item in apart]):
            yield Row(f"{name}: {what}", "%", (shares[0],), note=f"95 %: {shares[1]:.2f}–{shares[2]:.2f}")


def _both(bench: Bench, pairs: Sequence[LabelledPair]) -> Iterator[Decided]:
    settings = settings_of(bench)
    said: list[dict[str, float | None]] = []
    for name, how in ((BUILTIN, ""), (bench.model, PROMPTS)):
        kept = kept_replies(bench, "models", name)
        grader = grader_of(RoleModel(name), settings, similarity_of)
        said.append({pair.key: one.p for pair, one in graded(pairs, grader, kept, how)})
    cheap, dear = said
    yield from (Decided(pair, cheap[pair.key], dear[pair.key]) for pair in pairs if pair.key in dear)
