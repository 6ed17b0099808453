"""Images can be read after the plain install, and an app that reads none never loads what it needs for it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_reader_of_images_is_part_of_the_plain_install() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {re.split(r"[<>=\[]", item)[0] for item in project["dependencies"]}
    locked = set(re.findall(r"(?m)^([a-z0-9-]+)==", (ROOT / "requirements.lock").read_text(encoding="utf-8")))
    assert {"rapidocr", "onnxruntime"} <= named & locked
    assert "ocr" in project["optional-dependencies"]


def test_it_is_not_loaded_before_an_image_is_read() -> None:
    script = (
        "import sys, engine.engine, engine.builtin.ocr; print({'rapidocr', 'onnxruntime', 'cv2'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "set()"
