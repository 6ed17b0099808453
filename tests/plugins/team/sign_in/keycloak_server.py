"""A real OpenID provider for the tests of sign-in: Keycloak, run from a folder of its own.

``python -m tests.plugins.team.sign_in.keycloak_server FOLDER`` puts it there (``make keycloak`` does, with Maven;
180 MB), prepares it for a quick start, and reads in the realm of ``keycloak/realm.json``: a viewer, an editor and an
admin. A server with a copy of that data and a port of its own starts with the first test that needs it and ends with
the tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.ports import free_port

HOME = Path(__file__).resolve().parents[4] / ".keycloak"
CLIENT, SECRET = "workbench", "of-the-tests"
_HERE = Path(__file__).resolve().parent / "keycloak"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
_START_S = 300
_QUICK = {
    "JAVA_OPTS": "-Dfile.encoding=UTF-8 -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms256m -Xmx512m"
    " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
}
"""A server that lives for a minute gains nothing by compiling well, by its own G1 or by verifying its classes."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A server that answers."""

    url: str

    @property
    def metadata_url(self) -> str:
        return f"{self.url}/realms/workbench/.well-known/openid-configuration"

    def secrets(self, app_url: str) -> str:
        """What stands in Streamlit's ``secrets.toml`` of an app at this address."""
        return "\n".join(
            (
                "[auth]",
                f'redirect_uri = "{app_url}/oauth2callback"',
                'cookie_secret = "0123456789abcdef0123456789abcdef"',
                f'client_id = "{CLIENT}"',
                f'client_secret = "{SECRET}"',
                f'server_metadata_url = "{self.metadata_url}"',
                "",
            )
        )


def password_of(name: str) -> str:
    """The password of a person of the realm: ``vera``, ``edith`` or ``ada``."""
    return f"{name}-of-the-tests"


def missing() -> str:
    """Why no provider can be tested against here; empty where one can."""
    if not (HOME / ".installed").exists():
        return f"no Keycloak: run python -m tests.plugins.team.sign_in.keycloak_server {HOME.name}"
    return "" if shutil.which("java") else "no Keycloak: it needs Java 17 or later"


@contextmanager
def running(folder: Path) -> Iterator[Provider]:
    """A server whose data and log are in ``folder``."""
    shutil.copytree(HOME / "data", folder / "data")
    port = free_port()
    options = ["--optimized", "--http-enabled=true", "--hostname-strict=false", "--http-host=127.0.0.1"]
    data = f"--db-url=jdbc:h2:file:{folder / 'data' / 'h2' / 'keycloakdb'};NON_KEYWORDS=VALUE;DB_CLOSE_ON_EXIT=0"
    command = [*_ending_with_us(), str(_program(HOME)), "start", *options, f"--http-port={port}", data]
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=os.environ | _QUICK, stdout=output, stderr=output)
        try:
            provider = Provider(f"http://127.0.0.1:{port}")
            _wait(process, provider.metadata_url, log)
            yield provider
        finally:
            process.terminate()
            process.wait(_START_S)


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(_START_S * 10):
        try:
            with opener.open(url, timeout=_START_S):
                return
        except OSError:
            pass
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        break
    raise RuntimeError(f"Keycloak did not start: {log.read_text(errors='replace')[-2000:]}")


def main(folder: Path) -> int:
    """Put Keycloak into ``folder``; says so where that cannot be done, and fails where all tests must run."""
    stamp = folder / ".installed"
    wanted = (_HERE / "pom.xml", _HERE / "realm.json")
    if stamp.exists() and all(stamp.stat().st_mtime >= file.stat().st_mtime for file in wanted):
        return 0
    maven = shutil.which("mvn")
    if maven is not None and shutil.which("java") and _installed(maven, folder):
        stamp.touch()
        return 0
    print(
        "Keycloak cannot be installed on this machine (it needs Maven and Java); its tests are left out.",
        file=sys.stderr,
    )
    return 1 if os.environ.get("WORKBENCH_TEST_ALL") else 0


def _installed(maven: str, folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    fetch = [maven, "--quiet", "--batch-mode", "--strict-checksums", "-f", str(_HERE / "pom.xml"), _COPY]
    if subprocess.run([*fetch, f"-DoutputDirectory={folder.resolve()}"], check=False).returncode != 0:
        return False
    archive = next(folder.glob("*.tar.gz"))
    with tarfile.open(archive) as packed:
        # Python before 3.11.4 has no filters.
        safe: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        packed.extractall(folder, **safe)
    archive.unlink()
    program = _program(folder)
    # What a first start would do for half a minute: compile the configuration, make the tables, read the realm.
    for step in (["build", "--db=dev-file"], ["import", "--optimized", "--file", str(_HERE / "realm.json")]):
        done = subprocess.run([str(program), *step], env=os.environ | _QUICK, check=False, capture_output=True)
        if done.returncode != 0:
            print(done.stdout.decode(errors="replace")[-2000:], file=sys.stderr)
            return False
    shutil.move(program.parents[1] / "data", folder / "data")
    return True


def _program(folder: Path) -> Path:
    return next(folder.glob("keycloak-*")) / "bin" / "kc.sh"


def _ending_with_us() -> list[str]:
    """What lets the server end with the tests even where they are killed."""
    return ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
