"""Processes that a test kills: forks of one that has imported what they need, which takes over a second each time."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any
from unittest import mock

Work = Callable[..., None]
"""A function of a module, given a way to say that it has come to a place, and what else the test hands over."""

_METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
_CONTEXT: Any = multiprocessing.get_context(_METHOD)
if _METHOD == "forkserver":
    _CONTEXT.set_forkserver_preload(["pymilvus", "milvus_lite", "faiss", "grpc", "tests.support.plain_knowledge"])


@contextmanager
def killed_at_the_end(work: Work, *given: Any) -> Iterator[Connection]:
    """A process at its work, and what it says; a process that ends by itself has nothing more to say."""
    heard, said = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=work, args=(said.send, *given))
    # Otherwise it would import what stands in the place of the main module, such as the script of an earlier AppTest.
    with mock.patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):
        process.start()
    said.close()
    try:
        yield heard
    finally:
        process.kill()
        process.join()
        process.close()
        heard.close()
