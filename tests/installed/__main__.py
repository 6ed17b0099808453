"""``python -m tests.installed``: install the wheel into an empty environment and print what each part of it costs."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.installed.sizes import sizes_in
from tests.support.wheel import built, install


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        installed = install(built(Path(folder) / "dist"), Path(folder))
        print(sizes_in(installed.packages).table())


if __name__ == "__main__":
    main()
