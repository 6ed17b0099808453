"""Command line: ``python -m engine``, alone or with ``ask``, ``ingest``, ``eval``, ``serve`` …"""

from __future__ import annotations

import sys

from engine.errors import WorkbenchError


def main() -> int:
    """Start the app where nothing else is asked for; else do what the subcommand says. Returns the exit code."""
    command, *rest = sys.argv[1:] or ["serve"]
    if command != "serve" and not command.startswith(("--host", "--port")):
        from engine.cli.main import main as run

        return run()
    # Past the parser and its imports, which cost as much as a second: the page is waited for.
    from engine.cli.serve import serve

    try:
        return serve(rest if command == "serve" else [command, *rest])
    except WorkbenchError as error:
        print(f"{error.fact}\n{error.remedy}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
