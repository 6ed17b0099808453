"""What can go wrong with a model or its server."""

from __future__ import annotations

from typing import Self

from engine.errors.base import WorkbenchError


class ModelError(WorkbenchError):
    """A model failed in a way that has no class of its own."""

    code = "WB400"


class ModelUnreachable(ModelError):
    code = "WB401"

    @classmethod
    def at(cls, provider: str, address: str) -> Self:
        return cls(
            f"{provider} at {address} does not answer.",
            remedy=f"Start {provider}, or correct WORKBENCH_OLLAMA_URL; built-in models need no server.",
            params={"provider": provider, "address": address},
        )


class ModelNotPulled(ModelError):
    code = "WB402"

    @classmethod
    def named(cls, model: str) -> Self:
        return cls(
            f"Ollama has no model named {model}.",
            remedy=f"Run `ollama pull {model}`, then try again.",
            params={"model": model, "command": f"ollama pull {model}"},
        )


class ModelTimeout(ModelError):
    code = "WB403"

    @classmethod
    def after(cls, model: str, seconds: float) -> Self:
        return cls(
            f"{model} gave no complete reply within {seconds:.0f} s.",
            remedy="Choose a smaller model, or raise WORKBENCH_CALL_TIMEOUT_S.",
            params={"model": model, "seconds": f"{seconds:.0f}"},
        )


class BudgetSpent(ModelError):
    """The run's own time budget ended a call that was still going on."""

    code = "WB413"

    @classmethod
    def during(cls, model: str, budget_s: float) -> Self:
        return cls(
            f"{model} had not finished when the budget of {budget_s:g} s was spent.",
            remedy="Raise the time budget of the run, or choose a smaller model.",
            params={"model": model, "seconds": f"{budget_s:g}"},
        )


class AnswerCut(ModelError):
    """The answer reached the limit of tokens of its model and breaks off there."""

    code = "WB414"

    @classmethod
    def at(cls, model: str, tokens: int) -> Self:
        return cls(
            f"The answer of {model} breaks off: it reached the limit of its reply after {tokens} tokens.",
            remedy="Raise num_ctx for the generator, or ask more narrowly.",
            params={"model": model, "tokens": str(tokens)},
        )


class ModelInterrupted(ModelError):
    """The model's server dropped the connection in the middle of a reply."""

    code = "WB404"

    @classmethod
    def mid_reply(cls, model: str) -> Self:
        return cls(
            f"{model} stopped in the middle of its reply.",
            remedy="Look at the model server's log, then try again; what had arrived is kept in the record.",
            params={"model": model},
        )


class ModelRefused(ModelError):
    """The model's server answered with an error of its own."""

    code = "WB405"

    @classmethod
    def because(cls, model: str, status: int, message: str) -> Self:
        return cls(
            f"{model} was refused by its server ({status}): {message[:300]}",
            remedy="Look at the model server's log, or choose another model for this role.",
            params={"model": model, "status": str(status), "message": message[:300]},
        )


class UnknownProvider(ModelError):
    code = "WB406"

    @classmethod
    def named(cls, model: str, package: str) -> Self:
        return cls(
            f"The model {model!r} cannot be loaded here.",
            remedy=f"Run `pip install {package}` and start again, or choose `builtin` or `ollama:MODEL`.",
            params={"model": model, "package": package},
        )


class ModelKeyRefused(ModelError):
    """A provider does not take the key that it was given, or wants one."""

    code = "WB415"

    @classmethod
    def by(cls, model: str, variable: str, status: int) -> Self:
        return cls(
            f"The server of {model} does not accept the key that it was given ({status}).",
            remedy=f"Set {variable} to a key that may use this model, then start the workbench again.",
            params={"model": model, "variable": variable, "status": str(status)},
        )

    @classmethod
    def missing(cls, model: str, variable: str) -> Self:
        return cls(
            f"{model} cannot be asked without a key.",
            remedy=f"Set {variable} to a key that may use this model, then start the workbench again.",
            params={"model": model, "variable": variable},
        )


class ModelNotServed(ModelError):
    """A provider answers, but has no such model."""

    code = "WB416"

    @classmethod
    def named(cls, model: str) -> Self:
        return cls(
            f"The server of {model} has no model of that name.",
            remedy="Choose one that the page System lists for this provider, or load the model there.",
            params={"model": model},
        )


class PromptTooLong(ModelError):
    code = "WB407"

    @classmethod
    def tokens(cls, model: str, tokens: int, num_ctx: int) -> Self:
        return cls(
            f"The prompt for {model} has about {tokens} tokens; its context holds {num_ctx}.",
            remedy="Raise num_ctx for this role, or lower top_k.",
            params={"model": model, "tokens": str(tokens), "num_ctx": str(num_ctx)},
        )


class EmptyReply(ModelError):
    """A generator produced no text at all."""

    code = "WB408"

    @classmethod
    def from_model(cls, model: str) -> Self:
        return cls(
            f"{model} returned an empty answer.",
            remedy="Try again, or choose another model for the generator.",
            params={"model": model},
        )


class WordlessReply(ModelError):
    """A generator answered with markers of passages or the question alone, twice."""

    code = "WB417"

    @classmethod
    def of(cls, model: str) -> Self:
        return cls(
            f"{model} answered twice with nothing but markers of passages or the question itself.",
            remedy="Choose another model for the generator; small ones often do this.",
            params={"model": model},
        )


class AnswerUncited(ModelError):
    """The answer names no passage, so nothing in it can be checked."""

    code = "WB418"

    @classmethod
    def by(cls, model: str) -> Self:
        return cls(
            f"The answer of {model} names none of the passages that it was given.",
            remedy="Check it against them, or choose another model for the generator.",
            params={"model": model},
        )


class GraderFailed(ModelError):
    """No verdict of a round could be read, so the run cannot be decided."""

    code = "WB409"

    @classmethod
    def all_unreadable(cls, model: str, passages: int) -> Self:
        return cls(
            f"None of the {passages} verdicts of {model} could be read.",
            remedy="Look at the raw replies under Model calls, and choose another model for the grader.",
            params={"model": model, "passages": str(passages)},
        )


class ModelGarbled(ModelError):
    """What answered does not speak the protocol of a model server."""

    code = "WB410"

    @classmethod
    def by(cls, model: str) -> Self:
        return cls(
            f"The server of {model} sent an answer that is not in its protocol.",
            remedy="Check that WORKBENCH_OLLAMA_URL is the address of Ollama itself, then try again.",
            params={"model": model},
        )


class UnreadableReply(ModelError):
    """A model's reply has not the form asked for, after a second try as well."""

    code = "WB411"

    @classmethod
    def of(cls, model: str) -> Self:
        return cls(
            f"The reply of {model} could not be read.",
            remedy="Look at the raw reply under Model calls, and choose another model for this role.",
            params={"model": model},
        )


class TextTooLong(ModelError):
    """A text does not fit the window of an embedding model, which would have cut it silently."""

    code = "WB412"

    @classmethod
    def tokens(cls, model: str, tokens: int) -> Self:
        return cls(
            f"A text of about {tokens} tokens is too long for the embedding model {model}.",
            remedy="Shorten it, ingest with smaller passages, or choose an embedding model with a longer context.",
            params={"model": model, "tokens": str(tokens)},
        )
