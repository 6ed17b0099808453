"""Batches of processes that are gone, which are resumed here."""

from __future__ import annotations

import logging
import threading

from engine.engine import Engine
from engine.errors import EngineClosed, WorkbenchError
from engine.model.ending import joined
from engine.people import WORKBENCH, Person, acting_as
from engine.plugins import Part

LOOK_S = 1.0
"""Pause between looks for batches whose process is gone."""
_log = logging.getLogger(__name__)


class TakenBatches(Part):
    """Resumes the batches of other replicas whose process is gone, one after the other, on a thread of its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._work, name="team-batches", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        joined(self._thread)

    def _work(self) -> None:
        while not self._closed.wait(LOOK_S):
            try:
                with acting_as(WORKBENCH):
                    take_over(self._engine)
            except EngineClosed:
                return
            except WorkbenchError as error:
                _log.info("no batch is taken over at the moment: %s", error)
            except Exception:
                _log.exception("taking over a batch failed")


def take_over(engine: Engine) -> None:
    """Resume the oldest batch whose process is gone, of those that can be resumed; raises ``EngineClosed``."""
    batches = engine.batches
    if batches.running is not None:
        return
    for batch_id in batches.orphans():
        # The person who started it was allowed to: it is resumed for them.
        author = engine.evaluation.batch(batch_id).author
        try:
            with acting_as(Person(author, author, "editor") if author else WORKBENCH):
                batches.resume(batch_id)
        except EngineClosed:
            raise
        except WorkbenchError as error:
            _log.info("batch %s is not taken over at the moment: %s", batch_id, error)
        else:
            return
