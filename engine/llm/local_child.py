"""llama.cpp with one file, in a process of its own: ``python -m engine.llm.local_child``.

It is given one line of JSON, says one with the address that it serves OpenAI's protocol at, and ends when its standard
input is closed, which the end of its parent does, however it comes.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress


def main() -> None:
    wanted = json.loads(sys.stdin.buffer.readline())
    # What llama.cpp prints must not be taken for the address.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _end_with_parent()
    answers.write(json.dumps({"address": _served(wanted)}) + "\n")
    answers.flush()
    sys.stdin.buffer.read()
    os._exit(0)


def _end_with_parent() -> None:
    """Let the system end this process when the pipe closes: loading a model holds up every thread of Python."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        # The signal that comes then (SIGIO) ends who does not handle it.
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)


def _served(wanted: dict[str, object]) -> str:
    import xllamacpp as llama

    options = llama.CommonParams()
    options.model.path = wanted["path"]
    options.n_parallel = wanted["slots"]
    options.n_ctx = wanted["context"]
    options.port = 0
    options.api_keys = [wanted["key"]]
    options.ui = options.endpoint_slots = False
    options.verbosity = 1
    # Read, not mapped: what it takes is then known before it is loaded, and no prompt is kept apart from its slot.
    options.load_mode = llama.llama_load_mode.LLAMA_LOAD_MODE_NONE
    options.cache_ram_mib = 0
    options.warmup = False
    if wanted["kind"] != "chat":
        options.embedding = True
        # A text is read in one piece.
        options.n_batch = options.n_ubatch = wanted["context"]
    if wanted["kind"] == "scores":
        options.pooling_type = llama.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
    # Kept by the module: the server ends with the object.
    globals()["_server"] = server = llama.Server(options)
    return str(server.listening_address)


if __name__ == "__main__":
    main()
