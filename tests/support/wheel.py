"""The wheel, built as a user would, and an environment that holds it and what it needs, and nothing of the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_UV = Path(sys.executable).with_name("uv")


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment with the wheel, and a home and a working folder that nothing was ever written to."""

    environment: Path
    home: Path
    folder: Path

    @property
    def program(self) -> Path:
        return self.environment / "bin" / "rag-workbench"

    @property
    def packages(self) -> Path:
        return next((self.environment / "lib").glob("python*")) / "site-packages"

    def variables(self, **more: str) -> dict[str, str]:
        """All that a process of the program is given: nothing of the variables of the tests."""
        return {"HOME": str(self.home), "PATH": os.defpath, "LANG": "C.UTF-8", **more}

    def run(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        """A program of the environment, run in the working folder to its end."""
        program, *arguments = command
        return subprocess.run(
            [str(self.environment / "bin" / program), *arguments],
            cwd=self.folder,
            env=self.variables(**more),
            capture_output=True,
            text=True,
            check=False,
        )


def built(folder: Path) -> Path:
    """The wheel of this checkout."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> Installed:
    """A new environment: the default dependencies as they are locked, and the wheel.

    What the environment of the tests was made of is in uv's cache, so that this takes about a second.
    """
    environment = folder / "environment"
    _uv("venv", "--python", sys.executable, str(environment))
    into = ["pip", "install", "--python", str(environment / "bin" / "python")]
    locked = [*into, "--require-hashes", "-r", str(ROOT / "requirements.lock")]
    if not _uv(*locked, "--offline", check=False):
        _uv(*locked)
    use_compiled(environment)
    _uv(*into, "--no-deps", "--offline", str(wheel))
    installed = Installed(environment, folder / "home", folder / "somewhere")
    installed.home.mkdir()
    installed.folder.mkdir()
    return installed


def use_compiled(environment: Path) -> None:
    """Lend an environment what Python has compiled for the tests; where a source differs, Python compiles it again."""
    here = Path(sysconfig.get_path("purelib"))
    (there,) = environment.glob("lib/python*/site-packages")
    for package in here.glob("*/__init__.py"):
        if (there / package.parent.name).is_dir():
            for compiled in package.parent.rglob("__pycache__"):
                lent = there / compiled.relative_to(here)
                if lent.parent.is_dir() and not lent.exists():
                    lent.symlink_to(compiled)


def _uv(*arguments: str, check: bool = True) -> bool:
    done = subprocess.run([str(_UV), "--quiet", *arguments], capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise RuntimeError(f"uv {arguments[0]} failed: {done.stderr[-2000:]}")
    return done.returncode == 0
