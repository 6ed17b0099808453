"""Whether a gate can be met at all, said before anything is run (SC-05)."""

from __future__ import annotations

from engine.errors import GateOutOfReach
from engine.model.config import RunConfig, declared


def gate_warnings(config: RunConfig) -> tuple[GateOutOfReach, ...]:
    """What keeps the gate of ``config`` from being met by any result; nothing where it can be."""
    if not declared(config.workflow).gated:
        return ()
    found = _of_count(config) if config.gate == "min_relevant" else _of_rate(config)
    return (found,) if found else ()


def _of_count(config: RunConfig) -> GateOutOfReach | None:
    rounds = config.max_rewrites + 1 if config.context == "union" else 1
    if config.min_relevant > config.top_k * rounds:
        return GateOutOfReach.ever(wanted=config.min_relevant, most=config.top_k * rounds)
    if config.min_relevant > config.top_k:
        return GateOutOfReach.in_one_round(wanted=config.min_relevant, top_k=config.top_k)
    return None


def _of_rate(config: RunConfig) -> GateOutOfReach | None:
    """Asked as :func:`engine.model.decide.decide` asks, so that rounding cannot tell them apart."""
    needed = next(n for n in range(config.top_k + 1) if n / config.top_k >= config.grade_pass_threshold)
    if needed <= 1:
        return None
    return GateOutOfReach.by_one_passage(
        threshold=f"{config.grade_pass_threshold:.4g}", needed=needed, kept=config.top_k
    )
