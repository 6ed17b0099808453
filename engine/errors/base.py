"""The root of all our errors, and how an error gets its sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from string import Formatter
from typing import ClassVar, Self, TypeVar

from engine.messages import N_
from engine.version import PROGRAM, install_command

Error = TypeVar("Error", bound="WorkbenchError")

_LONGEST = 1000
"""Characters of one parameter: what a person, a file or a server says can be of any length."""


class Message:
    """One of several messages of an error class: ``raise InvalidTag.too_long(length=99, limit=40)``.

    ``fact`` and ``remedy`` are templates over the parameters that the call names; ``fixed`` are further parameters
    that are the same at every call. Any may name ``{program}``, and with a ``package`` the ``{command}`` that adds it.
    """

    def __init__(self, fact: str, remedy: str, **fixed: str) -> None:
        self.fact = fact
        self.remedy = remedy
        self.fixed = fixed

    @property
    def fields(self) -> frozenset[str]:
        """Names of the parameters in the two templates."""
        return frozenset(name for text in (self.fact, self.remedy) for _, name, _, _ in Formatter().parse(text) if name)

    def filled(self, params: Mapping[str, str]) -> dict[str, str]:
        """Return the parameters with those that every message knows: how this program is called and added to."""
        given = {**self.fixed, **params}
        known = {"program": PROGRAM}
        if "package" in given:
            known["command"] = install_command(given["package"])
        return {name: known[name] for name in self.fields & known.keys()} | given

    def ending(self, filled: Mapping[str, str]) -> dict[str, str]:
        """Return the parameters without the full stop of one that stands before the message's own."""
        ends = {name for name in filled if f"{{{name}}}." in self.fact + self.remedy}
        return {name: value.rstrip(".。") if name in ends else value for name, value in filled.items()}

    def __get__(self, _: object, kind: type[Error]) -> Callable[..., Error]:
        return partial(kind, self)


class WorkbenchError(Exception):
    """Root of all our errors: one sentence of fact, one of remedy, no traceback needed to act.

    A class states its message as ``fact`` and ``remedy``, templates over the parameters of its constructor. Where one
    code has several messages, each is a :class:`Message` of the class. An instance has the filled sentences, and the
    parameters as the texts that stand in them, from which a page renders it in another language.
    """

    code: ClassVar[str] = "WB000"
    status: ClassVar[int] = 502
    """Of HTTP, for what plug-ins state; the API has a table for the core's own."""
    fact: str = N_("An unexpected {kind} stopped the run.")
    remedy: str = N_("Look at the log of the workbench for the traceback, and report it.")

    def __init__(self, message: Message | None = None, /, **params: object) -> None:
        message = message or Message(self.fact, self.remedy)
        shown = {name: _shown(value) for name, value in params.items()}
        filled = message.ending(message.filled(shown))
        self._say(message.fact.format_map(filled), message.remedy.format_map(filled), filled)

    @classmethod
    def restored(cls, fact: str, remedy: str, params: Mapping[str, str] | None = None) -> Self:
        """Make the error again from the sentences in which another process or program stated it."""
        error = cls.__new__(cls)
        error._say(fact, remedy, params or {})
        return error

    @classmethod
    def messages(cls) -> tuple[Message, ...]:
        """Return the messages that this class states itself, not those of its bases."""
        own = vars(cls)
        alone = (Message(own["fact"], own["remedy"]),) if "fact" in own else ()
        return (*alone, *(value for value in own.values() if isinstance(value, Message)))

    def _say(self, fact: str, remedy: str, params: Mapping[str, str]) -> None:
        self.params = dict(params)
        self.fact = fact
        self.remedy = remedy
        super().__init__(f"{fact} {remedy}")


def _shown(value: object) -> str:
    """Return a parameter as it stands in a sentence: numbers without needless digits, lists with commas."""
    if isinstance(value, float):
        return f"{value:.10g}"
    return (", ".join(value) if isinstance(value, tuple | list) else str(value))[:_LONGEST]
