"""Whether a job is done by threads of this process or on a Ray cluster."""

from __future__ import annotations

from importlib.util import find_spec

from engine.errors import ClusterNeedsServers, ClusterPackageMissing
from engine.executing.cluster import Place
from engine.settings import Settings

WORTH_A_CLUSTER = 100
"""Fewer parts than these are done here before a cluster has begun: a local Ray takes 4 s to start and its workers 4 s
more (``python -m tests.benchmarks cluster``), in which threads have run some 100 questions with built-in models."""


def place_for(settings: Settings, parts: int, at_once: int) -> Place | None:
    """The cluster for a job of so many parts, of which each worker does ``at_once``; None where threads do it.

    Raises ``ClusterPackageMissing`` and ``ClusterNeedsServers``.
    """
    if not settings.ray_address or parts < WORTH_A_CLUSTER:
        return None
    require_able(settings)
    return Place(settings.ray_address, settings.ray_workers, at_once)


def require_able(settings: Settings) -> None:
    """Raise what keeps these settings from using the cluster that they name."""
    if find_spec("ray") is None:
        raise ClusterPackageMissing(package="ray")
    needed = {
        "WORKBENCH_MILVUS_URI": settings.milvus_uri,
        "WORKBENCH_DATABASE_URL": settings.database_url.get_secret_value(),
    }
    missing = [name for name, value in needed.items() if not value]
    if missing:
        raise ClusterNeedsServers(missing=missing)
