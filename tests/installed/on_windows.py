"""Run in a process of its own: the program, imported again where this system looks like Windows, answers a question.

Other people's packages stay as they were imported here, for their parts for Windows are not on this machine. Ours find
``sys.platform`` changed and neither modules nor functions that only POSIX has.
"""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import signal
import sys
import types
from pathlib import Path
from typing import Any

OURS = ("app", "components", "engine", "pages", "plugins", "rag_workbench")
START = (
    "engine.cli.main",
    "engine.cli.serve",
    "engine.api",
    "engine.api.process",
    "engine.model.subprocesses",
    "pages.parts.common.after_start",
)
MODULES = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
OF_OS = (
    "chown fork forkpty getegid geteuid getgid getgroups getloadavg getpgid getpgrp getpriority getuid initgroups "
    "killpg mkfifo nice register_at_fork sched_getaffinity sched_setaffinity setegid seteuid setgid setpriority setsid "
    "setuid sysconf uname wait3 wait4"
).split()
SIGNALS = "SIGALRM SIGCHLD SIGHUP SIGKILL SIGQUIT SIGUSR1 SIGUSR2".split()
QUESTION = "When does a connected graph have an Euler circuit?"


def modules() -> list[str]:
    """Every module of ours that is no script and no head of an exported program."""
    found = [*START]
    for package in ("engine", "components", "plugins"):
        walked = pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
        found += [
            name
            for _, name, _ in walked
            if not name.endswith(("__main__", "export.graph")) and ".migrations" not in name
        ]
    return found


def answer(folder: Path) -> Any:
    for name in modules():
        importlib.import_module(name)
    from engine.engine import Engine
    from engine.settings import Settings

    with Engine(Settings(data_dir=folder, ollama_url="http://127.0.0.1:1")) as engine:
        engine.wait_until_ready()
        return engine.run(QUESTION)


def look_like_windows() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for name in OF_OS:
        delattr(os, name)
    for name in SIGNALS:
        delattr(signal, name)
    # What Milvus Lite locks its folder with there.
    locks: Any = types.ModuleType("msvcrt")
    locks.LK_NBLCK, locks.LK_UNLCK, locks.locking = 2, 0, lambda *_: None
    sys.modules["msvcrt"] = locks
    sys.platform = "win32"


def main() -> None:
    folder = Path(sys.argv[1])
    # What is imported stays: searching it for garbage takes a fifth of the time.
    gc.disable()
    answer(folder / "here")
    look_like_windows()
    record = answer(folder / "there")
    print(len(modules()))
    print(record.answer)


if __name__ == "__main__":
    main()
