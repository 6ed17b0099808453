"""A local server that speaks Ollama's wire protocol, for fault tests and for demonstrations.

``OllamaStandIn`` listens on a free port of 127.0.0.1, records every request, and answers as a current Ollama server
does, down to the wording of its errors. What goes wrong, and when, is scripted per endpoint::

    with OllamaStandIn(models=["qwen3:8b"]) as ollama:
        ollama.script("chat", NotFound(), DiesMidStream(after_tokens=2))
        ...
        ollama.wait_for(lambda seen: seen.requests[-1].aborted)
"""

from tests.support.ollama_stand_in.behaviours import (
    Behaviour,
    DiesMidStream,
    EndsEarly,
    ErrorMidStream,
    Garbage,
    Gate,
    Hangs,
    NotFound,
    Reply,
    ServerError,
    Slow,
    Vectors,
)
from tests.support.ollama_stand_in.embedding import embed
from tests.support.ollama_stand_in.models import ModelCard
from tests.support.ollama_stand_in.recorder import Endpoint, RecordedRequest
from tests.support.ollama_stand_in.schema import smallest
from tests.support.ollama_stand_in.server import OllamaStandIn

__all__ = [
    "Behaviour",
    "DiesMidStream",
    "Endpoint",
    "EndsEarly",
    "ErrorMidStream",
    "Garbage",
    "Gate",
    "Hangs",
    "ModelCard",
    "NotFound",
    "OllamaStandIn",
    "RecordedRequest",
    "Reply",
    "ServerError",
    "Slow",
    "Vectors",
    "embed",
    "smallest",
]
