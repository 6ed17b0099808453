"""Answers of a question set as they were given, and a chat model that judges them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from components.common.i18n import Words
from components.common.judged import BASIS_NAMES, judged_nodes
from components.common.markup import Node, draw, node
from components.sentences.measured import value_text
from engine.engine import Engine
from engine.evaluation.answers import BASES, Basis
from engine.evaluation.judgements import pair_id
from engine.evaluation.measures import MEASURES, Measure
from engine.evaluation.values import AnswerJudgement, Batch, JudgingProgress
from engine.messages import N_, NC_
from engine.model.config import RoleModel
from engine.model.values import RunRecord
from pages.parts.common.actions import fault_key, run_action, say_fault
from pages.parts.common.rights import may
from pages.parts.tune.evidence import JUDGE, Gathering, Shown, records_of
from pages.parts.tune.tried import evaluated

_WATCH_S = 0.5
_OTHER = "other"
_LONGEST = 200
_OWN_WORK = N_("This model wrote the answers: it judges its own work.")
_FAULT = "tune_judging"
_BEGUN = "tune_judging_begun"


def answers_panel(engine: Engine, shown: Shown, gathering: Gathering, words: Words) -> None:
    """Show the judges, and each answer with its facts, under the settings of the collected pairs."""
    batch = gathering.batch
    if batch is None:
        return
    st.caption(words("Choose an answer to read it. What a chat model says of it never makes it count as right."))
    _judge(engine, shown, batch, words)
    records = {case.id: record for case, record in records_of(engine, batch)}
    rows = _rows(engine, shown, batch, records)
    chosen = answers_table(rows, words, key="tune_answers")
    if chosen is not None:
        answer_card(rows[chosen], words, key="tune_answer")


def _judge(engine: Engine, shown: Shown, batch: Batch, words: Words) -> None:
    working = engine.batches.judge_at_work(batch.id)
    if working is None:
        _take_end(engine, batch)
    say_fault(_FAULT, words)
    if working is not None:
        _follow(engine, batch, working, words)
        return
    if shown.judges:
        _judged_by(engine, shown, batch, words)
    if not may("editor"):
        return
    with st.popover(words("Judge with a chat model"), icon=":material/gavel:"):
        model = _model_choice(engine, batch, words)
        if model == batch.config.models.generator.model:
            st.caption(words(_OWN_WORK))
        found = engine.batches.judging(batch.id, model)
        left = found.total - found.done
        st.caption(words.count("1 call", "{n} calls", left))
        if st.button(
            words(NC_("answers", "Judge")), type="primary", disabled=not (model and left), key="tune_judge_go"
        ):
            context = batch.config.models.generator.num_ctx
            if run_action(_FAULT, lambda: engine.batches.judge(batch.id, RoleModel(model, num_ctx=context))):
                st.session_state[_BEGUN] = (batch.id, model)
            st.rerun()


def _judged_by(engine: Engine, shown: Shown, batch: Batch, words: Words) -> None:
    """Show the judges' progress; of several, the user chooses here whose verdicts are read."""
    if len(shown.judges) > 1:
        if st.session_state.get(JUDGE) not in shown.judges:
            st.session_state[JUDGE] = shown.judge
        st.selectbox(words(NC_("answers", "Judge")), shown.judges, key=JUDGE, width=420, persist_state="session")
    progress = engine.batches.judging(batch.id, shown.judge)
    st.caption(judging_text(progress, words))
    if progress.judge == batch.config.models.generator.model:
        st.caption(words(_OWN_WORK))


def _model_choice(engine: Engine, batch: Batch, words: Words) -> str:
    """A chat model by its name; empty while none is named."""
    usual = engine.settings.judge_model
    offered = list(engine.chat_models())
    # Who wrote the answers comes last.
    offered.sort(key=lambda name: name == batch.config.models.generator.model)
    chosen = st.selectbox(
        words(NC_("answers", "Judge")),
        list(dict.fromkeys([*([usual] if usual else []), *offered, _OTHER])),
        format_func=lambda name: words("Another model…") if name == _OTHER else name,
        key="tune_judge_model",
        width=420,
    )
    if chosen != _OTHER:
        return str(chosen)
    named = st.text_input(
        words("Name of the model"),
        key="tune_judge_name",
        placeholder="openai:gpt-4o-mini",
        max_chars=_LONGEST,
        width=420,
    )
    return str(named or "").strip()


def _take_end(engine: Engine, batch: Batch) -> None:
    """Have it said what ended the judging, also where that was before the page was drawn again."""
    begun: tuple[str, str] | None = st.session_state.get(_BEGUN)
    if begun is None or begun[0] != batch.id:
        return
    del st.session_state[_BEGUN]
    if (fault := engine.batches.judging(*begun).fault) is not None:
        st.session_state[fault_key(_FAULT)] = fault


