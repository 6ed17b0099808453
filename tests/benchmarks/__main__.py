"""``python -m tests.benchmarks [NAME…] [--all] [--data DIR]``: measure, and print one table a benchmark."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from engine.settings import Settings
from tests.benchmarks.catalogue import BENCHMARKS
from tests.benchmarks.harness import Bench, Sizes, machine, table
from tests.benchmarks.recorded import RECORDED, write

_ROOT = Path(__file__).resolve().parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was named; without a name everything that is not slow."""
    options = _parser().parse_args(arguments)
    chosen = [BENCHMARKS[name] for name in options.names] or [
        item for item in BENCHMARKS.values() if options.all or not item.slow
    ]
    vectors = options.vectors or Settings.load().data_dir / "benchmarks" / "vectors"
    # Measured as delivered, not as this machine's owner has set it up.
    for name in [name for name in os.environ if name.startswith("WORKBENCH_") and "_TEST_" not in name]:
        del os.environ[name]
    sizes = dataclasses.replace(Sizes(), repeats=options.repeats) if options.repeats else Sizes()
    if options.sizes:
        sizes = dataclasses.replace(sizes, growth=options.sizes, scale=options.sizes)
    if options.questions:
        asked = options.questions
        sizes = dataclasses.replace(sizes, asked=asked, rated=asked, drawn=asked)
    print(machine())
    for item in chosen:
        print(f"\n{item.name}: {item.about}", flush=True)
        with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
            bench = Bench(
                Path(folder), sizes, options.data, vectors, options.out,
                options.model, options.url, options.called, options.record, options.kept,
            )  # fmt: skip
            rows = list(item.measure(bench))
            print(table(rows) if rows else "", flush=True)
            if options.record and item.name in RECORDED:
                print(f"kept in {write(item.name, rows, machine())}")
    left_out = [item.name for item in BENCHMARKS.values() if item not in chosen]
    if left_out and not options.names:
        print(f"\nSlow ones run when named, or with --all: {', '.join(left_out)}")
    return 0


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(sorted(int(part) for part in text.split(",")))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description="Measure the workbench.")
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--all", action="store_true", help="run the slow ones too")
    parser.add_argument("--repeats", type=int, default=0, help="how often each timing is taken")
    parser.add_argument(
        "--sizes", type=_numbers, default=(), metavar="N,N", help="passages of the collections of growth and scale"
    )
    parser.add_argument("--questions", type=int, default=0, metavar="N", help="questions of cluster, team and models")
    parser.add_argument(
        "--data", type=Path, default=_ROOT.parent / "shared" / "data", help="folder with xquad-dev.{en,zh}.json"
    )
    parser.add_argument("--model", default="", help="a model to measure: ollama:NAME, openai:NAME, rerank:NAME …")
    parser.add_argument("--url", default="", help="address of its server")
    parser.add_argument("--called", default="", metavar="NAME", help="its name in the tables")
    parser.add_argument("--kept", action="store_true", help="figures of the replies of a model that are kept, no call")
    parser.add_argument("--record", action="store_true", help="keep the figures that stand in the documentation")
    parser.add_argument("--vectors", type=Path, help="folder that keeps embedded texts; default: in the data folder")
    parser.add_argument("--out", type=Path, help="folder for reports with charts, where a benchmark makes them")
    return parser


if __name__ == "__main__":
    sys.exit(main())
