"""The version of the product, where its files are, and how it is called; the wheel's version is read from here."""

from __future__ import annotations

import sys
from pathlib import Path

__version__ = "0.1.0"

ROOT = Path(__file__).resolve().parents[2]
"""The folder of ``app.py``, ``engine``, ``components`` and ``pages``: the checkout, or ``rag_workbench/_app``."""

INSTALLED = ROOT.parent.name == "rag_workbench"
"""Whether this is an installed wheel and no checkout."""

PROGRAM = "rag-workbench" if INSTALLED else "python -m engine"
"""What stands before a subcommand where the program is told to be called."""


def install_command(packages: str) -> str:
    """The command that adds packages, parted by spaces, to the environment in which this program runs."""
    environment = Path(sys.prefix)
    if (environment / "pipx_metadata.json").exists():
        return f"pipx inject rag-workbench {packages}"
    added = " ".join(f"--with {package}" for package in packages.split())
    if (environment / "uv-receipt.toml").exists():
        return f"uv tool install rag-workbench {added}"
    if INSTALLED and {"archive-v0", "environments-v2"} & {*environment.parts}:
        return f"uvx {added} rag-workbench"
    return f"pip install {packages}"
