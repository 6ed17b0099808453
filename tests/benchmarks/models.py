"""Any model as grader, judge of answers, rewriter and verifier on labelled pairs of two languages.

``python -m tests.benchmarks models --model ollama:NAME``, or ``--model openai:NAME --url http://HOST:PORT/v1``,
``rerank:NAME`` with its address; without ``--model`` the built-in roles alone. Labels were written and pairs drawn
before any run. One half of the questions fits a calibration; every figure is of the other half.
What is measured is kept as it comes, so that a measurement which was ended continues. ``--record`` puts the figures
into the file that ``docs/models.md`` and the page's advice are made from; ``--called`` is the model's name there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, cast

from engine.evaluation.grader_bench import GraderFigures, figures
from engine.evaluation.measured_models import FILE, Entry, Found
from engine.llm.grader import ChatGrader
from engine.model.config import BUILTIN, RoleModel
from engine.roles import Grader
from engine.settings import Settings
from engine.workflows.run_resources import grader_of, verifier_of
from tests.benchmarks.harness import Bench, Row, machine
from tests.benchmarks.labelled_pairs import LabelledPair, halves, labelled_pairs
from tests.benchmarks.model_grading import (
    MEASURED,
    PROMPTS,
    Graded,
    Kept,
    Verdicted,
    as_pair,
    fitted,
    graded,
    intervals,
    kept_replies,
    settings_of,
    share_of,
    similarity_of,
)
from tests.benchmarks.model_roles import Judged, Rewritten, judged, missed, rewritten
from tests.benchmarks.server_memory import resident_mb
from tests.benchmarks.verifying import Found as Checked
from tests.benchmarks.verifying import WordVerifier, auc, checked, f1_of_unsupported, interval, marked
from tests.docs.model_tables import tables_of
from tests.fitting.fit_grader import Vectors

FEWEST = 20
"""Pairs of a set that figures are of; of fewer they would say nothing."""
_ROLES = tuple(item.name for item in fields(Found))
Value = Callable[[GraderFigures], float | None]
VALUES: Mapping[str, Value] = {
    name: cast(Value, lambda one, name=name: getattr(one, name))  # type: ignore[misc]
    for name in MEASURED
}


def models(bench: Bench) -> Iterator[Row]:
    """Rows of the figures; the tables are printed in Markdown, and kept where that is wanted."""
    vectors = Vectors(bench.vectors or bench.folder / "vectors")
    pairs = labelled_pairs(bench.data, vectors, bench.sizes.drawn)
    if not any(pair.of == "XQuAD" for pair in pairs):
        print("XQuAD left out: no folder with xquad-dev.en.json and xquad-dev.zh.json (--data)")
    lacking = list(missed(bench.data, vectors))
    found = Found()
    for name in dict.fromkeys((BUILTIN, bench.model or BUILTIN)):
        model, settings = RoleModel(name), settings_of(bench)
        kept = kept_replies(bench, "models", name)
        said = {"model": BUILTIN if model.built_in else bench.called or name, **circumstances()}
        if model.built_in:
            said["learnt_from"] = ["XQuAD"]
        if model.chats:
            own = of_chat_grader(pairs, model, settings, kept, bench.sizes.stated)
        else:
            own = of_grader(pairs, grader_of(model, settings, similarity_of), kept)
        memory_mb = None if model.built_in else resident_mb(bench.url)
        found.graders.extend({**said, **entry, "memory_mb": memory_mb} for entry in own)
        if model.chats or model.built_in:
            for reasons in (True, False):
                rewrites = rewritten(lacking, model, settings, kept, vectors, reasons=reasons)
                found.rewriters.extend({**said, "reasons": reasons, **entry} for entry in of_rewriter(rewrites))
        checks = checked(verifier_of(model, settings) or WordVerifier(), marked(), kept)
        found.verifiers.extend({**said, **entry} for entry in of_verifier(checks))
        if model.chats:
            answers = judged(apart(pairs), model, settings, kept)
            found.judges.extend({**said, **entry} for entry in of_judge(answers))
    print(tables_of(found), flush=True)
    if bench.record:
        print(f"kept in {write(found)}")
    yield from rows_of(found)


def circumstances() -> Entry:
    """Where and when something was measured."""
    return {"date": f"{datetime.now(UTC):%Y-%m-%d}", "machine": machine()}


def apart(pairs: Sequence[LabelledPair]) -> list[LabelledPair]:
    """The half that figures are of."""
    half = halves(pairs)
    return [pair for pair in pairs if half[pair.group] == "apart"]


def of_grader(pairs: Sequence[LabelledPair], grader: Grader, kept: Kept, way: str = "") -> Iterator[Entry]:
    """The grader as it is and, where it gives scores or log-odds, calibrated on the other half."""
    measured = apart(pairs)
    given = graded(measured, grader, kept, way)
    if given:
        yield entry_of(given)
    if any(one.raw is not None for _, one in given):
        learnt = graded([pair for pair in pairs if pair not in measured], grader, kept, way)
        if len({pair.relevant for pair, _ in learnt}) == 2:
            fit = fitted(learnt)
            yield {**entry_of([(pair, fit(one)) for pair, one in given]), "fitted_on": len(learnt)}


def of_chat_grader(
    pairs: Sequence[LabelledPair], model: RoleModel, settings: Settings, kept: Kept, most: int
) -> Iterator[Entry]:
    """The grader as runs have it and, where that is P(yes), its own words on the first ``most`` pairs next to it.

    These pairs are asked both ways in turn, so that a busy moment of the machine meets both.
    """
    shipped, stating = ChatGrader(model, settings), ChatGrader(model, settings, as_said=True)
    said: list[Verdicted] = []
    for pair in apart(pairs)[:most]:
        if any(one.kind == "token" for _, one in graded([pair], shipped, kept, PROMPTS)):
            said += graded([pair], stating, kept, f"said {PROMPTS}")
    yield from of_grader(pairs, shipped, kept, PROMPTS)
    if said:
        yield entry_of(said)
        yield {**entry_of(graded([pair for pair, _ in said], shipped, kept, PROMPTS)), "compared_with": "said"}


def entry_of(asked: Sequence[Verdicted]) -> Entry:
    """Figures on all pairs and on each set of enough, with 95 % intervals; time and tokens are medians a pair."""
    sets: dict[str, Any] = {}
    for name in ("all", *dict.fromkeys(pair.of for pair, _ in asked)):
        own = [as_pair(pair, one.p) for pair, one in asked if name in ("all", pair.of)]
        points, spread = figures(own), intervals(own, VALUES) if name == "all" or len(own) >= FEWEST else {}
        sets[name] = {
            "pairs": points.n,
            **{key: _rounded(value(points), spread.get(key)) for key, value in VALUES.items()},
        }
    unreadable = [one.p is None for _, one in asked]
    return {
        "kind": asked[0][1].kind,
        "sets": sets,
        **_costs(one for _, one in asked),
        "unreadable": share_of(unreadable, [pair.group for pair, _ in asked]),
    }


def _costs(given: Iterable[Graded]) -> Entry:
    given = list(given)
    return {
        "seconds": round(median(one.seconds for one in given), 3),
        "prompt_tokens": round(median(one.prompt_tokens for one in given)),
        "reply_tokens": round(median(one.reply_tokens for one in given)),
    }


def _rounded(value: float | None, spread: tuple[float, float] | None) -> list[float] | None:
    return None if value is None or spread is None else [round(number, 3) for number in (value, *spread)]


def of_judge(asked: Sequence[Judged]) -> Iterator[Entry]:
    """How often right answers were called right and wrong ones wrong; nothing of nothing."""
    if not asked:
        return
    read = [item for item in asked if item.given.p is not None]
    groups = [item.pair.group for item in read]
    own = [as_pair(item.pair, item.given.p, label=item.right) for item in read]
    yield {
        "answers": len(asked),
        "accuracy": share_of([(item.given.p == 1.0) == item.right for item in read], groups),
        "kappa": _rounded(figures(own).kappa, intervals(own, {"kappa": VALUES["kappa"]}).get("kappa")),
        "wrong_passed": share_of(*_of([(item.given.p == 1.0, item.pair.group) for item in read if not item.right])),
        "unreadable": share_of([item.given.p is None for item in asked], [item.pair.group for item in asked]),
        **_costs(item.given for item in asked),
    }


def of_rewriter(found: Sequence[Rewritten]) -> Iterator[Entry]:
    """Of questions that missed, how many find the right passage when the rewriter asks them; nothing of nothing."""
    if not found:
        return
    groups = [item.question for item in found]
    yield {
        "questions": len(found),
        "finds": share_of([item.finds for item in found], groups),
        "same": share_of([item.same for item in found], groups),
        "unreadable": share_of([not item.readable for item in found], groups),
        "seconds": round(median(item.seconds for item in found), 3),
    }


def of_verifier(found: Sequence[Checked]) -> Iterator[Entry]:
    """How well it finds the sentences that are not supported; nothing of nothing."""
    if found:
        yield {
            "sentences": len(found),
            "f1": [round(value, 3) for value in (f1_of_unsupported(found), *interval(found))],
            "auc": round(auc(found), 3),
            "unchecked": sum(item.p_supported is None for item in found),
            "seconds": round(median(item.seconds for item in found), 3),
        }


def _of(hits: Sequence[tuple[bool, str]]) -> tuple[list[bool], list[str]]:
    return [hit for hit, _ in hits], [group for _, group in hits]


def write(found: Found, path: Path = FILE) -> Path:
    """Keep the entries, in place of those of the same models in the same way."""
    kept = Found(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else Found()
    lines = []
    for role in _ROLES:
        entries = _replaced(getattr(kept, role), getattr(found, role))
        lines.append(f'"{role}": [\n' + ",\n".join(json.dumps(one, ensure_ascii=False) for one in entries) + "\n]")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return path


def _replaced(before: Sequence[Entry], now: Sequence[Entry]) -> list[Entry]:
    known = {_name(entry): entry for entry in before}
    return list({**known, **{_name(entry): entry for entry in now}}.values())


def _name(entry: Entry) -> tuple[object, ...]:
    return entry["model"], *(entry.get(key) for key in ("kind", "compared_with", "of", "reasons")), "fitted_on" in entry


def rows_of(found: Found) -> Iterator[Row]:
    """The figures of all pairs as rows, each with its interval in the note."""
    for entry in found.graders:
        name = f"{entry['model']}, {entry['kind']}{', calibrated' if 'fitted_on' in entry else ''}"
        for of, values in entry["sets"].items():
            for key in MEASURED:
                if values[key]:
                    point, low, high = values[key]
                    yield Row(f"{name}: {of}, {key}", "", (point,), note=f"{low}–{high}, {values['pairs']} pairs")
        yield Row(f"{name}: time of a pair", "s", (entry["seconds"],))
