"""The version of the product, where its files are, and how it is called; the wheel's version is read from here."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

__version__ = "0.1.0"

ROOT = Path(__file__).resolve().parents[1]
"""The folder of ``app.py``, ``engine``, ``components`` and ``pages``: the checkout, or ``rag_workbench/_app``."""

INSTALLED = ROOT.parent.name == "rag_workbench"
"""Whether this is an installed wheel and no checkout."""

PROGRAM = "rag-workbench" if INSTALLED else "python -m engine"
"""What stands before a subcommand where a message names a command."""

PACKAGE = "rag_workbench" if INSTALLED else "engine"
"""What a program in this environment imports the public names from."""


def _home_folder() -> Path | None:
    """Return the folder for programs' own data on this system; None if the user has no home."""
    named = os.environ.get({"win32": "LOCALAPPDATA", "darwin": ""}.get(sys.platform, "XDG_DATA_HOME"), "")
    folder = {"win32": "AppData/Local", "darwin": "Library/Application Support"}.get(sys.platform, ".local/share")
    try:
        return (Path(named) if named else Path.home() / folder) / "rag-workbench"
    except RuntimeError:
        return None


HOME_FOLDER = _home_folder() if INSTALLED else None
"""The folder of an installed program's data and ``workbench.toml``, from any folder that it is started in."""

DATA_FOLDER = Path(".workbench")
if HOME_FOLDER is not None and not DATA_FOLDER.is_dir():
    # One that is here already was written by a checkout, or is meant.
    DATA_FOLDER = HOME_FOLDER


def install_command(packages: str) -> str:
    """The command that adds packages, parted by spaces, to the environment in which this program runs."""
    environment = Path(sys.prefix)
    # A shell would take the brackets of `psycopg[binary]` for a pattern.
    names = [f'"{package}"' if "[" in package else package for package in packages.split()]
    added = " ".join(f"--with {name}" for name in names)
    if (environment / "pipx_metadata.json").exists():
        # What `pipx run` made is in a cache, and nothing can be added to it.
        first = "" if environment.parent.name == "venvs" else f"pipx install {installed_from()} && "
        return f"{first}pipx inject rag-workbench {' '.join(names)}"
    if (environment / "uv-receipt.toml").exists():
        return f"uv tool install {added} {installed_from()}"
    if INSTALLED and {"archive-v0", "environments-v2"} & {*environment.parts}:
        origin = installed_from()
        return f"uvx {added} {'' if origin == 'rag-workbench' else f'--from {origin} '}rag-workbench"
    return f"{_own_python()} -m pip install {' '.join(names)}"


def _own_python() -> str:
    """The interpreter of this environment as a shell takes it: from the checkout's folder where it is in there."""
    path = Path(sys.executable or "python")
    shown = str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
    return f'"{shown}"' if " " in shown else shown


def installed_from() -> str:
    """Return the origin of this installation: its name, or the address of a wheel or folder."""
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        stored = distribution("rag-workbench").read_text("direct_url.json")
    except PackageNotFoundError:
        stored = None
    if not stored:
        return "rag-workbench"
    origin = json.loads(stored)
    address = str(origin["url"])
    if "vcs_info" in origin:
        return f"{origin['vcs_info']['vcs']}+{address}"
    path = url2pathname(urlsplit(address).path) if address.startswith("file:") else address
    return f'"{path}"' if " " in path else path
