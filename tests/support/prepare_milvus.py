"""Prepare the Milvus test server's own environment: ``python -m tests.support.prepare_milvus FOLDER``.

Where its wheel does not exist (it is for Linux on x86-64), this says so and the server's tests are left out,
unless ``WORKBENCH_TEST_ALL`` asks for all of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.own_environment import prepared

_LOCK = Path(__file__).resolve().parents[1] / "milvus.lock"

if __name__ == "__main__":
    sys.exit(prepared("The Milvus test server", Path(sys.argv[1]), _LOCK))
