"""The settings that only the dual loop has."""

from __future__ import annotations

from dataclasses import dataclass

from engine.messages import N_
from engine.model.config import Options, RunConfig, number, own_options, switch


@dataclass(frozen=True, slots=True)
class DualLoopOptions(Options):
    """Corrections, memory and web (DL-04, DL-06, DL-07)."""

    max_corrections: int = number(
        (0, 5, 2, 1),
        N_("Corrections at most"),
        N_(
            "How often an answer that misses the question may be corrected. Each one is a whole pass with a new "
            "search. Usual: 2."
        ),
        whole=True,
    )
    """Answers that may be corrected; at most one more answer than that is written."""
    memory: bool = switch(
        N_("Long-term memory"),
        N_(
            "Recalls earlier answers of this collection that passed, and keeps this one. Knowledge → Memory lists them."
        ),
        default=True,
    )
    """Whether earlier answers are recalled and this one is kept."""
    web_search: bool = switch(
        N_("Search the web too"),
        N_("The last of the searches, where nothing local helped. What the web says is treated as untrusted text."),
    )
    """Whether the web may be searched where the settings of this machine name a search engine."""


def dual_options(config: RunConfig) -> DualLoopOptions:
    """The options of a run of this loop."""
    return own_options(config, DualLoopOptions)
