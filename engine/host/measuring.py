"""The figures that an engine gives to Prometheus, where its settings want them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from engine.errors import InvalidSettings
from engine.host.health import ANSWERING, look_at_all
from engine.library.values import JobStatus
from engine.messages import N_
from engine.model.events import Event
from engine.model.loop_thread import LoopThread
from engine.model.values import RunId
from engine.plugins import Part
from engine.running.resources import Resources

if TYPE_CHECKING:
    from engine.host.metrics import Metrics

Append = Callable[[RunId, Event], None]


def measured(
    loop: LoopThread, resources: Resources, active_runs: Callable[[], int], jobs: Callable[[], Sequence[JobStatus]]
) -> Metrics | None:
    """What counts the runs of an engine; None where it is not wanted.

    Raises ``InvalidSettings`` where the package that it needs is not installed.
    """
    if not resources.settings.metrics:
        return None
    try:
        from engine.host.metrics import Metrics
    except ImportError:
        why = N_("the package prometheus-client is not installed; it comes with the extra `team`")
        raise InvalidSettings.unusable(name="WORKBENCH_METRICS", why=why) from None
    return Metrics(active_runs=active_runs, jobs=jobs, health=lambda: loop.call(look_at_all(resources, (), ANSWERING)))


def heard_by(append: Append, *further: Metrics | Part | None) -> Append:
    """What takes the events of runs: their records first, then who counts or sends them."""
    others = [item.note for item in further if item is not None]
    if not others:
        return append

    def all_of_them(run_id: RunId, event: Event) -> None:
        append(run_id, event)
        for note in others:
            note(run_id, event)

    return all_of_them
