"""The card of traces of other programs on the page System."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.url_state import base_path, own_origin
from engine.engine import Engine
from engine.version import PROGRAM
from pages.parts.system.programs import Snippet, Way


def traces_in(_: Engine, words: Words) -> Way:
    """Traces of other programs, taken in as runs."""
    take = Snippet(words("Take in a file of traces"), f'{PROGRAM} import-traces spans.json --as-set "my loop"')
    lines = (
        "from rag_workbench.observe import observe_generation, observe_grading, observe_retrieval",
        f"# WORKBENCH_URL={own_origin()}{base_path()}",
    )
    return Way(
        title=words("Traces of other programs"),
        on=True,
        said=words(
            "Retrieval loops of your own become runs here: from OpenTelemetry, Phoenix or Langfuse, or "
            "recorded by three decorators. Runs has Import traces."
        ),
        snippets=(take, Snippet(words("Record a Python loop"), "\n".join(lines))),
    )
