"""Bodies of the requests about people."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from engine.model.people import Role
from plugins.team.tokens import MOST_DAYS, USUAL_DAYS


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TokenRequest(_Body):
    """Body of ``POST /api/tokens``."""

    name: StrictStr = Field(max_length=1000, description="The program that is to use it.")
    role: Role = "viewer"
    days: StrictInt = Field(USUAL_DAYS, ge=1, le=MOST_DAYS)
    collections: list[StrictStr] | None = Field(None, max_length=200, description="The only ones that it may read.")


class GroupsRequest(_Body):
    """Body of ``PUT /api/collections/{name}/groups``."""

    groups: list[Annotated[StrictStr, Field(max_length=200)]] = Field(max_length=200)
