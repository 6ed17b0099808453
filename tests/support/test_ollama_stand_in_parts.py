"""The stand-in's pure parts: schemas, pieces of text, vectors, model names, and the replies for demonstrations."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from tests.support.ollama_stand_in import RecordedRequest, embed, smallest
from tests.support.ollama_stand_in.demo import demo_reply, read
from tests.support.ollama_stand_in.models import ModelCard, card_for, find, well_formed
from tests.support.ollama_stand_in.text import first_tokens, pieces, telling_words, token_count

texts = st.text(alphabet=st.sampled_from("ab 9.\n\t中文é-_"), max_size=60)


class Verdict(BaseModel):
    passage: int = Field(ge=1)
    relevant: bool
    confidence: float = Field(ge=0, le=1)
    reason: str = Field(max_length=200)


class Verdicts(BaseModel):
    verdicts: list[Verdict] = Field(min_length=2)
    tone: Literal["plain", "formal"]
    note: str | None = Field(min_length=30)
    odd: int = Field(gt=3, multiple_of=2)
    below: float = Field(lt=-1)
    first: Verdict | None = None


class Rewrite(BaseModel):
    diagnosis: str
    rewritten_query: str
    reason: str


def request(prompt: str, schema: dict[str, Any] | None = None) -> RecordedRequest:
    messages = [{"role": "system", "content": "Question: not this one"}, {"role": "user", "content": prompt}]
    return RecordedRequest("chat", "POST", "/api/chat", {}, b"", {"messages": messages, "format": schema})


def test_the_smallest_value_fits_a_schema_with_references_bounds_and_choices() -> None:
    made = smallest(Verdicts.model_json_schema())
    read_back = Verdicts.model_validate(made)
    assert len(read_back.verdicts) == 2
    assert read_back.tone == "plain"
    assert (read_back.odd, read_back.first) == (6, None)
    assert "first" not in made


def test_the_smallest_value_covers_the_rarer_keywords() -> None:
    assert smallest({"const": 7}) == 7
    assert smallest({"allOf": [{"type": "object"}, {"properties": {"a": {"type": ["integer", "null"]}}}]}) == {"a": 0}
    assert smallest({"type": "array", "prefixItems": [{"type": "null"}, {"type": "boolean"}]}) == [None, False]
    assert smallest({"type": "number", "maximum": 0.3, "exclusiveMinimum": 0}) == 0.3
    with pytest.raises(LookupError, match="outside of it"):
        smallest({"$ref": "other.json#/a"})


@given(texts)
def test_pieces_joined_are_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text


@given(texts, st.integers(1, 20))
def test_the_first_tokens_are_a_beginning_of_at_most_that_many(text: str, limit: int) -> None:
    cut = first_tokens(text, limit)
    assert text.startswith(cut)
    assert token_count(cut) == min(limit, token_count(text))


def test_scripts_without_spaces_stream_by_the_character() -> None:
    assert pieces("你好 world") == ["你", "好", " world"]


@given(texts, st.integers(1, 64))
def test_vectors_have_length_one_and_are_the_same_each_time(text: str, dimensions: int) -> None:
    vector = embed(text, dimensions)
    assert len(vector) == dimensions
    assert abs(sum(value * value for value in vector) - 1) < 1e-5
    assert embed(text, dimensions) == vector


def test_unknown_names_become_plausible_models() -> None:
    assert card_for("someone/bge-embed:v1").capabilities == ("embedding",)
    assert card_for("mystery").full_name == "mystery:latest"
    card = ModelCard("Mine:1b")
    assert find([card], "registry.ollama.ai/library/mine:1B") is card
    assert find([card], "mine") is None
    assert well_formed("hf.co/someone/model-gguf:Q4_K_M")
    assert not well_formed("no spaces")


PASSAGES = "[1] The moon orbits the Earth.\n[2] Ada Lovelace published the first program in 1843. She was a countess."


@pytest.mark.parametrize(
    ("prompt", "question", "passages"),
    [
        ("Question: Who? \n<passage id='1'>A b.</passage>\n<passage id='2'>C.</passage>", "Who?", ("A b.", "C.")),
        ("<question>Who\nis it?</question>\n[1] A b.\n[2] C\nd.", "Who\nis it?", ("A b.", "C\nd.")),
        ("Passage: A b.\n\nUser question: Who?", "Who?", ("A b.",)),
        ("问题：谁？\n段落：某人。", "谁？", ("某人。",)),
        ("A b.\nWho?", "Who?", ("A b.",)),
        ("", "", ()),
    ],
)
def test_the_demo_finds_question_and_passages(prompt: str, question: str, passages: tuple[str, ...]) -> None:
    found = read(request(prompt))
    assert (found.question, found.passages) == (question, passages)


def test_the_demo_grades_by_shared_words() -> None:
    schema = Verdict.model_json_schema()
    asked = "Question: Who published the first program?\nPassage: {}"
    good = Verdict.model_validate_json(demo_reply(request(asked.format("Ada published the first programs."), schema)))
    bad = Verdict.model_validate_json(demo_reply(request(asked.format("The moon is far away."), schema)))
    assert (good.relevant, bad.relevant) == (True, False)
    assert good.confidence == bad.confidence == 1.0
    assert good.reason == "The passage shares 100% of the question's words."


def test_the_demo_grades_every_passage_of_a_batch() -> None:
    made = json.loads(
        demo_reply(request(f"Question: Who published the first program?\n{PASSAGES}", Verdicts.model_json_schema()))
    )
    assert [(each["passage"], each["relevant"]) for each in made["verdicts"]] == [(1, False), (2, True)]


def test_the_demo_rewrites_to_keywords_and_never_to_the_question_itself() -> None:
    schema = Rewrite.model_json_schema()
    made = Rewrite.model_validate_json(demo_reply(request("Question: Who published the first program?", schema)))
    assert made.rewritten_query == "published first program"
    again = Rewrite.model_validate_json(demo_reply(request("Question: first program", schema)))
    assert again.rewritten_query == "first program explained"


def test_the_demo_answers_with_a_sentence_and_the_number_of_its_passage() -> None:
    answer = demo_reply(request(f"Question: Who published the first program?\n{PASSAGES}"))
    assert answer == "Ada Lovelace published the first program in 1843 [2]."
    assert demo_reply(request("Question: Who?")) == "There is no passage to answer from [1]."


def test_telling_words_leave_out_the_common_ones() -> None:
    assert telling_words("What is the capital of the moon?") == ["capital", "moon"]
