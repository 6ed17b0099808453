"""Several runs of one question, started at the same time."""

from __future__ import annotations

from collections.abc import Iterable

from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.config import RunConfig
from engine.model.values import Fault, RunId


def start_all(engine: Engine, question: str, configs: Iterable[RunConfig]) -> tuple[list[RunId], list[Fault]]:
    """Ids of the runs, which are trials, and what kept others from starting, each fault said once.

    One that cannot start does not keep back the others.
    """
    ids: list[RunId] = []
    faults: list[Fault] = []
    for config in configs:
        try:
            ids.append(engine.start(question, config, trial=True))
        except WorkbenchError as error:
            fault = Fault.of(error)
            if fault not in faults:
                faults.append(fault)
    return ids, faults
