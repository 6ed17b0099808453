"""Whether a gate can be met at all, said before anything is run (SC-05)."""

from __future__ import annotations

from engine.errors import RunWarning
from engine.model.config import RunConfig, declared


def gate_warnings(config: RunConfig) -> tuple[RunWarning, ...]:
    """What keeps the gate of ``config`` from being met by any result; nothing where it can be."""
    if not declared(config.workflow).gated:
        return ()
    found = _of_count(config) if config.gate == "min_relevant" else _of_rate(config)
    return (found,) if found else ()


def _of_count(config: RunConfig) -> RunWarning | None:
    rounds = config.max_rewrites + 1 if config.context == "union" else 1
    if config.min_relevant > config.top_k * rounds:
        return RunWarning.gate_out_of_reach(wanted=config.min_relevant, most=config.top_k * rounds)
    if config.min_relevant > config.top_k:
        return RunWarning.gate_needs_rewrite(wanted=config.min_relevant, top_k=config.top_k)
    return None


def _of_rate(config: RunConfig) -> RunWarning | None:
    """Asked as :func:`engine.model.decide.decide` asks, so that rounding cannot tell them apart."""
    needed = next(n for n in range(config.top_k + 1) if n / config.top_k >= config.grade_pass_threshold)
    if needed <= 1:
        return None
    return RunWarning.gate_needs_passages(
        threshold=f"{config.grade_pass_threshold:.4g}", needed=needed, kept=config.top_k
    )
