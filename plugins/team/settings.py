"""The variables of a team."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, field_validator
from pydantic_settings import NoDecode

from engine.messages import N_


class TeamSettings(BaseModel):
    """Roles and quotas of people, monitoring of replicas, and what they share."""

    roles_claim: str = Field(
        "groups",
        min_length=1,
        description=N_(
            "Claim of the sign-in that lists a person's groups; dots lead into claims within claims "
            "(`realm_access.roles`)."
        ),
    )
    admins: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description=N_("Groups, or confirmed e-mail addresses, of those who are admins where people sign in.")
    )
    editors: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description=N_(
            "Groups, or confirmed e-mail addresses, of those who are editors where people sign in; everybody else who "
            "signs in is a viewer."
        ),
    )
    sign_in_hours: float = Field(
        12.0,
        gt=0,
        le=720,
        description=N_("Hours that a sign-in holds; what the provider changes of a person counts from the next one."),
    )
    runs_per_person: int = Field(
        0, ge=0, le=256, description=N_("Runs that one person who signed in may have under way; 0: no limit.")
    )
    runs_per_person_hour: int = Field(
        0,
        ge=0,
        le=100_000,
        description=N_("Runs that one person who signed in may begin within an hour, batches included; 0: no limit."),
    )
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

    @field_validator("admins", "editors", mode="before")
    @classmethod
    def _split_names(cls, value: Any) -> Any:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value
