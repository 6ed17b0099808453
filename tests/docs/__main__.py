"""``python -m tests.docs --write`` brings README's tables up to date; without ``--write`` it says whether they are."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.docs import README, with_tables


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 where README differs and was not written."""
    parser = argparse.ArgumentParser(prog="python -m tests.docs", description="The tables of README.")
    parser.add_argument("--write", action="store_true", help="write README.md")
    options = parser.parse_args(arguments)
    present = README.read_text(encoding="utf-8")
    wanted = with_tables(present)
    if present == wanted:
        print("README.md is up to date.")
        return 0
    if not options.write:
        print("README.md has old tables: run `python -m tests.docs --write`.")
        return 1
    README.write_text(wanted, encoding="utf-8")
    print("README.md was written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
