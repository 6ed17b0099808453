"""Choose the passages that the generator is given, their order, and what its token budget cuts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from engine.builtin.strips import GAP, kept_text
from engine.flow import workflow
from engine.model.config import RunConfig
from engine.model.decide import kept_passages, passed_ids
from engine.model.surroundings import Sources, expanded, from_store
from engine.model.values import WEAK_POINT, Context, Passage, PassageId, Round, Sentence, Surrounding

Cut = Mapping[PassageId, tuple[Sentence, ...]]
_WHOLE: Cut = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Scored:
    passage: Passage
    p_relevant: float

    @property
    def order(self) -> tuple[float, float, str]:
        return -self.p_relevant, -self.passage.similarity, self.passage.id


def gap_for(config: RunConfig) -> str:
    """Return what stands where strips were left out: the built-in generator would quote it."""
    return "" if config.models.generator.built_in else GAP


def assemble(
    rounds: Sequence[Round],
    config: RunConfig,
    token_budget: int,
    count_tokens: Callable[[str], int],
    cut: Cut = _WHOLE,
    *,
    surroundings: Sequence[Surrounding] | None = None,
) -> Context:
    """Passed passages of all rounds (``union``) or the last one, by P(relevant), best similarity, id (SC-07).

    Cut at ``token_budget`` tokens, the best passage always given; of a refined one the kept strips count, ``cut`` has
    them. With nothing passed the context is empty, unless ``answer_unverified`` lets the best unverified passages in;
    ``verified`` then is false. In a workflow that judges no passages they are all unverified. What is left of the
    budget goes to what surrounds them: ``surroundings`` were read around the candidates, None where nothing was.
    """
    given = _passages(rounds, config, token_budget, count_tokens, cut)
    if surroundings is None:
        return given
    return surrounded(given, Sources(from_store(rounds).values(), surroundings), config, count_tokens, cut)


def surrounded(
    context: Context, sources: Sources, config: RunConfig, count_tokens: Callable[[str], int], cut: Cut
) -> Context:
    """A context with what surrounds its passages; only kept strips count, and surroundings without any are noted."""
    gap = gap_for(config)
    made = expanded(context, sources, config.expand, lambda item: kept_text(item, cut, gap), count_tokens)
    given = {name for names in made.around.values() for name in names}
    near = (item.id for passage in made.passages for item in sources.near(passage, config.expand))
    shown = (name for name in near if name in cut and (name in given or not any(item.kept for item in cut[name])))
    return replace(made, refined={**made.refined, **{name: cut[name] for name in shown}})


def _passages(
    rounds: Sequence[Round], config: RunConfig, token_budget: int, count_tokens: Callable[[str], int], cut: Cut
) -> Context:
    considered = rounds if config.context == "union" else rounds[-1:]
    gap = gap_for(config)

    def within(passages: Sequence[Passage], *, verified: bool) -> Context:
        sized = [(item, count_tokens(kept_text(item, cut, gap))) for item in passages]
        return _within(sized, token_budget, cut, verified=verified)

    passed = _best([(current, passed_ids(current, config)) for current in considered])
    if passed or (workflow(config.workflow).grades and not config.answer_unverified):
        return within(passed, verified=True)
    kept = [(current, [item.id for item in kept_passages(current, config)]) for current in considered]
    return within(_best(kept)[: config.top_k], verified=False)


def _best(chosen: Sequence[tuple[Round, Sequence[PassageId]]]) -> list[Passage]:
    """Distinct passages, each as the round saw it that found it most similar."""
    best: dict[PassageId, _Scored] = {}
    for current, ids in chosen:
        wanted = set(ids)
        for item in current.candidates:
            # A question that was not answered well is worth knowing to the score, and no evidence for an answer.
            if item.passage.id not in wanted or item.passage.id.startswith(WEAK_POINT):
                continue
            verdict = current.verdicts.get(item.passage.id)
            scored = _Scored(item.passage, verdict.p_relevant if verdict else 0.0)
            former = best.get(item.passage.id)
            if former is None or scored.order < former.order:
                best[item.passage.id] = scored
    return [scored.passage for scored in sorted(best.values(), key=lambda scored: scored.order)]


def _within(sized: Sequence[tuple[Passage, int]], token_budget: int, strips: Cut, *, verified: bool) -> Context:
    given: list[Passage] = []
    cut: list[PassageId] = []
    used = 0
    for passage, tokens in sized:
        # Once one is cut, all after it are: a shorter, worse passage must not overtake a better one.
        if cut or (given and used + tokens > token_budget):
            cut.append(passage.id)
            continue
        given.append(passage)
        used += tokens
    return Context(
        tuple(given),
        tuple(cut),
        verified=verified,
        tokens=used,
        token_budget=token_budget,
        refined={item.id: strips[item.id] for item in given if item.id in strips},
    )
