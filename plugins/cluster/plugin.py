"""Ray: the blocks of large batches, of judging again and of ingestions are done by the workers of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.messages import N_
from engine.plugins import Plugin

# Imported with the declaration: jobs hold these errors, and their codes lead to their messages.
from plugins.cluster.errors import NEEDS_SERVERS, PACKAGE_MISSING
from plugins.cluster.settings import ClusterSettings

if TYPE_CHECKING:
    from components.common.i18n import Words
    from engine.distributed import Executor, Recipe
    from engine.engine import Engine
    from engine.settings import Settings

WORTH_A_CLUSTER = 100
"""Fewer blocks than these are done here before a cluster has begun: a local Ray takes 4 s to start and its workers 4 s
more (``python -m tests.benchmarks cluster``), in which threads have run some 100 questions with built-in models."""


def _executor(settings: Settings, recipe: Recipe, blocks: int, at_once: int) -> Executor | None:
    """The cluster that is named; raises ``WorkbenchError``."""
    own = settings.of(ClusterSettings)
    if not own.ray_address or blocks < WORTH_A_CLUSTER:
        return None
    if PLUGIN.missing:
        raise PACKAGE_MISSING()
    needed = {
        "WORKBENCH_MILVUS_URI": settings.milvus_uri,
        "WORKBENCH_DATABASE_URL": settings.database_url.get_secret_value(),
    }
    if missing := [name for name, value in needed.items() if not value]:
        raise NEEDS_SERVERS(missing=missing)
    from plugins.cluster.executor import ClusterExecutor, Place
    from plugins.cluster.worker_engine import with_engine

    return ClusterExecutor(Place(own.ray_address, own.ray_workers, at_once), with_engine(recipe, settings, at_once))


def _gathering(engine: Engine, words: Words, questions: int) -> None:
    """Say where so many questions would run."""
    address = engine.settings.of(ClusterSettings).ray_address
    if not address or questions < WORTH_A_CLUSTER:
        return
    from components.knowledge.draw import quiet

    said = words("On the Ray cluster {address}: so many runs at once in each of its workers.", address=address)
    quiet(said, words, key="tune_gather_cluster")


PLUGIN = Plugin(
    name="cluster",
    title=N_("Ray cluster"),
    modules=("ray",),
    packages="ray",
    settings=ClusterSettings,
    executor=_executor,
    panels={"gathering": _gathering},
)
