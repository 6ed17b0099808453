"""The variables of a team."""

from __future__ import annotations

from pydantic import BaseModel, Field

from engine.messages import N_


class TeamSettings(BaseModel):
    """What watches replicas, and what they share."""

    metrics: bool = Field(False, description=N_("Whether `/api/metrics` has figures for Prometheus (extra `team`)."))
    model_calls_at_once: int = Field(
        16,
        ge=1,
        le=10_000,
        description=N_("Calls that one model server is given at the same time by all that share the database."),
    )
    model_calls_per_second: float = Field(
        0.0,
        ge=0,
        le=100_000,
        description=N_("Calls a second that one model server is given by all that share the database; 0: any number."),
    )
