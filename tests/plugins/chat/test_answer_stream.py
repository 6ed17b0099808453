"""What is sent of an answer while it is written stands in the end (CH-03)."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.model.events import AnswerBegun, ContextAssembled, TokenStreamed
from engine.model.values import Context, Passage, PassageId
from engine.retrieval.citations import resolve
from plugins.chat.answer_stream import AnswerStream
from plugins.chat.citations import numbered

PASSAGES = tuple(Passage(PassageId(f"p{place}"), f"{place}.md", "Text.", 0.5, 0.5) for place in range(4))
SCRAPS = (
    "So it is ",
    "[1]",
    "[2, 3]",
    "【4】",
    "[9]",
    "[",
    "]",
    "`row[1]`",
    "`",
    "```\nx[2]\n```",
    "```",
    "\n",
    ".",
    "因此",
    " ",
)


def sent(pieces: list[str], *, replaceable: bool = False) -> tuple[AnswerStream, list[str]]:
    growing = AnswerStream(replaceable=replaceable)
    growing.feed(ContextAssembled(context=Context(PASSAGES)))
    return growing, [growing.feed(TokenStreamed(text=piece)) for piece in pieces]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(SCRAPS), max_size=14).map("".join), st.lists(st.integers(0, 80), max_size=8))
def test_however_an_answer_is_cut_into_pieces_what_was_sent_is_its_beginning(text: str, cuts: list[int]) -> None:
    found = resolve(text, PASSAGES)
    at = sorted({min(cut, len(found.text)) for cut in cuts} | {0, len(found.text)})
    growing, out = sent([found.text[begin:end] for begin, end in itertools.pairwise(at)])
    whole = numbered(found.text, {item.marker for item in found.citations}).text
    rest = growing.rest(whole)
    assert rest is not None, (growing.sent, whole)
    assert "".join(out) + rest == whole


def test_nothing_is_sent_before_an_answer_has_cited_something() -> None:
    _, out = sent(["It is so. ", "It really is", " [2]", ". And more."])
    assert out == ["", "", "It is so. It really is [1]", ". And more."]


def test_an_answer_that_another_one_replaces_was_not_sent() -> None:
    growing, out = sent(["It is so. "])
    growing.feed(AnswerBegun(draft=0))
    out.append(growing.feed(TokenStreamed(text="Now [1].")))
    assert out == ["", "Now [1]."]


def test_nothing_is_sent_of_answers_that_are_evaluated() -> None:
    growing, out = sent(["So [1]."], replaceable=True)
    assert (out, growing.rest("Else [1].")) == ([""], "Else [1].")


def test_where_other_words_were_sent_it_is_said() -> None:
    growing, _ = sent(["So [1]."])
    assert growing.rest("Else [1].") is None
