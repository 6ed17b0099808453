"""The tables of words, one module an area of the pages; each maps a key to (English, Chinese)."""

from __future__ import annotations

from components.words.evidence import EVIDENCE
from components.words.knowledge import KNOWLEDGE
from components.words.run import RUN
from components.words.settings import SETTINGS
from components.words.shell import SHELL

AREAS = (RUN, EVIDENCE, SETTINGS, KNOWLEDGE, SHELL)
