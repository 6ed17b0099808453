"""A real Neo4j 5 community server for the suites of knowledge graphs, run from a folder of its own jars.

``WORKBENCH_TEST_NEO4J`` names a server that is there already, such as ``bolt://neo4j:PASSWORD@127.0.0.1:7687``; tests
delete what they made there. Otherwise ``python -m tests.plugins.neo4j.server FOLDER`` puts the jars into a folder
(``make test`` does, with Maven; 128 MB), and a server with data and a port of its own starts with the first test that
needs it and ends with the tests. Maven checks the checksum of every jar.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.server_process import server_process

URI_VARIABLE = "WORKBENCH_TEST_NEO4J"
JARS = Path(__file__).resolve().parents[3] / ".neo4j"

_HERE = Path(__file__).resolve().parent
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
_PASSWORD = "workbench-tests"
_OPENED = ("java.nio", "java.io", "java.lang", "sun.nio.ch")
"""Packages of the JDK that the server reaches into."""


def missing() -> str:
    """Why no server can be tested against here; empty where one can."""
    if os.environ.get(URI_VARIABLE):
        return ""
    if not (JARS / ".installed").exists():
        return f"no Neo4j server: set {URI_VARIABLE}, or run python -m tests.plugins.neo4j.server {JARS.name}"
    return "" if shutil.which("javac") else "no Neo4j server: it needs a JDK, version 17 or 21"


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """The address of a server, started in ``folder`` unless the environment names one."""
    given = os.environ.get(URI_VARIABLE)
    if given:
        yield given
        return
    opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED]
    # A server that lives for a minute gains nothing by compiling well, nor by verifying jars that Maven has checked.
    unverified = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
    quick = ("-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *unverified)
    command = ["java", *quick, *opened, "-cp", f"{JARS}/*", str(_HERE / "Serve.java")]
    with server_process("Neo4j", [*command, str(folder), _PASSWORD], folder, stop_s=60) as port:
        yield f"bolt://neo4j:{_PASSWORD}@127.0.0.1:{port}"


def main(folder: Path) -> int:
    """Put the jars into ``folder``; says so where that cannot be done, and fails where all tests must run."""
    stamp, wanted = folder / ".installed", _HERE / "pom.xml"
    if stamp.exists() and stamp.stat().st_mtime >= wanted.stat().st_mtime:
        return 0
    maven = shutil.which("mvn")
    if maven is not None:
        target = f"-DoutputDirectory={folder.resolve()}"
        command = [maven, "--quiet", "--batch-mode", "--strict-checksums", "-f", str(wanted), _COPY, target]
        if subprocess.run([*command, "-DincludeScope=runtime"], check=False).returncode == 0:
            stamp.touch()
            return 0
    print(
        "A Neo4j server cannot be installed on this machine (it needs Maven); its tests are left out.", file=sys.stderr
    )
    return 1 if os.environ.get("WORKBENCH_TEST_ALL") else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
