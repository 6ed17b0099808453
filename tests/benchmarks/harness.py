"""How benchmarks measure and report: timings taken in turn, medians and ratios, one table."""

from __future__ import annotations

import gc
import math
import os
import platform
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what was measured, and every value of it."""

    name: str
    unit: str
    """``ms``, ``s``, ``/s``, ``×`` for a ratio, ``%`` for a share in [0, 1], or empty for a plain number."""
    values: tuple[float, ...]
    budget: str = ""
    note: str = ""

    @property
    def median(self) -> float:
        return median(self.values)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured; the defaults are those of ``make bench``."""

    repeats: int = 15
    passages: int = 1000
    """Rows of the embedded collection that is searched."""
    server_passages: int = 5000
    graded: int = 10
    ingested: int = 400
    """Passages put in with the hashing embedder."""
    embedded: int = 12
    """Passages put in with the built-in model, which takes about 0.4 s each."""
    starts: int = 5
    """Times the app is started."""
    events: int = 2000
    worded: int = 10_000
    """Passages that are searched by vectors, by words and by both."""
    swept: int = 1000
    """Runs that settings are tried on."""
    growth: tuple[int, ...] = (1_000, 10_000, 100_000)
    """Passages of a growing collection."""
    scale: tuple[int, ...] = (10_000, 100_000)
    """Passages of a collection of a server, with every index; a million take hours."""
    teams: int = 20
    """Teams that share a server."""
    loaded: int = 20_000
    """Passages that are put into a server with their vectors."""
    asked: int = 2_000
    """Questions of a team's batch."""
    rated: int = 100
    """Questions that a chat model grades on a cluster."""
    body: int = 25_000_000
    """Bytes of a request that means harm."""
    refined_every: int = 1
    """One of how many sample questions has its passages refined."""
    drawn: int = 40
    """Questions of public data sets that a model is measured on, a language and set."""
    stated: int = 100
    """Pairs on which a chat model that gives P(yes) is also asked how sure it is."""


TINY = Sizes(
    repeats=2,
    passages=30,
    server_passages=30,
    graded=3,
    ingested=20,
    embedded=1,
    starts=1,
    events=30,
    swept=8,
    growth=(60, 120),
    scale=(60, 120),
    teams=2,
    loaded=100,
    asked=200,
    rated=100,
    body=100_000,
    refined_every=12,
)


@dataclass(frozen=True, slots=True)
class Bench:
    """What a benchmark is given."""

    folder: Path
    """An empty folder of its own."""
    sizes: Sizes = field(default_factory=Sizes)
    data: Path | None = None
    """Folder with ``xquad-dev.{en,zh}.json``, where there is one."""
    vectors: Path | None = None
    """Folder that keeps embedded texts between runs."""
    out: Path | None = None
    """Folder for reports with charts, where they are wanted."""
    model: str = ""
    """A model to measure, as a config names it."""
    url: str = ""
    """Address of its server, where that is not the provider's own."""
    called: str = ""
    """Its name in the tables."""
    record: bool = False
    """Whether the figures are to be kept for the documentation."""
    kept: bool = False
    """Whether only replies that are kept already count, without a call."""


Measure = Callable[[Bench], Iterator[Row]]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A named benchmark; a slow one runs only when it is named, or with ``--all``."""

    name: str
    about: str
    measure: Measure
    slow: bool = False


def in_turn(*works: Callable[[], object], repeats: int, warm_ups: int = 1) -> list[tuple[float, ...]]:
    """Milliseconds of each work, the works taking turns, so that a busy moment of the machine meets all of them."""
    for work in works * warm_ups:
        work()
    taken: list[list[float]] = [[] for _ in works]
    gc.collect()
    for turn in range(repeats):
        for place in _order(len(works), turn):
            began = time.perf_counter()
            works[place]()
            taken[place].append((time.perf_counter() - began) * 1000.0)
    return [tuple(values) for values in taken]


async def in_turn_async(
    *works: Callable[[], Awaitable[object]], repeats: int, warm_ups: int = 1
) -> list[tuple[float, ...]]:
    """:func:`in_turn` on the running loop, so that no start of a loop is measured."""
    for work in works * warm_ups:
        await work()
    taken: list[list[float]] = [[] for _ in works]
    gc.collect()
    for turn in range(repeats):
        for place in _order(len(works), turn):
            began = time.perf_counter()
            await works[place]()
            taken[place].append((time.perf_counter() - began) * 1000.0)
    return [tuple(values) for values in taken]


def _order(count: int, turn: int) -> Iterable[int]:
    # Each leads every other turn: whoever comes second finds the caches warm.
    return range(count) if turn % 2 == 0 else reversed(range(count))


def ratio(name: str, ours: Sequence[float], base: Sequence[float], budget: str = "", note: str = "") -> Row:
    """Pair by pair: two values of one turn met the same load."""
    values = tuple(mine / max(theirs, 1e-9) for mine, theirs in zip(ours, base, strict=True))
    return Row(name, "×", values, budget, note)


def table(rows: Sequence[Row]) -> str:
    """The rows as text columns: name, median, minimum, maximum, how many, budget, note."""
    head = ("benchmark", "median", "min", "max", "n", "budget", "")
    cells = [head, *map(_cells, rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            text.rjust(width) if 1 <= column <= 4 else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    )


def _cells(row: Row) -> tuple[str, ...]:
    figures = (shown(value, row.unit) for value in (row.median, min(row.values), max(row.values)))
    return (row.name, *figures, str(len(row.values)), row.budget, row.note)


def shown(value: float, unit: str) -> str:
    """A value with its unit, in about three figures."""
    if unit == "%":
        return f"{value:.1%}"
    digits = 2 if value == 0 else max(0, min(4, 2 - math.floor(math.log10(abs(value)))))
    return f"{value:.{digits}f} {unit}".rstrip()


def machine() -> str:
    """One line on where this was measured."""
    cores = os.cpu_count() or 0
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return f"{_processor()}, {cores} cores, load {load:.1f}, {platform.system()}, Python {platform.python_version()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def prefixed(prefix: str, rows: Iterable[Row]) -> Iterator[Row]:
    """The same rows with their names made distinct."""
    for row in rows:
        yield replace(row, name=f"{prefix}: {row.name}")
