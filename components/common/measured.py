"""Which graders this project has measured, and that nothing is known of any other."""

from __future__ import annotations

from collections.abc import Mapping

from components.common.i18n import Words
from components.common.phrases import model_label
from engine.evaluation.measured_models import Entry, measured_models
from engine.messages import N_

_SETS: Mapping[str, str] = {
    "samples": N_("samples"),
    "other words": N_("asked in other words"),
}
"""Sets of pairs that are no proper names."""
_WAYS: Mapping[str, str] = {
    "token": N_("{model} (probability of yes)"),
    "said": N_("{model} (confidence that it states)"),
}


def measured_graders(words: Words) -> str:
    """A list in Markdown: how well each measured grader ranks, by set of questions."""
    lines = [
        words(
            "How often a passage that answers is put above one that does not (1 always, 0.5 by chance; 95 % intervals "
            "in brackets), as this project measured it:"
        ),
        "",
        *(f"- **{_named(entry, words)}**: {found}" for entry in _shown() if (found := _ranking(entry, words))),
        "",
        words("No other model was measured. On your documents, Tune → Grader shows it."),
    ]
    return "\n".join(lines)


def _shown() -> list[Entry]:
    """As shipped, on all pairs: a calibration changes no order."""
    return [entry for entry in measured_models().graders if "fitted_on" not in entry and "compared_with" not in entry]


def _named(entry: Entry, words: Words) -> str:
    label, way = model_label(str(entry["model"]), words), _WAYS.get(str(entry["kind"]))
    return words(way, model=label) if way else label


def _ranking(entry: Entry, words: Words) -> str:
    """Of each set with enough pairs; empty where none has."""
    shown = []
    for name, figures in entry["sets"].items():
        if name != "all" and figures["auc"]:
            figure = "{:.2f} ({:.2f}–{:.2f})".format(*figures["auc"])
            if name in entry.get("learnt_from", ()):
                figure = words("{figure}, fitted on it", figure=figure)
            shown.append(f"{words(_SETS[name]) if name in _SETS else name} {figure}")
    return " · ".join(shown)
