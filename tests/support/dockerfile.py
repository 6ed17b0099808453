"""Carries out the steps of a Dockerfile in clean root file systems, where no container engine runs.

Only what ours says is understood; anything else is an error, never passed over.
"""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path

from tests.support import clean_root

_BASE = re.compile(r"python:[\d.]+-slim(-\w+)?")
_UV = re.compile(r"ghcr\.io/astral-sh/uv:[\d.]+")


@dataclass(slots=True)
class Image:
    """A stage of the file as far as it was carried out."""

    root: Path
    env: dict[str, str] = field(default_factory=lambda: {"PATH": clean_root.PATH})
    arguments: dict[str, str] = field(default_factory=dict)
    user: str = "root"
    folder: str = "/"
    volumes: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)

    def start(self, command: Sequence[str], inside: int = 0) -> subprocess.Popen[str]:
        """Run a command as the user, with the variables and in the folder that the file says."""
        uid, home = self._user()
        env = {"HOME": home, **self.env}
        return clean_root.entered(self.root, command, env, uid=uid, folder=self.folder, inside=inside)

    def _user(self) -> tuple[int, str]:
        lines = (self.root / "etc/passwd").read_text(encoding="utf-8").splitlines()
        rows = {row[0]: row for row in (line.split(":") for line in lines)}
        return int(rows[self.user][2]), rows[self.user][5]


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds the last stage of a file; ``cache`` is the folder of what uv downloaded, the only way to packages.

    What builds the wheel has the versions of this environment: of newer ones the cache may know no more than the name.
    """

    context: Path
    folder: Path
    cache: Path
    arguments: Mapping[str, str]

    def build(self, file: Path) -> Image:
        stages: dict[str, Image] = {}
        image: Image | None = None
        for word, rest in steps(file.read_text(encoding="utf-8")):
            if word == "FROM":
                base, _, name = rest.partition(" AS ")
                assert _BASE.fullmatch(base), f"{base}: no image of Python"
                image = Image(self.folder / f"stage{len(stages)}")
                clean_root.make(image.root)
                stages[name] = image
                continue
            assert image is not None, "the first step must be FROM"
            if word == "COPY":
                self._copy(image, stages, shlex.split(rest))
            elif word == "RUN":
                self._run(image, rest)
            else:
                self._note(image, word, rest)
        assert image is not None
        return image

    def _note(self, image: Image, word: str, rest: str) -> None:
        if word == "ARG":
            name, _, value = rest.partition("=")
            image.arguments[name] = self.arguments.get(name, value)
        elif word == "ENV":
            image.env |= dict(part.split("=", 1) for part in shlex.split(rest))
        elif word == "USER":
            image.user = rest
        elif word == "WORKDIR":
            image.folder = rest
            (image.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif word == "VOLUME":
            image.volumes.append(rest)
        elif word == "HEALTHCHECK":
            image.health = json.loads(rest.partition("CMD ")[2])
        elif word == "CMD":
            image.command = json.loads(rest)
        else:
            assert word == "EXPOSE", f"{word}: not carried out here"

    def _run(self, image: Image, line: str) -> None:
        cached = "/root/.cache/uv"
        pins = [f"{item.metadata['Name']}=={item.version}" for item in distributions()]
        (image.root / "tmp/pins.txt").write_text("\n".join(pins), encoding="utf-8")
        without = {"UV_OFFLINE": "1", "UV_LINK_MODE": "copy", "UV_BUILD_CONSTRAINT": "/tmp/pins.txt"}
        env = {"HOME": "/root", **without, **image.env, **image.arguments}
        mounts = [(self.cache, cached)] if "uv " in line else []
        running = clean_root.entered(image.root, ["/bin/sh", "-c", line], env, folder=image.folder, mounts=mounts)
        said = running.communicate()[0]
        assert running.returncode == 0, f"{line}\n{said}"

    def _copy(self, image: Image, stages: Mapping[str, Image], words: Sequence[str]) -> None:
        *options, source, target = words
        there = image.root / target.lstrip("/")
        if not options:
            assert source == "."
            _copy_context(self.context, there)
            return
        (option,) = options
        of = option.removeprefix("--from=")
        if _UV.fullmatch(of) and source == "/uv":
            shutil.copy2(Path(sys.executable).with_name("uv"), there)
        else:
            subprocess.run(["cp", "-al", str(stages[of].root / source.lstrip("/")), str(there)], check=True)


def steps(text: str) -> list[tuple[str, str]]:
    """Each instruction and what follows it."""
    joined = re.sub(r"\\\n\s*", "", text)
    lines = (line.strip() for line in joined.splitlines())
    return [
        (word, rest.strip()) for line in lines if line and line[0] != "#" for word, _, rest in [line.partition(" ")]
    ]


def _copy_context(context: Path, there: Path) -> None:
    """What ``.dockerignore`` leaves of the folder: of the patterns that fit a path or a folder above, the last wins."""
    lines = (context / ".dockerignore").read_text(encoding="utf-8").splitlines()
    patterns = [line for line in lines if line and line[0] != "#"]

    def left_out(path: Path) -> bool:
        names = [path, *path.parents][:-1]
        out = False
        for pattern in patterns:
            wanted = pattern.removeprefix("!").removeprefix("**/")
            anywhere = "**/" in pattern
            if any(fnmatch.fnmatchcase(name.name if anywhere else str(name), wanted) for name in names):
                out = not pattern.startswith("!")
        return out

    for folder in (path for path in context.iterdir() if not left_out(path.relative_to(context))):
        for path in [folder, *(folder.rglob("*") if folder.is_dir() else ())]:
            relative = path.relative_to(context)
            if path.is_file() and not left_out(relative):
                (there / relative).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, there / relative)
