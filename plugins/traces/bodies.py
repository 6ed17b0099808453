"""Bodies of the requests that take in traces and have imported runs judged."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TraceFile(_Body):
    """One file of traces: in base64, as its text, or its JSON as it is."""

    name: StrictStr = Field(max_length=300)
    content_base64: StrictStr = ""
    content: Any = None


class TracesRequest(_Body):
    """Body of ``POST /api/traces``."""

    files: list[TraceFile] = Field(min_length=1, max_length=100)
    project: Annotated[StrictStr, Field(max_length=200)] = ""
    """Where spans are from that do not say it."""
    collection: Annotated[StrictStr, Field(max_length=60)] = ""
    """The collection here that holds the same documents, if one does."""
    set_name: Annotated[StrictStr, Field(max_length=120)] = ""
    """Keep the questions as a query set of this name."""
    dry_run: StrictBool = False


class VerdictsRequest(_Body):
    """Body of ``POST /api/runs/{id}/verdicts``: who judges what an imported run left ungraded."""

    grader: Annotated[StrictStr, Field(max_length=200)] = "builtin"
