"""Inequalities, reasons of drops and verdicts, the what-if card, and the budget note, read back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from components.ask.passage_rows import drop_reason
from components.ask.what_if_text import sentence_text
from components.common.i18n import Words
from components.common.life_lines import life_lines
from components.common.phrases import bar_text, inequality_text
from engine.flow import workflow
from engine.model.config import RunConfig
from engine.model.cost import Cost
from engine.model.values import RunRecord
from engine.replay import what_if
from pages.parts.ask.budget import budget_text
from tests.truth.claims import Claim, numbers

_HOLDS = {"<": float.__lt__, "≥": float.__ge__, "=": float.__eq__, ">": float.__gt__}
_INEQUALITY = re.compile(r"(\d+(?:\.\d+)?) ([<≥=>]) (?:top-k )?(\d+(?:\.\d+)?)")


def inequalities(record: RunRecord, words: Words) -> Iterator[Claim]:
    """Decisions with their operands, and why passages were dropped or did not pass."""
    for decision in record.decisions:
        printed = _INEQUALITY.findall(said := inequality_text(decision, words))
        pairs = [(item.value, item.bound) for item in decision.comparisons]
        wrong = [] if len(printed) == len(pairs) else ["a comparison is missing"]
        for (left, sign, right), (value, bound) in zip(printed, pairs, strict=False):
            wrong += [
                *_untrue(left, sign, right),
                *([] if _near(left, value) and _near(right, bound) else ["operands"]),
            ]
        yield Claim(said, tuple(wrong))
    for line in life_lines(record):
        best = line.best
        if (
            line.dropped
            and best.found.gate in ("below_threshold", "beyond_top_k")
            and record.workflow != "graph_hybrid"
        ):
            said = drop_reason(best, record.config, words)
            printed = _INEQUALITY.findall(said)
            wrong = [fault for item in printed for fault in _untrue(*item)]
            true = best.found.rank if best.found.gate == "beyond_top_k" else best.passage.similarity
            wrong += [] if printed and _near(printed[0][0], true) else [f"it is {true}"]
            if missed := re.search(r"(?:by|差) (\d\.\d+)", said):
                short = record.config.similarity_threshold - best.passage.similarity
                wrong += [] if _near(missed.group(1), short) and float(missed.group(1)) > 0 else [f"by {short}"]
            yield Claim(said, tuple(wrong))
        if line.verdict is not None and line.verdict.relevant is not None:
            said = bar_text(line.verdict, record.config, words)
            wrong = [fault for item in _INEQUALITY.findall(said) for fault in _untrue(*item)]
            yield Claim(said, tuple(wrong))


def what_if_cards(record: RunRecord, words: Words) -> Iterator[Claim]:
    """The sentence of the card for a few moved sliders of a finished four-node run."""
    if record.workflow != "self_corrective" or record.outcome not in ("answered", "answered_forced", "abstained"):
        return
    for changed in _moved(record.config):
        found = what_if(record, changed)
        if found.same_path or not found.path_known or not found.steps:
            continue
        said = sentence_text(found, record, words)
        consequence = said.rpartition("): " if words.language == "en" else "）：")[2]
        printed = [int(item) for item in numbers(consequence)]
        wrong = [] if not found.rewrites or found.rewrites in printed else [f"{found.rewrites} rewrites"]
        if found.passages and len(found.passages) > 1 and len(found.passages) not in printed:
            wrong.append(f"{len(found.passages)} passages")
        rewrites = sum(item.round >= 0 for item in record.rewrites) - found.rewrites
        counted = re.search(r"(\d+) rewrites?|(\d+) 次改写", consequence.split("**")[-1])
        if (int(counted.group(1) or counted.group(2)) if counted else 0) != abs(rewrites):
            wrong.append(f"the rewrites differ by {rewrites}")
        yield Claim(said, tuple(wrong))


def budgets(record: RunRecord, words: Words) -> Iterator[Claim]:
    """What was said before a run can be reached by no run under these settings."""
    config = record.config
    worst = Cost(calls=workflow(config.workflow).worst_case_calls(config), seconds=None)
    said = budget_text(config, worst, words)
    printed = [float(item) for item in numbers(said)]
    wrong = [] if worst.calls >= record.calls else [f"the run took {record.calls} calls"]
    if worst.calls and worst.calls not in printed:
        wrong.append(f"{worst.calls} calls")
    if config.workflow != "dual_loop":
        wrong += [] if config.max_rewrites + 1 in printed else [f"{config.max_rewrites + 1} rounds"]
        wrong += [] if len(record.rounds) <= config.max_rewrites + 1 else [f"the run had {len(record.rounds)} rounds"]
    yield Claim(said, tuple(wrong))


def _moved(config: RunConfig) -> list[RunConfig]:
    return [
        replace(config, gate="pass_rate", grade_pass_threshold=0.2),
        replace(config, gate="min_relevant", min_relevant=2),
        replace(config, similarity_threshold=0.45),
        replace(config, max_rewrites=0),
    ]


def _untrue(left: str, sign: str, right: str) -> list[str]:
    return [] if _HOLDS[sign](float(left), float(right)) else [f"{left} {sign} {right} does not hold"]


def _near(shown: str, true: float) -> bool:
    digits = len(shown.partition(".")[2])
    return bool(abs(float(shown) - true) <= 0.5 / 10**digits + 1e-9)
