"""What can go wrong with query sets, batches and their store."""

from __future__ import annotations

from typing import Self

from engine.errors.base import WorkbenchError


class EvaluationError(WorkbenchError):
    """The store of query sets, batches, labels and saved settings cannot be read or written."""

    code = "WB800"

    @classmethod
    def unusable(cls, path: str, cause: str, what_to_do: str) -> Self:
        return cls(
            f"The evaluation file {path!r} cannot be used: {cause}.",
            remedy=f"{what_to_do[:1].upper()}{what_to_do[1:]}.",
            params={"path": path, "cause": cause},
        )

    @classmethod
    def newer(cls, path: str, found: int, known: int) -> Self:
        return cls(
            f"The evaluation file {path!r} has format {found}; this version knows formats up to {known}.",
            remedy="Update the workbench, or point WORKBENCH_DATA_DIR at another folder.",
            params={"path": path, "found": str(found), "known": str(known)},
        )


class UnknownQuerySet(EvaluationError):
    code = "WB801"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"There is no query set named {name[:80]!r}.",
            remedy="Choose one from the list, or import it.",
            params={"name": name[:80]},
        )


class InvalidQuerySet(EvaluationError):
    """A set cannot be kept under this name, or with these cases."""

    code = "WB802"

    @classmethod
    def reserved(cls, name: str) -> Self:
        return cls(
            f"The query set {name[:80]!r} comes with the program and stays as it is.",
            remedy="Save the cases under another name.",
            params={"name": name[:80]},
        )

    @classmethod
    def bad_name(cls, name: str, longest: int) -> Self:
        return cls(
            f"{name[:80]!r} cannot be the name of a query set or of settings.",
            remedy=f"Use 1 to {longest} visible characters.",
            params={"name": name[:80], "longest": str(longest)},
        )

    @classmethod
    def twice(cls, name: str, case_id: str) -> Self:
        return cls(
            f"The query set {name[:80]!r} has the case {case_id[:80]!r} twice.",
            remedy="Give every case an id of its own.",
            params={"name": name[:80], "case": case_id[:80]},
        )

    @classmethod
    def empty(cls, name: str) -> Self:
        return cls(
            f"The query set {name[:80]!r} has no case to run.",
            remedy="Add a question to it, or choose another one.",
            params={"name": name[:80]},
        )


class UnknownBatch(EvaluationError):
    code = "WB803"

    @classmethod
    def named(cls, batch_id: str) -> Self:
        return cls(
            f"There is no batch {batch_id[:64]!r}.",
            remedy="It may have been deleted; choose another one from the list.",
            params={"batch": batch_id[:64]},
        )


class BatchActive(EvaluationError):
    """Batches go one after the other: two at once would spoil each other's measured times."""

    code = "WB804"

    @classmethod
    def named(cls, batch_id: str) -> Self:
        return cls(
            f"Batch {batch_id[:64]!r} is still going on.",
            remedy="Wait for its end, or stop it.",
            params={"batch": batch_id[:64]},
        )


class DataSetUnusable(EvaluationError):
    """A file or folder cannot become a query set."""

    code = "WB805"

    @classmethod
    def because(cls, name: str, why: str) -> Self:
        return cls(
            f"{name[:200]!r} cannot be read as a set of questions: {why[:300].rstrip('.')}.",
            remedy="Give it the form of SQuAD JSON, a BEIR folder or zip, or CSV or JSONL with question and expected.",
            params={"name": name[:200], "cause": why[:300]},
        )


class DataSetTooLarge(EvaluationError):
    code = "WB806"

    @classmethod
    def beyond(cls, name: str, what: str, limit: int) -> Self:
        return cls(
            f"{name[:200]!r} is too large: it has more than {limit} {what}.",
            remedy="Take a part of it, e.g. with a limit of questions.",
            params={"name": name[:200], "what": what, "limit": str(limit)},
        )


class UnknownMeasure(EvaluationError):
    code = "WB807"

    @classmethod
    def named(cls, measure: str, known: str) -> Self:
        return cls(
            f"There is no measure named {measure[:60]!r}.",
            remedy=f"Known measures: {known}.",
            params={"measure": measure[:60], "known": known},
        )


class SetElsewhere(EvaluationError):
    """A set of questions is to be asked of a collection that holds nothing of what it expects."""

    code = "WB808"

    @classmethod
    def none_of(cls, expected: int, collection: str) -> Self:
        return cls(
            f"0 of {expected} expected sources exist in the collection {collection[:60]!r}: nothing right could be "
            "found there.",
            remedy="Ask the collection that holds them: choose it for the set, or name it with --collection.",
            params={"expected": str(expected), "collection": collection[:60]},
        )
