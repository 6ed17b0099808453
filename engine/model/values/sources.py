"""What is said of a file that was read."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SourceNote:
    """Something a reader should know of a file that could be read: pages without text, sheets left out."""

    code: str
    """One of the codes that ``components/knowledge/preview_files.py`` has a sentence for."""
    params: dict[str, str] = field(default_factory=dict)
