"""The root of all our errors, and how an error gets its sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Generic, Self, TypeVar

from engine.messages import N_
from engine.version import PROGRAM, install_command

Error = TypeVar("Error", bound="WorkbenchError")

_LONGEST = 1000
"""Characters of one parameter: what a person, a file or a server says can be of any length."""


class Message:
    """An error of a class of errors, raised by its name: ``raise SourceError.missing(name=path)``.

    ``fact`` and ``remedy`` are templates over the parameters that the call names; ``fixed`` are further parameters
    that are the same at every call. Any may name ``{program}``, and with a ``package`` the ``{command}`` that adds it.
    ``code`` and HTTP ``status`` are those of the class unless given.
    """

    def __init__(self, fact: str, remedy: str, *, code: str = "", status: int = 0, **fixed: str) -> None:
        self.fact = fact
        self.remedy = remedy
        self.code = code
        self.status = status
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

    def __get__(self, _: object, kind: type[Error]) -> BoundMessage[Error]:
        return BoundMessage(kind, self)


@dataclass(frozen=True, slots=True)
class BoundMessage(Generic[Error]):
    """A message of its class of errors; a call with its parameters makes the error."""

    kind: type[Error]
    message: Message

    @property
    def code(self) -> str:
        return self.message.code or self.kind.code

    @property
    def status(self) -> int:
        return self.message.status or self.kind.status

    def __call__(self, **params: object) -> Error:
        return self.kind(self.message, **params)

    def __repr__(self) -> str:
        return f"{self.kind.__name__} {self.code}"

    def restored(self, fact: str, remedy: str, params: Mapping[str, str] | None = None) -> Error:
        """Make the error again from the sentences in which another process or program stated it."""
        error = self.kind.restored(fact, remedy, params)
        error.code, error.status = self.code, self.status
        return error


_ROWS: dict[type, list[Message]] = {}
"""What is stated for a class elsewhere than in its body."""


class WorkbenchError(Exception):
    """Root of all our errors: one sentence of fact, one of remedy, no traceback needed to act.

    A class exists where something catches it; its errors are each a :class:`Message` of it, and one of its own may
    stand as ``fact`` and ``remedy``. An instance has the filled sentences, and the parameters as the texts that stand
    in them, from which a page renders it in another language.
    """

    code: str = "WB000"
    status: int = 502
    """Of HTTP, where a run or a request ends with it."""
    fact: str = N_("An unexpected {kind} stopped the run.")
    remedy: str = N_("Look at the log of the workbench for the traceback, and report it.")

    def __init__(self, message: Message | None = None, /, **params: object) -> None:
        message = message or Message(self.fact, self.remedy)
        self.code = message.code or self.code
        self.status = message.status or self.status
        shown = {name: _shown(value) for name, value in params.items()}
        filled = message.ending(message.filled(shown))
        self._say(message.fact.format_map(filled), message.remedy.format_map(filled), filled)

    @classmethod
    def restored(cls, fact: str, remedy: str, params: Mapping[str, str] | None = None) -> Self:
        """Make an error of this class from the sentences in which another process or program stated it."""
        error = cls.__new__(cls)
        error._say(fact, remedy, params or {})
        return error

    @classmethod
    def row(cls, fact: str, remedy: str, *, code: str = "", status: int = 0, **fixed: str) -> BoundMessage[Self]:
        """State another error of this class, as a plug-in does: ``LOCKED = StoreError.row(…)``, ``raise LOCKED()``."""
        message = Message(fact, remedy, code=code, status=status, **fixed)
        _ROWS.setdefault(cls, []).append(message)
        return BoundMessage(cls, message)

    @classmethod
    def messages(cls) -> tuple[Message, ...]:
        """Return the messages that are stated for this class itself, not those of its bases."""
        own = vars(cls)
        alone = (Message(own["fact"], own["remedy"]),) if "fact" in own else ()
        return (*alone, *(value for value in own.values() if isinstance(value, Message)), *_ROWS.get(cls, ()))

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
