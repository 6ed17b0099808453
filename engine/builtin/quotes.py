"""A question, and what sentences of passages offer to it, as the built-in generator weighs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.builtin.answer_form import Form
from engine.builtin.answer_kind import Asked
from engine.builtin.evidence import Question


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a passage with what it offers to the question."""

    marker: int
    position: int
    """Place within its passage, from 0."""
    text: str
    words: frozenset[str]
    covers: Mapping[str, float]
    """Each term of the question that it has, with the term's share of the question's weight."""
    kinds: tuple[float, ...]
    """How well it holds the kind of answer that each clause of the question asks for, in [0, 1]."""
    extra: float
    """Score that does not depend on what else is chosen."""
    scale: float
    """Below 1 for what reads badly as an answer: questions and fragments."""
    code: str = ""
    """The block of code behind it, between fences."""
    entry: str = ""
    """What its section describes, where the heading is a name in code: ``server.port``."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question as sentences are held against it."""

    question: Question
    clauses: tuple[Asked, ...]
    renamed: tuple[tuple[str, ...], ...]
    """Other names of the question's expressions."""
    form: Form
