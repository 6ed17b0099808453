"""The Dockerfile, carried out in a clean root file system, and the compose file next to it."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.settings import Settings
from tests.support import clean_root
from tests.support.dockerfile import Builder, Image
from tests.support.wheel import ROOT

QUESTION = "When does a connected graph have an Euler circuit?"
ASKING = """
import json, sys, urllib.request
body = json.dumps({"query": sys.argv[1]}).encode()
address = "http://127.0.0.1:8501/api/self-corrective-rag"
request = urllib.request.Request(address, body, {"content-type": "application/json"})
print(urllib.request.urlopen(request).read().decode())
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    if why := clean_root.missing():
        assert not os.environ.get("WORKBENCH_TEST_ALL"), why
        pytest.skip(f"the Dockerfile is not carried out: {why}")
    uv = Path(sys.executable).with_name("uv")
    cache = Path(subprocess.run([uv, "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip())
    folder = tmp_path_factory.mktemp("image")
    yield Builder(ROOT, folder, cache, {"UV_NO_CACHE": "0"}).build(ROOT / "Dockerfile")
    # A gigabyte, which pytest would keep for three runs.
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def container(image: Image) -> Iterator[int]:
    """The id of the process, once it says where it is."""
    with image.start(image.command) as started:
        assert started.stdout is not None
        first = started.stdout.readline()
        assert first.startswith("Self-Corrective RAG Workbench: http://0.0.0.0:8501"), first + started.stdout.read()
        process = os.pidfd_open(clean_root.first_child(started.pid))
        yield started.pid
        started.kill()
    ended, _, _ = select.select([process], [], [], 30)
    os.close(process)
    assert ended, "the app outlived the command that it was started by"


def said(image: Image, container: int, *command: str) -> str:
    with image.start(command, inside=container) as process:
        output, _ = process.communicate()
    assert process.returncode == 0, output
    return output


def test_the_image_answers_with_citations_as_a_user_without_rights_and_without_a_network(
    image: Image, container: int
) -> None:
    """PK-03: all that it writes is in its volume."""
    wait = "import time, urllib.request as r\nwhile True:\n try: r.urlopen('http://127.0.0.1:8501/api/health'); break\n"
    said(image, container, "python", "-c", wait + " except OSError: time.sleep(0.1)")
    answer = json.loads(said(image, container, "python", "-c", ASKING, QUESTION))
    assert answer["success"]
    assert answer["citations"]
    assert (image.user, image.volumes) == ("workbench", ["/data"])
    assert (image.root / "data" / "knowledge.db").stat().st_uid == 1000
    assert not [path for path in (image.root / "app").rglob("*.pyc") if path.stat().st_uid == 1000]


def test_the_health_check_of_the_image_passes_while_the_app_runs_and_only_then(image: Image, container: int) -> None:
    """PK-03."""
    said(image, container, *image.health)
    with image.start(image.health) as alone:
        alone.communicate()
    assert alone.returncode != 0


def test_a_subcommand_runs_in_the_container(image: Image, container: int) -> None:
    """PK-03: as ``docker compose exec app rag-workbench …`` does."""
    assert "[1]" in said(image, container, "rag-workbench", "ask", QUESTION)


def composed() -> Any:
    return yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))


def test_the_app_is_alone_by_default_and_each_server_is_a_profile() -> None:
    """PK-03."""
    services = composed()["services"]
    assert {name: service.get("profiles", []) for name, service in services.items()} == {
        "app": [],
        "milvus": ["milvus"],
        "postgres": ["postgres"],
        "ollama": ["ollama"],
    }
    assert set(services["app"]["depends_on"]) == services.keys() - {"app"}
    assert not any(wanted["required"] for wanted in services["app"]["depends_on"].values())
    assert [service["ports"] for service in services.values() if "ports" in service] == [["127.0.0.1:8501:8501"]]


def test_every_variable_of_the_compose_file_is_a_setting_and_every_image_has_a_version() -> None:
    """PK-03."""
    services = composed()["services"]
    known = {f"WORKBENCH_{name.upper()}" for name in type(Settings()).model_fields}
    assert {*services["app"]["environment"]} <= known
    assert all(re.search(r":v?\d", service["image"]) for name, service in services.items() if name != "app")
    volumes = {line.partition(":")[0] for service in services.values() for line in service.get("volumes", ())}
    assert volumes == {*composed()["volumes"]}
