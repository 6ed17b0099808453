"""Makes the models that give scores for question and passage."""

from __future__ import annotations

from engine.llm.scoring import Scorer
from engine.model.config import CROSS_ENCODER, RoleModel
from engine.settings import Settings


def scorer_of(model: RoleModel, settings: Settings) -> Scorer:
    """The scorer on ``cross_encoder:NAME`` or ``rerank:MODEL``; nothing is loaded or asked yet.

    Raises ``ModelError`` for a name that no cross encoder can have, or where no rerank server is set.
    """
    if model.model.startswith(CROSS_ENCODER):
        from engine.llm.cross_encoder import cross_encoder

        return cross_encoder(model, settings.data_dir)
    from engine.llm.rerank_server import server_scorer

    return server_scorer(model, settings)
