"""Milvus servers that a request may name, so that no request makes the program connect to an arbitrary address."""

from __future__ import annotations

from dataclasses import replace

from engine.errors import InvalidConfig
from engine.model.config import RunConfig
from engine.settings import Settings


def listed(settings: Settings, address: str, field: str) -> str:
    """The settings' own spelling of an address, which a request may name without scheme, as the seed document does.

    Empty stays empty. Raises ``InvalidConfig.address_not_listed``.
    """
    known = settings.known_address(address)
    if address and not known:
        raise InvalidConfig.address_not_listed(field=field)
    return known


def with_listed_address(settings: Settings, config: RunConfig, field: str = "milvus_address") -> RunConfig:
    """The config with its address in the settings' own spelling; raises ``InvalidConfig.address_not_listed``."""
    return replace(config, milvus_address=listed(settings, config.milvus_address, field))
