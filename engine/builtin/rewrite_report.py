"""How a built-in rewrite is told of: as an invocation with its whole input and output."""

from __future__ import annotations

import dataclasses
import json

from engine.model.config import BUILTIN
from engine.model.values import Message, ModelCall
from engine.roles import RewriteProposal, RewriteRequest


def told(request: RewriteRequest, proposal: RewriteProposal, began: float, ended: float) -> ModelCall:
    """The invocation for the record; times in milliseconds since the run began."""
    reply = json.dumps(dataclasses.asdict(proposal), ensure_ascii=False)
    return ModelCall(
        role="rewriter",
        node="rewrite",
        round=len(request.history),
        model=BUILTIN,
        messages=(Message("user", json.dumps(dataclasses.asdict(request), ensure_ascii=False)),),
        reply=reply,
        # Read back, as a stored record is: JSON has lists where a dataclass has tuples.
        parsed=json.loads(reply),
        start_ms=began,
        duration_ms=ended - began,
        built_in=True,
    )
