"""Run the stand-in by hand: ``python -m tests.support.ollama_stand_in --port 11434``."""

from __future__ import annotations

import argparse
import signal
import threading
from collections.abc import Sequence

from tests.support.ollama_stand_in.demo import demo_reply
from tests.support.ollama_stand_in.server import DEFAULT_MODELS, OllamaStandIn


def main(argv: Sequence[str] | None = None, stop: threading.Event | None = None) -> None:
    """Serve until interrupted, terminated, or told by ``stop``."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.ollama_stand_in", description=__doc__)
    parser.add_argument("--port", type=int, default=11434, help="0 takes a free port (default: %(default)s)")
    parser.add_argument("--delay", type=float, default=0.03, help="seconds before each word (default: %(default)s)")
    parser.add_argument("--models", nargs="+", default=DEFAULT_MODELS, help="default: %(default)s")
    asked = parser.parse_args(argv)
    if stop is None:
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
    with OllamaStandIn(asked.models, demo_reply, per_token_s=asked.delay, port=asked.port) as server:
        print(f"Stand-in for Ollama on {server.url} with {', '.join(asked.models)}; Ctrl+C stops it.", flush=True)
        stop.wait()


if __name__ == "__main__":
    main()
