"""A clean root file system: Debian's required packages and this Python, copied from this machine, and nothing else.

It stands in for the image `python:slim`, which is made of the same. Only root can make and enter one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_FIELDS = "${Package}\t${Priority}\t${Pre-Depends}, ${Depends}\n"
_LEFT_OUT = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/", "/usr/share/info/")
_NOT_OF_PYTHON = {"test", "idlelib", "tkinter", "turtledemo", "site-packages", "ensurepip", "lib2to3"}
PATH = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"

_ENTER = """
import ctypes, fcntl, json, os, socket, struct, subprocess, sys
root, uid, folder, env, mounts, loopback, command = json.loads(sys.argv[1])
if loopback:
    fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh", b"lo", 0x41))
for kind in mounts:
    subprocess.run(["mount", *kind], check=True)
libc = ctypes.CDLL(None)
os.chroot(root)
os.chdir("/")
if uid:
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
# End with the process that made the namespaces; a change of user takes that back.
libc.prctl(1, 9)
os.chdir(folder)
os.execvpe(command[0], command, env)
"""
_NAMESPACES = ("--mount", "--pid", "--net")


def missing() -> str:
    """Why there can be none on this machine; empty where there can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "only root on Linux can make a root file system"
    if not Path("/usr/bin/dpkg-query").exists():
        return "its packages are copied from a Debian system, which this is not"
    tried = subprocess.run(["unshare", *_NAMESPACES, "--fork", "true"], check=False, capture_output=True)
    return "" if tried.returncode == 0 else "this machine does not let processes have namespaces of their own"


def make(root: Path) -> None:
    """Copy what the packages and the Python consist of, and make the folders that a container engine makes."""
    listed = subprocess.run(["dpkg", "-L", *_packages()], check=True, capture_output=True, text=True).stdout
    names = [name for name in listed.splitlines() if name.startswith("/") and not name.startswith(_LEFT_OUT)]
    _copy(root, names)
    prefix = Path(sys.base_prefix)
    library = f"lib/python{sys.version_info.major}.{sys.version_info.minor}"
    unwanted = [f"--exclude={library}/{name}" for name in (*sorted(_NOT_OF_PYTHON), "config-*")]
    parts = [library, f"bin/python{sys.version_info.major}.{sys.version_info.minor}", "bin/python3"]
    parts += [f"lib/{path.name}" for path in (prefix / "lib").glob("libpython*.so*")]
    _tar(prefix, root / "usr/local", [*unwanted, *parts])
    linked = _shared_libraries(root / "usr/local")
    _copy(root, [path for path in linked if not path.startswith(f"{prefix}/")])
    subprocess.run(["ldconfig", "-r", str(root)], check=True)
    for name in ("proc", "dev", "sys", "tmp", "root", "var/tmp"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "tmp").chmod(0o1777)
    for name in ("passwd", "group"):
        (root / "etc" / name).write_bytes(Path(f"/usr/share/base-passwd/{name}.master").read_bytes())


def entered(
    root: Path,
    command: Sequence[str],
    env: Mapping[str, str],
    *,
    uid: int = 0,
    folder: str = "/",
    mounts: Iterable[tuple[Path, str]] = (),
    inside: int = 0,
) -> subprocess.Popen[str]:
    """Start a command in the root file system: with processes of its own and no network but its loopback.

    ``mounts``: folders of this machine and where they are found in there; ``inside``: a command started before, whose
    network and processes this one shares.
    """
    mounted = [["-t", "proc", "proc", f"{root}/proc"], ["--bind", "/dev", f"{root}/dev"]]
    for here, there in mounts:
        (root / there.lstrip("/")).mkdir(parents=True, exist_ok=True)
        mounted.append(["--bind", str(here), f"{root}{there}"])
    arguments = json.dumps([str(root), uid, folder, dict(env), [] if inside else mounted, not inside, list(command)])
    spaces = ["unshare", *_NAMESPACES, "--fork", "--kill-child"]
    if inside:
        spaces = ["nsenter", "--target", str(first_child(inside)), *_NAMESPACES]
    return subprocess.Popen(
        [*spaces, sys.executable, "-I", "-c", _ENTER, arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def first_child(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def _packages() -> list[str]:
    """The required packages, and those that they depend on; apt is part of every image of Debian."""
    listed = subprocess.run(["dpkg-query", "-W", "-f", _FIELDS], check=True, capture_output=True, text=True).stdout
    rows = [line.split("\t") for line in listed.splitlines()]
    depends = {name: re.findall(r"(?:^|, |\| )([a-z0-9][a-z0-9.+-]+)", needs) for name, _, needs in rows}
    waiting = ["apt", *(name for name, priority, _ in rows if priority == "required")]
    wanted: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in depends and name not in wanted:
            wanted.add(name)
            waiting += depends[name]
    return sorted(wanted)


def _shared_libraries(folder: Path) -> list[str]:
    """What Python's programs and modules are linked against."""
    linked = [str(path) for path in folder.rglob("*.so*")] + [str(path) for path in (folder / "bin").iterdir()]
    printed = subprocess.run(["ldd", *linked], check=False, capture_output=True, text=True).stdout
    return sorted(set(re.findall(r"(?:=> |^\s)(/\S+) \(", printed, re.MULTILINE)))


def _copy(root: Path, names: Iterable[str]) -> None:
    """Files of this machine under the names that they have, and what links point at."""
    found = set()
    for name in names:
        path = Path(os.path.realpath(os.path.dirname(name))) / os.path.basename(name)
        found |= {place for place in (path, Path(os.path.realpath(path))) if os.path.lexists(place)}
    # Folders that are links, such as /bin, are links there too.
    links = [place for name in ("bin", "sbin", "lib", "lib64") if (place := Path("/") / name).is_symlink()]
    _tar(Path("/"), root, ["--no-recursion", *sorted(str(path).lstrip("/") for path in {*found, *links})])


def _tar(here: Path, there: Path, arguments: Sequence[str]) -> None:
    there.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", suffix=".list") as names:
        names.write("\n".join(arguments))
        names.flush()
        pack = ["tar", "-C", str(here), "-cf", "-", "--files-from", names.name]
        with subprocess.Popen(pack, stdout=subprocess.PIPE) as packing:
            subprocess.run(["tar", "-C", str(there), "-xf", "-"], stdin=packing.stdout, check=True)
