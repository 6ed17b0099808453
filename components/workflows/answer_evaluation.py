"""What only this workflow draws."""

from __future__ import annotations

from components.common.own import Own

OWN = Own()
