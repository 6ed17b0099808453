"""The tables of models, made from the file that their benchmark writes."""

from __future__ import annotations

from collections.abc import Sequence

from engine.evaluation.measured_models import Entry, Found
from engine.model.config import BUILTIN
from tests.docs.figures import table

_KINDS = {
    "builtin": "from words",
    "score": "score",
    "token": "probability of yes",
    "said": "confidence that it states",
}


def model_name(entry: Entry) -> str:
    return "built-in" if entry["model"] == BUILTIN else str(entry["model"])


def tables_of(found: Found) -> str:
    """Every role that has entries, each with its own table."""
    made = (
        graders_table(found),
        judges_table(found),
        rewriters_table(found),
        verifiers_table(found),
        runs_table(found),
    )
    return "\n\n".join(made)


def graders_table(found: Found) -> str:
    """A line for each grader and way of asking: ranking by set, then everything else on all pairs."""
    sets = list(dict.fromkeys(name for entry in found.graders for name in entry["sets"]))
    head = (
        "grader",
        "P(relevant) is",
        "pairs",
        *(f"AUC, {name}" for name in sets),
        "κ",
        "right at 0.5",
        "ECE",
        "Brier",
    )
    rows = []
    for entry in found.graders:
        own = entry["sets"]
        ranked = (
            _spread(own.get(name, {}).get("auc")) + (", fitted on it" if name in entry.get("learnt_from", ()) else "")
            for name in sets
        )
        rest = (_spread(own["all"][key]) for key in ("kappa", "accuracy", "ece", "brier"))
        rows.append((model_name(entry), _way(entry), str(own["all"]["pairs"]), *ranked, *rest))
    return table(head, rows)


def _way(entry: Entry) -> str:
    """What P(relevant) is, and how an entry differs from others of the model."""
    way = _KINDS[entry["kind"]] + (f", calibrated on {entry['fitted_on']} others" if "fitted_on" in entry else "")
    return way + (f", the same {entry['sets']['all']['pairs']} pairs" if "compared_with" in entry else "")


def costs_table(found: Found) -> str:
    """What a pair costs on the machine that was measured."""
    head = ("grader", "P(relevant) is", "seconds", "tokens in / out", "unreadable", "memory", "pairs", "measured")
    rows = [
        (
            model_name(entry), _way(entry), _seconds(entry),
            f"{entry['prompt_tokens']} / {entry['reply_tokens']}",
            _percent(entry["unreadable"], entry["sets"]["all"]["pairs"]),
            f"{entry['memory_mb'] / 1000:.1f} GB" if entry["memory_mb"] else "not seen",
            str(entry["sets"]["all"]["pairs"]), entry["date"],
        )
        for entry in found.graders
        if "fitted_on" not in entry
    ]  # fmt: skip
    return table(head, rows)


def judges_table(found: Found) -> str:
    head = ("judge of answers", "answers", "judged right", "κ", "wrong ones let pass", "unreadable", "seconds")
    rows = [
        (
            model_name(entry), str(entry["answers"]), _percent(entry["accuracy"], entry["answers"]),
            _spread(entry["kappa"]), _percent(entry["wrong_passed"], entry["answers"] // 2),
            _percent(entry["unreadable"], entry["answers"]), _seconds(entry),
        )
        for entry in found.judges
    ]  # fmt: skip
    return table(head, rows)


def rewriters_table(found: Found) -> str:
    head = (
        "rewriter",
        "reasons",
        "questions that missed",
        "found by the rewrite",
        "the question over again",
        "unreadable",
        "seconds",
    )
    rows = [
        (
            model_name(entry), "with" if entry["reasons"] else "without", str(entry["questions"]),
            *(_percent(entry[name], entry["questions"]) for name in ("finds", "same", "unreadable")), _seconds(entry),
        )
        for entry in found.rewriters
    ]  # fmt: skip
    return table(head, rows)


def verifiers_table(found: Found) -> str:
    head = ("verifier", "sentences", "F1 of finding unsupported ones", "AUC", "unchecked", "seconds")
    rows = [
        (
            model_name(entry), str(entry["sentences"]), _spread(entry["f1"]), f"{entry['auc']:.2f}",
            str(entry["unchecked"]), _seconds(entry),
        )
        for entry in found.verifiers
    ]  # fmt: skip
    return table(head, rows)


def runs_table(found: Found) -> str:
    head = (
        *("questions", "model", "as", "answered right", "answered wrong", "unanswerable, refused"),
        *("answerable / unanswerable", "seconds"),
    )
    rows = [
        (
            entry["of"], model_name(entry), entry["roles"] + (", calibrated" if "fitted_on" in entry else ""),
            *(_percent(entry[name], entry["answerable"]) for name in ("right", "wrong")),
            _percent(entry["refused"], entry["unanswerable"]), f"{entry['answerable']} / {entry['unanswerable']}",
            _seconds(entry),
        )
        for entry in found.runs
    ]  # fmt: skip
    return table(head, rows)


def _seconds(entry: Entry) -> str:
    seconds = entry["seconds"]
    return "as before" if seconds is None else f"{seconds:g}" if seconds else "< 0.001"


def _spread(figure: Sequence[float] | None) -> str:
    if figure is None:
        return "–"
    # What no resample changes has no interval: all of so many is not certain.
    return "{:.2f} ({:.2f}–{:.2f})".format(*figure) if figure[1] < figure[2] else f"{figure[0]:.2f}"


def _percent(figure: Sequence[float] | None, n: int) -> str:
    """A share of ``n`` with its interval; where it is all or none of them, the count."""
    if figure is None:
        return "–"
    return "{:.0%} ({:.0%}–{:.0%})".format(*figure) if figure[1] < figure[2] else f"{round(figure[0] * n)} of {n}"
