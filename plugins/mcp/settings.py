"""The variable of the MCP server."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, Field

from engine.messages import N_

PATH: Final = "/mcp"


class McpSettings(BaseModel):
    """Rights of agents."""

    mcp: Literal["off", "read", "write"] = Field(
        "off",
        description=N_(
            "What agents may do that speak the Model Context Protocol at `/mcp` (extra `mcp`): `read` asks and looks, "
            "and changes nothing that is there; `write` changes settings, tags, judgements and documents too."
        ),
    )
