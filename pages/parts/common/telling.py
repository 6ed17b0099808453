"""The words of the pages for agents: what the MCP server says of runs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.runs.in_words import InWords


@cache
def telling() -> InWords:
    """Imported when an agent first asks: a start has to be quick, and these are drawn with."""
    from components.runs.in_words import InWords

    return InWords()
