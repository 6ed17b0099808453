"""The command ``rag-workbench``: the app, or any subcommand."""

from __future__ import annotations

import sys

from rag_workbench import ROOT


def main() -> int:
    """Run the command line of the program, in a process that is the program's alone."""
    sys.path.insert(0, str(ROOT))
    from engine.__main__ import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
