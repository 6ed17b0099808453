"""The tables of words, one module an area of the pages; each maps a key to (English, Chinese)."""

from __future__ import annotations

from components.words.ask import ASK
from components.words.attachments import ATTACHMENTS
from components.words.bench import BENCH
from components.words.compare import COMPARE
from components.words.connect import CONNECT
from components.words.evidence import EVIDENCE
from components.words.fork import FORK
from components.words.graph import GRAPH
from components.words.graph_run import GRAPH_RUN
from components.words.graph_types import GRAPH_TYPES
from components.words.ingesting import INGESTING
from components.words.knowledge import KNOWLEDGE
from components.words.loops import LOOPS
from components.words.memory import MEMORY
from components.words.mode_race import MODE_RACE
from components.words.passage_map import PASSAGE_MAP
from components.words.presenter import PRESENTER
from components.words.presenter_loops import PRESENTER_LOOPS
from components.words.report_graph import REPORT_GRAPH
from components.words.run import RUN
from components.words.runs import RUNS
from components.words.settings import SETTINGS
from components.words.shell import SHELL
from components.words.side_by_side import SIDE_BY_SIDE
from components.words.system import SYSTEM
from components.words.system_parts import SYSTEM_PARTS
from components.words.tune import TUNE
from components.words.what_if import WHAT_IF
from components.words.what_if_loops import WHAT_IF_LOOPS
from components.words.workflow_graph import WORKFLOW_GRAPH
from components.words.workflows import WORKFLOWS

AREAS = (
    RUN,
    ASK,
    ATTACHMENTS,
    EVIDENCE,
    LOOPS,
    SETTINGS,
    WORKFLOWS,
    WORKFLOW_GRAPH,
    GRAPH_RUN,
    KNOWLEDGE,
    CONNECT,
    PASSAGE_MAP,
    GRAPH,
    GRAPH_TYPES,
    MODE_RACE,
    INGESTING,
    MEMORY,
    SYSTEM,
    SYSTEM_PARTS,
    SHELL,
    WHAT_IF,
    WHAT_IF_LOOPS,
    FORK,
    PRESENTER,
    PRESENTER_LOOPS,
    RUNS,
    COMPARE,
    REPORT_GRAPH,
    SIDE_BY_SIDE,
    TUNE,
    BENCH,
)
