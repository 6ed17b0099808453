"""Command line: ``python -m engine ask | ingest | eval | serve``."""

from __future__ import annotations

import sys

from engine.errors import WorkbenchError


def _main() -> int:
    if sys.argv[1:] != ["serve"]:
        from engine.cli.main import main

        return main()
    # Past the parser and its imports, which cost as much as a second: the page is waited for.
    from engine.cli.serve import serve

    try:
        return serve()
    except WorkbenchError as error:
        print(f"{error.fact}\n{error.remedy}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(_main())
