"""The recipes of CONTRIBUTING are enough: what they add works everywhere, and they name every place that it needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.extending.recipes import ROOT, follow, recipes

_PARTS = (
    "engine",
    "components",
    "pages",
    "plugins",
    "tests",
    "docs",
    "app.py",
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
)
_LONGEST = 9
"""Lines of code of a recipe."""
_PATIENCE_S = 600


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the program in which every recipe was followed, and its messages translated."""
    root = tmp_path_factory.mktemp("extended")
    for part in _PARTS:
        source = ROOT / part
        if source.is_dir():
            # With what is compiled already, but not what another process is just writing.
            shutil.copytree(source, root / part, ignore=shutil.ignore_patterns("*.pyc.*", "*.png", "node_modules"))
        else:
            shutil.copy(source, root / part)
    for blocks in recipes().values():
        for block in blocks:
            follow(block, root)
    _run(root, "-m", "tests.messages")
    for catalogue in root.glob("components/locale/*/LC_MESSAGES/workbench.po"):
        text = catalogue.read_text(encoding="utf-8")
        # A message of the recipes: its translation may be any other words.
        catalogue.write_text(re.sub(r'^msgstr ""$(?!\n")', 'msgstr "译文"', text, flags=re.MULTILINE), encoding="utf-8")
    yield root
    shutil.rmtree(root)


def _run(root: Path, *arguments: str) -> str:
    """Run Python in the copy; what it printed."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = {**own, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout[-12000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize("title", recipes())
def test_a_recipe_is_short(title: str) -> None:
    written = sum(len([line for line in block.code.splitlines() if line.strip()]) for block in recipes()[title])
    assert 0 < written <= _LONGEST, "a recipe is followed in a minute"


def test_what_the_recipes_add_works_everywhere(copy: Path) -> None:
    said = _run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "tests/extending/extended.py")
    assert re.search(r"\b\d+ passed", said)


@pytest.mark.parametrize("title", recipes())
def test_a_recipe_that_leaves_out_a_place_is_noticed(title: str, tmp_path: Path) -> None:
    """Each block names a place that exists; without it the thing is not there."""
    for block in recipes()[title]:
        path = tmp_path / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        if block.how:
            shutil.copy(ROOT / block.file, path)
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        follow(block, tmp_path)
        assert path.read_text(encoding="utf-8") != before
        if path.suffix == ".py":
            compile(path.read_text(encoding="utf-8"), block.file, "exec")
