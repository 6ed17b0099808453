"""Components of our own, whose code the browser loads as files: a rerun sends what they draw, and no code."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

_ASSETS = Path(__file__).parents[1] / "assets"
_FILES = TemporaryDirectory(prefix="workbench-code-")
"""Joined sources, a folder a component; gone with the process."""
_PACKAGE = "workbench"


def script(*names: str) -> str:
    """Files of ``components/assets`` joined in order."""
    return "\n".join((_ASSETS / name).read_text(encoding="utf-8") for name in names)


def component(name: str, *, html: str, js: str, css: str = "") -> Callable[..., Any]:
    """Declare a component by the text of its sources; returns what draws it, as ``st.components.v2.component`` does."""
    sheet, code = _written(name, "css", css) if css else None, _written(name, "js", js)

    @cache
    def made() -> Callable[..., Any]:
        return st.components.v2.component(f"{_PACKAGE}.{name}", html=html, css=sheet, js=code)

    def mounted(**given: Any) -> Any:
        # Before each: a server that began since has not heard of it.
        _declare(name)
        return made()(**given)

    return mounted


def _written(name: str, kind: str, text: str) -> str:
    """Write a source under a name that changes with it, so that a browser never keeps an old one."""
    file = f"{sha256(text.encode()).hexdigest()[:12]}.{kind}"
    folder = Path(_FILES.name) / name
    folder.mkdir(exist_ok=True)
    (folder / file).write_text(text, encoding="utf-8")
    return file


def _declare(name: str) -> None:
    """Name the folder to Streamlit, which reads of such folders from the metadata of installed packages only."""
    manager = get_bidi_component_manager()
    if manager.get_component_path(f"{_PACKAGE}.{name}") is None:
        found = ComponentManifest(_PACKAGE, "1", [ComponentConfig(name, name)])
        manager.register_from_manifest(found, Path(_FILES.name))
