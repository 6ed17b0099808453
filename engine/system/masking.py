"""Removal of secrets and personal paths from texts that are made to be passed on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pydantic import SecretStr

from engine.llm.providers import key_names
from engine.model.values import Fault
from engine.settings import Settings

MASK = "••••••"
_USERINFO = re.compile(r"(?<=://)[^/\s@]+@")
_ASKED = re.compile(r"([?&][\w.-]+=)[^&\s`\"']+")
_KEY = re.compile(r"\b(?:sk|pk|hf|gsk|xai)[-_][A-Za-z0-9_-]{8,}")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}")
_SHORTEST = 3
"""Shorter secrets are no secrets, and taking them out would shred every word that holds them."""


def shown_value(value: Any) -> str:
    """The value of a setting as it may be shown: secrets as dots, user names and passwords in addresses too."""
    if isinstance(value, SecretStr):
        return MASK if value.get_secret_value() else ""
    if isinstance(value, tuple):
        return ", ".join(shown_value(item) for item in value)
    return masked_addresses(f"{value:g}" if isinstance(value, float) else str(value))


def masked_addresses(text: str) -> str:
    """Addresses in a text without user name, password and values of their query."""
    # A password may hold a slash: what follows the scheme up to the last @ goes, where the text is one address.
    if "://" in text and not any(char.isspace() for char in text) and "@" in text:
        scheme, _, rest = text.partition("://")
        text = f"{scheme}://{MASK}@{rest.rpartition('@')[2]}"
    return _ASKED.sub(rf"\1{MASK}", _USERINFO.sub(f"{MASK}@", text))


class Redactor:
    """Takes every secret that this process knows, and anything that looks like one, out of a text."""

    def __init__(self, settings: Settings) -> None:
        known = {part for secret in _of(settings) for part in (secret, *secret.split(":"))}
        self._secrets = sorted((part for part in known if len(part) >= _SHORTEST), key=len, reverse=True)
        self._home = str(Path.home())

    def fault(self, fault: Fault) -> Fault:
        """The fault with what it quotes cleaned, as an address with a password in it."""
        params = {name: self(value) for name, value in fault.params.items()}
        return replace(fault, fact=self(fault.fact), remedy=self(fault.remedy), params=params)

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        text = _ASKED.sub(rf"\1{MASK}", _USERINFO.sub(f"{MASK}@", text))
        text = _BEARER.sub(rf"\1 {MASK}", _KEY.sub(MASK, text))
        # A home of one character would be found in every path.
        return re.sub(rf"{re.escape(self._home)}(?=[/\\\s`]|$)", "~", text) if len(self._home) > 1 else text


def _of(settings: Settings) -> Iterable[str]:
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            yield value.get_secret_value()
        for item in value if isinstance(value, tuple) else (value,):
            userinfo, at, _ = str(item).rpartition("://")[2].rpartition("@")
            if at and not isinstance(item, SecretStr):
                yield userinfo
                yield unquote(userinfo)
    for variable in key_names():
        yield os.environ.get(variable, "")
