"""The values that pages, command line and API get about knowledge graphs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from engine.library.values import JobStatus
from engine.roles.graph import GraphInfo


@dataclass(frozen=True, slots=True)
class GraphState:
    """The graph of one collection, as far as it is."""

    info: GraphInfo
    """Empty, with the extractor of the job, while nothing was read yet."""
    stale: bool
    """Whether the collection has changed since the graph was finished."""
    collection_passages: int
    """Passages that the collection has now; ``info.passages`` were read."""
    job: JobStatus | None = None
    """The job that builds it and is not done: it is running, waits, or can be resumed."""

    @property
    def unread(self) -> int:
        """Passages that another building would read, at least."""
        return max(0, self.collection_passages - self.info.passages)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values."""
        return {
            "graph": {**asdict(self.info), "finished": self.info.finished},
            "stale": self.stale,
            "collection_passages": self.collection_passages,
            "job": self.job.to_dict() if self.job is not None else None,
        }
