"""The Self-Corrective RAG Workbench: ``from rag_workbench import Engine``, and the command ``rag-workbench``.

What a program may use is what the package ``engine`` exports. In the wheel the program's own packages lie in a folder
of this one, so that no other name is taken in an environment; only :mod:`engine` and :mod:`plugins` get into
``sys.modules``, once something of them is asked for. In a program that has a module ``plugins`` of its own the
workbench goes without its plug-ins.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

_HERE = Path(__file__).resolve().parent
ROOT = _HERE / "_app" if (_HERE / "_app").is_dir() else _HERE.parent
"""The folder of ``engine`` and the pages: in this package, or the checkout that this package is in."""


def _engine() -> ModuleType:
    """Import ``engine`` without a search, in which a folder of that name in the caller's project would win."""
    there = sys.modules.get("engine")
    if there is None:
        spec = spec_from_file_location("engine", ROOT / "engine" / "__init__.py")
        assert spec is not None and spec.loader is not None
        there = sys.modules["engine"] = module_from_spec(spec)
        try:
            spec.loader.exec_module(there)
        except BaseException:
            del sys.modules["engine"]
            raise
    elif Path(there.__file__ or "").resolve().parent != ROOT / "engine":
        raise ImportError(
            f"This program has a module engine of its own ({there.__file__}), and rag_workbench needs that name. "
            "Use the workbench over HTTP (rag-workbench serve), or rename the module."
        )
    return there


def __getattr__(name: str) -> Any:
    """PEP 562: what ``engine`` exports, imported when it is first asked for."""
    if name.startswith("_"):
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        _engine()
        return import_module("engine.version").__version__
    return getattr(_engine(), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_engine().__all__})
