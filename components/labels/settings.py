"""Names and explanations of the settings of a run, and names of their options."""

from __future__ import annotations

from collections.abc import Mapping

from engine.messages import N_
from engine.model.config import declarations, every_setting

_OTHERS = {
    "workflow": (N_("Workflow"), ""),
    "collection": (N_("Collection"), N_("What is searched. Add your own files on the Knowledge page.")),
    "models": (N_("Models"), ""),
    "num_ctx": (
        N_("Context, tokens (num_ctx)"),
        N_(
            "How much a model of Ollama reads at once. A prompt that does not fit is refused; more needs more memory. "
            "Usual: 8192."
        ),
    ),
    "temperature": (
        N_("Temperature"),
        N_("0 gives the same reply each time; more varies the wording, and verdicts with it. Usual: 0."),
    ),
    "fit": (N_("Fit to the collection"), ""),
}
"""Name and explanation of what a panel sets besides the settings that ``engine.model.config`` declares."""


def name_of(name: str) -> str:
    """The message that names a setting; empty for a name that is none."""
    declared = every_setting().get(name)
    return declared.name if declared else _OTHERS.get(name, ("", ""))[0]


def help_of(name: str) -> str:
    """The message that explains a setting; empty for one that needs none."""
    declared = every_setting().get(name)
    return declared.help if declared else _OTHERS.get(name, ("", ""))[1]


def choices_of(name: str) -> Mapping[str, str]:
    """The messages that name the values of a setting that is a choice; empty for any other."""
    if name == "workflow":
        return {workflow: own.title or own.name for workflow, own in declarations().items()}
    declared = every_setting().get(name)
    return declared.choices if declared else {}


PRESET_NAMES = {
    "lenient": N_("Lenient"),
    "balanced": N_("Balanced"),
    "strict": N_("Strict"),
}
