"""``python -m tests.docs --write`` brings the tables of README and docs and the pictures of the workflows up to date.

Without ``--write`` it says whether they are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.docs import PAGES, pictures, with_tables


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 where a file differs and was not written."""
    parser = argparse.ArgumentParser(prog="python -m tests.docs", description="Tables and pictures made from the code.")
    parser.add_argument("--write", action="store_true", help="write them")
    options = parser.parse_args(arguments)
    wanted = {**{page: with_tables(page.read_text(encoding="utf-8")) for page in PAGES}, **pictures()}
    old = {
        path: text for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text
    }
    for path, text in old.items():
        if options.write:
            path.write_text(text, encoding="utf-8")
        print(f"{path.name} {'was written' if options.write else 'is old'}.")
    if not old:
        print("Everything is up to date.")
    elif not options.write:
        print("Run `python -m tests.docs --write`.")
    return 1 if old and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
