"""Records of runs: stored as they happen, listed, tagged, loaded and deleted."""

from engine.records.tagging import BATCH, CHAT, PINNED

__all__ = ["BATCH", "CHAT", "PINNED"]
