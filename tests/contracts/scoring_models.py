"""Models that give scores for the contract suites: a tiny cross encoder made here, alone and behind rerank servers."""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from engine.llm import local
from engine.llm.cross_encoder import cross_encoder, scores_of_folder
from engine.llm.entailment import entailment
from engine.llm.scorers import scorer_of
from engine.llm.scoring import Scorer, ScoringGrader, ScoringReranker
from engine.llm.verifier import ScoringVerifier
from engine.model.config import RoleModel
from engine.settings import Settings
from tests.support.rerank_stand_in import Kind, RerankStandIn
from tests.support.tiny_cross_encoder import write_cross_encoder
from tests.support.tiny_gguf import write_embedder, write_reranker

NAME = "tiny/overlap"
KNOWN = (
    "rapid acting insulin injected abdomen absorption fastest tree vertices edges",
    "没开封的胰岛素应该怎样保存放在冰箱冷藏室里温度为二到八摄氏度",
)
"""The words that the tiny model knows: none that stands in every sentence."""


@cache
def data_dir() -> Path:
    """A data folder with the model in the place where the program looks for it; made once for all tests."""
    folder = Path(mkdtemp(prefix="scoring-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_cross_encoder(folder / "rerankers" / NAME, KNOWN)
    return folder


@cache
def file_settings() -> Settings:
    """Settings with an embedder and a reranker in GGUF files; their processes end when Python ends."""
    write_embedder(data_dir() / "models/embed.gguf", KNOWN)
    write_reranker(data_dir() / "models/rank.gguf")
    settings = Settings(data_dir=data_dir())
    atexit.register(local.stop_all, settings)
    return settings


def tiny_scorer() -> Scorer:
    return cross_encoder(RoleModel(f"cross_encoder:{NAME}"), data_dir())


def tiny_scores(question: str, texts: Sequence[str]) -> Sequence[float]:
    """The logits of the tiny model, for a server that runs it."""
    return scores_of_folder(RoleModel(f"cross_encoder:{NAME}"), data_dir())(question, texts)


@cache
def stand_in(kind: Kind) -> RerankStandIn:
    """One for all tests; closed when Python ends."""
    server = RerankStandIn(kind, tiny_scores).__enter__()
    atexit.register(server.close)
    return server


def server_settings(kind: Kind) -> Settings:
    scale = "logit" if kind == "llama.cpp" else "share"
    return Settings.load(rerank_url=stand_in(kind).url, rerank_scores=scale, data_dir=Path("unused"))


def tiny_grader() -> ScoringGrader:
    return ScoringGrader(tiny_scorer())


def tiny_reranker() -> ScoringReranker:
    return ScoringReranker(tiny_scorer())


def server_grader(kind: Kind) -> ScoringGrader:
    return ScoringGrader(scorer_of(RoleModel("rerank:tiny"), server_settings(kind)))


def server_reranker(kind: Kind) -> ScoringReranker:
    return ScoringReranker(scorer_of(RoleModel("rerank:tiny"), server_settings(kind)))


def tiny_verifier(known: Sequence[str]) -> ScoringVerifier:
    """A model of three labels that finds a sentence supported by a text with all of its words."""
    name = f"tiny/entails-{abs(hash(tuple(known))):x}"
    write_cross_encoder(data_dir() / "rerankers" / name, known, labels=("entailment", "neutral", "contradiction"))
    return ScoringVerifier(entailment(RoleModel(f"cross_encoder:{name}"), data_dir()))
