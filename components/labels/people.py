"""The words for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engine.messages import N_

ROLE_NAMES: Final[Mapping[str, str]] = {"viewer": N_("viewer"), "editor": N_("editor"), "admin": N_("admin")}
