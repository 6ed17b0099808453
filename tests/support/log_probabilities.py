"""Log-probabilities as model servers list them, and servers that are known to list none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from engine.llm.chat import weighing

if TYPE_CHECKING:
    from tests.support.ollama_stand_in.recorder import RecordedRequest

WeighFunction: TypeAlias = "Callable[[RecordedRequest], Mapping[str, float] | None]"
"""The probabilities of the first token, the one that is said first; None for a server that lists none."""


def listed(chances: Mapping[str, float]) -> dict[str, Any]:
    """One token with those that were as probable or less."""
    every = [{"token": token, "logprob": math.log(chance)} for token, chance in chances.items()]
    return {**every[0], "top_logprobs": every}


def started(address: str, models: Iterable[str], weigh: WeighFunction | None) -> None:
    """Remember of a server that it lists none; of one that does nothing, nor of another one at its port before."""
    for name in models:
        weighing.pop((address, name), None)
        if weigh is None:
            weighing[address, name] = math.inf
