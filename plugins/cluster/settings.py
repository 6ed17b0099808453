"""The variables of the Ray cluster."""

from __future__ import annotations

import re

from pydantic import BaseModel, Field, field_validator
from pydantic_core import PydanticCustomError

from engine.messages import N_

_ADDRESS = re.compile(r"auto|local|(ray://)?[\w.\-\[\]:]+:\d{1,5}")


class ClusterSettings(BaseModel):
    """Cluster to use, and how much of it."""

    ray_address: str = Field(
        "",
        description=N_(
            "Ray cluster for large batches, regrading and ingestion: `auto` for the one of this machine's node, "
            "`ray://host:port`, or `local` for processes of this machine alone; empty: threads of this process. "
            "It needs a Milvus server and a PostgreSQL database."
        ),
    )
    ray_workers: int = Field(
        0,
        ge=0,
        le=10_000,
        description=N_("Worker processes of one job on the cluster; 0: one for each of its processors."),
    )

    @field_validator("ray_address")
    @classmethod
    def _cluster_address(cls, value: str) -> str:
        address = value.strip()
        if address and not _ADDRESS.fullmatch(address):
            raise PydanticCustomError(
                "cluster_address", "it must be `auto`, `local`, `ray://host:port`, `host:port`, or empty"
            )
        return address