def _follow(engine: Engine, batch: Batch, judge: str, words: Words) -> None:
    st.session_state[_BEGUN] = (batch.id, judge)

    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        progress = engine.batches.judging(batch.id, judge)
        if not progress.running:
            st.rerun()
        if judging_bar(progress, words, key="tune_judging", may_stop=may("editor")):
            engine.batches.stop_judging(batch.id)

    watch()


def _rows(engine: Engine, shown: Shown, batch: Batch, records: dict[str, RunRecord]) -> list[AnswerRow]:
    evaluation = evaluated(shown, batch.config, batch.config)
    by = evaluation.right_by.basis[:, 0]
    measures: tuple[Measure, ...] = ("answered_right", "f1", "claim_recall", "faithfulness")
    values = np.column_stack([evaluation.measures[name].of(0) for name in measures])
    found = engine.evaluation.answer_judgements(
        *((shown.cases[name].question, record.answer) for name, record in records.items() if name in shown.cases)
    )
    people: dict[str, list[AnswerJudgement]] = {}
    for said in found:
        if said.by == "person":
            people.setdefault(pair_id(said.question, said.answer), []).append(said)
    rows = []
    for place, item in enumerate(shown.evidence.gathered):
        answer = records[item.case.id].answer if item.case.id in records else ""
        refused = records[item.case.id].outcome == "abstained" if item.case.id in records else True
        right, *figures = (None if np.isnan(value) else float(value) for value in values[place])
        f1, claim_recall, faithfulness = figures
        rows.append(
            AnswerRow(
                question=item.case.question,
                answer="" if refused else answer,
                gold_answers=item.case.gold_answers,
                right=None if right is None else bool(right),
                basis=BASES[by[place]] if by[place] >= 0 else None,
                f1=f1,
                claim_recall=claim_recall,
                faithfulness=faithfulness,
                people=tuple(people.get(pair_id(item.case.question, answer), ())),
                verdict=item.own.verdict,
            )
        )
    return rows


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One question of a gathering with the answer that its run gave."""

    question: str
    answer: str
    """Empty where it was refused."""
    gold_answers: tuple[str, ...]
    right: bool | None
    """None where nothing tells."""
    basis: Basis | None
    f1: float | None
    claim_recall: float | None
    faithfulness: float | None
    people: tuple[AnswerJudgement, ...]
    """What people said of this answer."""
    verdict: AnswerJudgement | None
    """What the judge said of it."""


def answers_table(rows: Sequence[AnswerRow], words: Words, *, key: str) -> int | None:
    """Draw a line for every question; returns the place of the one that is chosen."""
    drawn = [
        {
            # First, so that a narrow screen shows it.
            words(NC_("answer", "Right")): "–" if row.right is None else "✓" if row.right else "✗",
            words("Question"): row.question,
            words(NC_("answer", "Judged by")): words(BASIS_NAMES[row.basis]),
            words("F1"): value_text("f1", row.f1),
            words(MEASURES["claim_recall"].name): value_text("claim_recall", row.claim_recall),
            words(MEASURES["faithfulness"].name): value_text("faithfulness", row.faithfulness),
            words("Answer"): row.answer or words("refused"),
        }
        for row in rows
    ]
    found = st.dataframe(
        drawn, hide_index=True, key=key, width="stretch", height=320, on_select="rerun", selection_mode="single-row"
    )
    chosen = found["selection"]["rows"]
    return int(chosen[0]) if chosen and chosen[0] < len(rows) else None


def answer_card(row: AnswerRow, words: Words, *, key: str) -> None:
    """Draw one answer with what it should say and what was said of it, each claim with its reason."""
    parts: list[Node] = [node("strong", "heading", row.question)]
    parts.append(node("p", "", row.answer or words("refused")))
    if row.gold_answers:
        gold = words("Gold answer: {answers}", answers=words(NC_("gold answers", " / ")).join(row.gold_answers))
        parts.append(node("p", "muted", gold))
    for item in (*row.people, *([row.verdict] if row.verdict is not None else [])):
        parts += judged_nodes(item, words)
    draw((node("section", "card", *parts),), words, key=key)


def judging_text(progress: JudgingProgress, words: Words) -> str:
    """Describe the progress of a judge in one line."""
    parts = [words("{judge}: {done} of {total} answers judged", judge=progress.judge, done=progress.done,
                   total=progress.total)]  # fmt: skip
    if progress.unreadable:
        parts.append(words("{n} not readable: unknown in the figures", n=progress.unreadable))
    return " · ".join(parts)


def judging_bar(progress: JudgingProgress, words: Words, *, key: str, may_stop: bool) -> bool:
    """Draw the progress of a judge; true when the reader wants it stopped."""
    done = progress.done + progress.unreadable
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(done / progress.total if progress.total else 0.0, judging_text(progress, words))
        return may_stop and st.button(words("Stop"), icon=":material/stop:", key=f"{key}_stop")
