"""Parts drawn only for the quality-control loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from streamlit.delta_generator import DeltaGenerator

from components.common.i18n import Words
from components.common.markup import Node, chip
from components.common.outcomes import reason_text
from components.common.phrases import probability_text
from components.common.workflow_view import Fact, Machine, WorkflowView
from components.labels import GRADE_NAMES, SOURCE_KIND_NAMES
from components.picture.facts import cost_of, executions, judging, reused_text, time_of, unfinished
from components.picture.words import Lines, lines, searched_line, word
from components.workflows.config_options import ceiling_note, quality_controls
from components.workflows.quality_chart import quality_nodes, share_text
from components.workflows.scores import grade_look, score_text
from engine.model.config import Options, RunConfig, WorkflowName
from engine.model.values import SOURCE_KINDS, QualityCheck, Quantity, RunRecord
from engine.replay.playback import ReplayStep
from engine.workflows.quality_loop.options import quality_options


def _router_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    coming = executions(name, record)[-1].round
    chosen = [item.routing for item in record.rounds if item.index == coming and item.routing]
    if not chosen:
        return lines(cost_of(name, record, words))
    routing = chosen[-1]
    shares = {kind: routing.shares[kind] for kind in SOURCE_KINDS if kind in routing.shares}
    named = [word(words, "kind", kind) for kind in shares]
    parts = [f"{text} {share * 100:.0f} %" for text, share in zip(named, shares.values(), strict=True)]
    first = (" · ".join(parts), " · ".join(named), _sources(len(named), words))
    return (first, *lines([words("wider scope") if routing.wide else "", *cost_of(name, record, words)]))


def _listed_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    searched = [item for item in record.rounds if item.searched]
    spent = time_of(name, record, words)
    if not searched:
        return searched_line(record, words, spent)
    candidates = searched[-1].candidates
    counted = [(kind, sum(kind in item.found_at for item in candidates)) for kind in SOURCE_KINDS]
    return (
        (_by_kind(counted, words), words("{n} found", n=sum(number for _, number in counted))),
        *searched_line(record, words, spent),
    )


def _fuse_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    if not record.rounds or tone == "active":
        return lines([time_of(name, record, words)])
    candidates = record.rounds[-1].candidates
    kept = [item.kind for item in candidates if item.gate == "kept"]
    counted = [(kind, kept.count(kind)) for kind in SOURCE_KINDS]
    merged = [words("{n} distinct", n=len(candidates)), words("{n} kept", n=len(kept))]
    sources = _sources(sum(number > 0 for _, number in counted), words)
    second = lines([_by_kind(counted, words), time_of(name, record, words)])
    return (*lines(merged), *((*line, sources) for line in second))


def _by_kind(counted: Sequence[tuple[str, int]], words: Words) -> str:
    return " · ".join(word(words, "kind", kind) + f" {number}" for kind, number in counted if number)


def _rerank_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    saved = reused_text(record, words)
    if tone == "active":
        return judging(record, words, saved)
    ended = lines([time_of(name, record, words), saved])
    if tone in ("fault", "stopped"):
        return (*unfinished(name, record, words), *ended)
    verdicts = list(record.rounds[-1].verdicts.values()) if record.rounds else []
    best = [words("best {p}", p=f"{max(item.p_relevant for item in verdicts):.2f}")] if verdicts else []
    return (*lines([words.count("1 verdict", "{n} verdicts", len(verdicts)), *best]), *ended)


def _quality_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    checked = [item.quality for item in record.rounds if item.quality]
    spent = cost_of(name, record, words)
    if not checked:
        return lines(spent)
    course = " → ".join(f"{item.routing_score:.2f}" for item in checked)
    last = checked[-1]
    newest = f"{last.routing_score:.2f}"
    grade = words(GRADE_NAMES[last.routing_grade])
    first = (words("score {score}", score=f"{course} · {grade}"), f"{course} · {grade}", f"{newest} · {grade}")
    issues = len(last.issues)
    return (first, *lines([words.count("1 issue", "{n} issues", issues) if issues else "", *spent]))


def _sources(number: int, words: Words) -> str:
    return words.count("1 source", "{n} sources", number)


FACTS: Mapping[str, Fact] = MappingProxyType(
    {
        "question_router": _router_facts,
        "retrieve": _listed_facts,
        "fuse": _fuse_facts,
        "rerank": _rerank_facts,
        "grade_documents": _quality_facts,
    }
)


class QualityLoop(WorkflowView):
    """Weights that sum to 1, and a score of the passages of every round."""

    facts = FACTS

    def options(
        self, words: Words, workflow: WorkflowName, below: dict[str, DeltaGenerator], machine: Machine
    ) -> Options:
        return quality_controls(words, below)

    def before_run(self, words: Words, config: RunConfig, machine: Machine) -> None:
        if machine.kinds_of is not None:
            ceiling_note(words, config, machine.kinds_of(config.collection))

    def bar(self, config: RunConfig) -> tuple[Quantity, float]:
        return "quality_score", quality_options(config).medium_score

    def sentence(self, step: ReplayStep, record: RunRecord, words: Words) -> str | None:
        match step.kind:
            case "routed":
                return _routed(step.round, record, words)
            case "judged":
                best = max((item.p_relevant for item in record.rounds[step.round].verdicts.values()), default=0.0)
                return words("Passages scored; the best has P {best}", best=f"{best:.2f}")
            case "checked":
                return _checked(step.round, record, words)
            case _:
                return None

    def chips(self, record: RunRecord, words: Words) -> list[Node]:
        check = _last_check(record)
        if check is None:
            return []
        grade = words(GRADE_NAMES[check.routing_grade])
        score = score_text(check.routing_score, quality_options(record.config))
        return [chip(grade_look(check.routing_grade), words("quality {score} · {grade}", score=score, grade=grade))]

    def answer_notes(self, record: RunRecord, words: Words) -> list[str]:
        check, options = _last_check(record), quality_options(record.config)
        if check is None or record.outcome != "answered_forced":
            return []
        return [
            words(
                "From passages of low quality: {score}, {bar} needed; {why}.",
                score=score_text(check.routing_score, options),
                bar=probability_text(options.medium_score),
                why=reason_text(record.reason, words),
            )
        ]

    def evidence(self, record: RunRecord, words: Words) -> list[Node]:
        return quality_nodes(record, words)


def _last_check(record: RunRecord) -> QualityCheck | None:
    return next((item.quality for item in reversed(record.rounds) if item.quality is not None), None)


def _routed(index: int, record: RunRecord, words: Words) -> str:
    routing = record.rounds[index].routing if index < len(record.rounds) else None
    if routing is None:
        return words("The router has not chosen")
    kinds = [share_text(kind, share, words) for kind, share in routing.shares.items()]
    said = words("The router chooses {strategy}", strategy=words(", ").join(kinds))
    missing = [words(SOURCE_KIND_NAMES[kind]) for kind in routing.missing]
    return words("; ").join((said, words("none here: {kinds}", kinds=words(", ").join(missing)))) if missing else said


def _checked(index: int, record: RunRecord, words: Words) -> str:
    check, options = record.rounds[index].quality, quality_options(record.config)
    if check is None:
        return words("Not checked.")
    score = score_text(check.routing_score, options)
    return words("Quality {score}, {bar} needed", score=score, bar=probability_text(options.medium_score))


OWN = QualityLoop()
