"""Makes the models that give scores for question and passage."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import SecretStr

from engine.llm.scoring import Scorer
from engine.model.config import CROSS_ENCODER, RoleModel
from engine.settings import Settings


def scorer_of(model: RoleModel, settings: Settings) -> Scorer:
    """The scorer on ``cross_encoder:NAME``, ``cross_encoder:FILE.gguf`` or ``rerank:MODEL``; nothing is loaded yet.

    Raises ``ModelError`` for a name that no cross encoder can have, or where no rerank server is set.
    """
    if model.in_file:
        return _file_scorer(model.model, settings)
    if model.model.startswith(CROSS_ENCODER):
        from engine.llm.cross_encoder import cross_encoder

        return cross_encoder(model, settings.data_dir)
    from engine.llm.rerank_server import server_scorer

    return server_scorer(model, settings)


def _file_scorer(name: str, settings: Settings) -> Scorer:
    """A scorer on a GGUF file, which is asked as a rerank server is."""
    from engine.llm.local import serving
    from engine.llm.rerank_server import RerankServer

    async def score(question: str, texts: Sequence[str]) -> Sequence[float]:
        async with serving(name, settings, "scores") as server:
            own = {"rerank_url": server.address, "rerank_api_key": SecretStr(server.key)}
            found = await RerankServer(name, settings.model_copy(update=own)).scores(question, texts)
            # llama.cpp turns the two words of this family into a probability itself.
            share = server.model.architecture.startswith("qwen3")
            return [logit(value) for value in found] if share else found

    return Scorer(name, score, in_process=False)


def logit(share: float) -> float:
    """The inverse of the sigmoid, finite at 0 and 1 too."""
    inner = min(max(share, 1e-9), 1 - 1e-9)
    return math.log(inner / (1 - inner))


def verifying_scorer(model: RoleModel, settings: Settings) -> Scorer:
    """The same for texts against a sentence: a cross encoder is read by its own labels, of which one means support."""
    if model.model.startswith(CROSS_ENCODER):
        from engine.llm.entailment import entailment

        return entailment(model, settings.data_dir)
    return scorer_of(model, settings)
