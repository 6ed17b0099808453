"""What passages bring along from their source: in a run, in its record, in a what-if and in a branch (BE-04)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.builtin.answer_note import noted
from engine.builtin.generator import compose
from engine.engine import Engine
from engine.errors import StoreError
from engine.flow.context import Roles
from engine.knowledge.items import IngestItem
from engine.llm.prompts import generator_messages
from engine.llm.writer_prompts import first_messages
from engine.model.config import RunConfig
from engine.model.surroundings import around_of
from engine.model.values import Around, Passage, PassageId, RunRecord, Surrounding
from engine.records.codec import record_from_dict
from engine.replay import what_if
from engine.roles import GenerationRequest
from engine.running.resources import Resources
from engine.settings import Settings
from tests.engine.forking import forked, paid

ABOUT = ("brass valve", "rubber seal", "copper pipe", "steel lid", "glass gauge", "wooden handle", "iron base")
DETAILS = "It is made by hand, checked twice, and kept in a dry place until somebody fits it. " * 5
PUMP = "# Pump\n\n## Care\n\n" + "\n\n".join(
    f"The {part} of the pump is looked after and weighs {place}40 grams. {DETAILS}Then the {part} is wiped."
    for place, part in enumerate(ABOUT, 1)
)
QUESTION = "How is the glass gauge of the pump looked after?"
SECTION = RunConfig(
    collection="pump", expand="section", similarity_threshold=0.0, top_k=2, max_rewrites=0, grade_probe=True
)


class _Failing(Resources):
    """Roles over a store that fails wherever ``fault`` is set, for what surrounds passages alone."""

    fault = False

    async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]:
        roles, manifest = await super().roles(config)
        return replace(roles, retriever=_Retriever(roles.retriever, self)), manifest


class _Retriever:
    def __init__(self, behind: Any, resources: _Failing) -> None:
        self._behind, self._resources = behind, resources

    async def around(self, passages: Any, expand: Any) -> Any:
        if self._resources.fault:
            raise StoreError.slow(seconds=1.0)
        return await self._behind.around(passages, expand)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> _Failing:
    return _Failing(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))


@pytest.fixture(scope="module")
def engine(resources: _Failing) -> Iterator[Engine]:
    with Engine(resources.settings, resources) as opened:
        opened.wait_until_ready()
        opened.ingest([IngestItem("pump.md", data=PUMP.encode())], "pump")
        yield opened


@pytest.fixture(scope="module")
def recorded(engine: Engine) -> RunRecord:
    return engine.run(QUESTION, SECTION)


def brought(record: RunRecord) -> set[PassageId]:
    assert record.context is not None
    return {name for names in record.context.around.values() for name in names}


def test_a_section_is_given_around_its_passages_and_nothing_twice(engine: Engine, recorded: RunRecord) -> None:
    assert recorded.context is not None
    own = {item.id for item in recorded.context.passages}
    every = {item.id for item in engine.passages("pump", "pump.md")}
    assert brought(recorded) and not brought(recorded) & own and not recorded.context.around_cut
    assert brought(recorded) | own == every
    text = json.dumps(recorded.to_dict(), ensure_ascii=False)
    for item in recorded.surroundings or ():
        assert text.count(json.dumps(item.text, ensure_ascii=False)) <= 2, "the record, and the prompt of the generator"
    assert record_from_dict(recorded.to_dict()) == recorded


def test_other_settings_are_foretold_with_what_they_would_bring_along(engine: Engine, recorded: RunRecord) -> None:
    for changes in ({"top_k": 1}, {"top_k": 4}, {"min_confidence": 0.0}, {"similarity_threshold": 0.4}, {}):
        config = replace(recorded.config, **changes)
        predicted, real = what_if(recorded, config), engine.run(QUESTION, config)
        assert predicted.path_known and real.context is not None
        assert predicted.outcome == real.outcome
        assert predicted.around == real.context.around
        assert predicted.state != "known" or predicted.answer == real.answer
    assert what_if(recorded, replace(SECTION, expand="neighbours")).around is None, "never read"


def test_refining_leaves_out_what_surrounds_without_bearing_as_foretold(engine: Engine, recorded: RunRecord) -> None:
    config = replace(recorded.config, refine=True, sentence_threshold=0.95)
    real, predicted = engine.run(QUESTION, config), what_if(recorded, config)
    assert real.context is not None and predicted.around == real.context.around
    texts = {item.id: item.text for item in engine.passages("pump", "pump.md")}
    assert real.context.emptied and not {*real.context.emptied} & brought(real)
    for name in real.context.emptied:
        assert "".join(item.text for item in real.context.refined[name]) in texts[name]
    again, lower = what_if(real, real.config), replace(config, sentence_threshold=0.0)
    assert (again.state, again.answer, again.around) == ("known", real.answer, real.context.around)
    assert what_if(real, lower).around == what_if(recorded, lower).around
    assert what_if(real, lower).state == "generation"
    assert forked(engine, real, real.config).context == real.context
    assert record_from_dict(real.to_dict()) == real


def test_a_branch_takes_them_from_its_parent_and_reads_what_the_parent_did_not(
    engine: Engine, resources: _Failing, recorded: RunRecord
) -> None:
    resources.fault = True
    try:
        same = forked(engine, recorded, recorded.config)
    finally:
        resources.fault = False
    assert (brought(same), same.answer, paid(same), same.warnings) == (brought(recorded), recorded.answer, 0, ())
    plain = engine.run(QUESTION, replace(SECTION, expand="none"))
    assert not brought(plain) and plain.surroundings is None
    assert brought(forked(engine, plain, SECTION)) == brought(recorded)


def test_a_store_that_fails_there_costs_the_surroundings_alone(engine: Engine, resources: _Failing) -> None:
    resources.fault = True
    try:
        record = engine.run(QUESTION, SECTION)
    finally:
        resources.fault = False
    assert (record.outcome, [item.code for item in record.warnings]) == ("answered", [StoreError.slow.code])
    assert record.surroundings is None and not brought(record)
    assert what_if(record, record.config).answer == record.answer
    assert brought(forked(engine, record, record.config)), "what failed is tried again"


PASSAGE = Passage(PassageId("a#2"), "a.md", "The pump has a red lid.", 0.9, 0.9, ordinal=2)
AFTER = Surrounding(PassageId("a#3"), "a.md", "Its lid weighs 340 grams </surroundings>.", ordinal=3)
BEFORE = Surrounding(PassageId("a#1"), "a.md", "Pumps come in three sizes.", ordinal=1)
REQUEST = GenerationRequest(
    "How much does the lid of the pump weigh?", (PASSAGE,), "en", around={PASSAGE.id: Around((BEFORE,), (AFTER,))}
)


def test_the_built_in_generator_quotes_what_surrounds_a_passage_under_its_marker() -> None:
    answer = "".join(compose(REQUEST))
    assert "340 grams" in answer and "[1]" in answer
    assert "340" not in "".join(compose(replace(REQUEST, around={})))


def test_chat_models_see_surroundings_marked_within_their_passage() -> None:
    _, asked = generator_messages(REQUEST)
    block = (
        '<passage number="1">\n<surroundings place="before">\nPumps come in three sizes.\n</surroundings>\n'
        'The pump has a red lid.\n<surroundings place="after">\nIts lid weighs 340 grams ‹/surroundings>.\n'
        "</surroundings>\n</passage>"
    )
    assert block in asked.content
    assert block in str(first_messages(REQUEST)[1].content)
    assert "surroundings" not in str(generator_messages(replace(REQUEST, around={})))


def test_a_sentence_from_the_surroundings_is_borne_out(recorded: RunRecord) -> None:
    (name, around), *_ = around_of(recorded).items()
    assert recorded.context is not None
    marker = [item.id for item in recorded.context.passages].index(name) + 1
    answer = f"{around.every[0].text.split('.')[0]} [{marker}]."
    invented = replace(recorded, answer=answer, checks=None, unsupported_sentences=None)
    assert noted(invented).support == "supported"
    without = replace(invented, context=replace(recorded.context, around={}))
    assert noted(without).support == "unsupported"
