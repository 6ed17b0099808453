"""The process that reads documents: ``python -m engine.knowledge.loaders.worker``, told what to read on its input.

A file may crash a parser written in C, fill the memory or keep it busy for ever; here that hurts nothing else.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from engine.errors import SourceError, SourceTooDemanding
from engine.knowledge.loaders.contents import Loader, whole
from engine.knowledge.loaders.frames import packed, packed_error, read_frame, write_frame

LOADERS = {
    ".pdf": ("pdf", "load_pdf"),
    ".docx": ("word", "load_word"),
    ".pptx": ("slides", "load_slides"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xltx", ".xltm"), ("workbook", "load_workbook")),
    ".html": ("web_page", "load_html"),
    ".htm": ("web_page", "load_html"),
}
"""Module and function of each suffix; imported with the libraries it needs when such a file first comes."""

MOST_MEMORY = 2_000_000_000
"""Bytes of address space, where the system has such a limit."""
MOST_KEPT_MEMORY = 400_000_000
"""A file that makes the process larger than this is the last that it reads."""
_XML_NO_MEMORY = 2
"""libxml2's XML_ERR_NO_MEMORY."""


def loader_of(suffix: str) -> Loader:
    module, function = LOADERS[suffix]
    loader: Loader = getattr(import_module(f"engine.knowledge.loaders.{module}"), function)
    return loader


def answer(suffix: str, name: str, data: bytes) -> dict[str, Any]:
    """The contents of a file or the error that it deserves, as plain values."""
    try:
        return {"contents": packed(whole(name, len(data), loader_of(suffix)(name, data)))}
    except SourceError as error:
        # The XML parser tells of full memory as of a mistake in the file.
        full = getattr(error.__cause__, "code", None) == _XML_NO_MEMORY
        return {"error": packed_error(SourceTooDemanding(name=name) if full else error)}
    except (MemoryError, RecursionError):
        return {"error": packed_error(SourceTooDemanding(name=name))}


def main() -> None:
    serve(answer, MOST_MEMORY, MOST_KEPT_MEMORY)


def serve(reply_to: Callable[[str, str, bytes], dict[str, Any]], most_memory: int, most_kept: int) -> None:
    """Answer until the input ends; a file that takes longer than its time ends the process.

    ``most_memory``: bytes of address space; ``most_kept``: bytes held at worst that are worth keeping the process for.
    """
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    # A library that prints must not write into the replies.
    os.dup2(2, 1)
    # Ctrl-C is for the app, which tells this process by closing its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory(most_memory)
    while (frame := read_frame(requests)) is not None:
        head, data = frame
        # Works even where a parser in C never comes back to Python.
        faulthandler.dump_traceback_later(head["seconds"], exit=True, file=sys.stderr)
        reply = reply_to(head["suffix"], head["name"], data)
        faulthandler.cancel_dump_traceback_later()
        try:
            write_frame(replies, {**reply, "grown": _peak_memory() > most_kept})
        except OSError:
            return


def _peak_memory() -> int:
    """Most bytes of memory that this process has held; 0 where the system does not say.

    Linux counts what a large app held before it began this process into ``ru_maxrss`` too, but not into ``VmHWM``.
    """
    with contextlib.suppress(OSError, ValueError), open("/proc/self/status", "rb") as status:
        for line in status:
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)


def _limit_memory(most: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
