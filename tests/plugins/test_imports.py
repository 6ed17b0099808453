"""The core's tests need no plug-in, and those of a plug-in no other (BE-05)."""

from __future__ import annotations

import re

from engine.plugins import _folders
from engine.version import ROOT

_IMPORT = re.compile(r"^\s*(?:from|import) (?:tests\.)?plugins(?:\.(\w+)| import (\w+))", re.MULTILINE)


def test_a_test_imports_no_plug_in_but_the_one_that_it_stands_with() -> None:
    """Tests of the core reach what plug-ins have by ``tests/support/brought.py``."""
    found = {
        (path.relative_to(ROOT).as_posix(), module or name)
        for path in (ROOT / "tests").rglob("*.py")
        for module, name in _IMPORT.findall(path.read_text(encoding="utf-8"))
        if (module or name) in _folders() and path.relative_to(ROOT).parts[1:3] != ("plugins", module or name)
    }
    assert not found
