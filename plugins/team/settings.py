"""The variables of a team."""

from __future__ import annotations

from pydantic import BaseModel, Field

from engine.messages import N_


class TeamSettings(BaseModel):
    """What watches replicas."""

    metrics: bool = Field(False, description=N_("Whether `/api/metrics` has figures for Prometheus (extra `team`)."))
