"""Questions that nothing answers: one name put for another, and checked against every passage."""

from __future__ import annotations

from engine.drafting.drafting import drafts_of
from engine.drafting.entries import with_heads
from engine.drafting.near_misses import ANSWERS, Names, NearMiss, near_misses, other_words, unanswered
from engine.drafting.wording import Told
from tests.drafting.documents import BACKUP, CLIENTS, passages


def found(**files: str) -> tuple[list[NearMiss], Names]:
    stored = passages(**files)
    drafts = drafts_of(stored, "docs")
    names = Names(with_heads(stored))
    return list(near_misses(drafts, names, "docs", 20, Told(item.question for item in drafts))), names


def test_an_option_without_a_default_is_asked_for_one() -> None:
    misses, names = found(backup=BACKUP, clients=CLIENTS)
    (miss,) = [item for item in misses if item.draft.question == "What is the default of server.host?"]
    draft = miss.draft
    assert (draft.rule, draft.answerable, draft.passages, draft.gold_answers) == ("near_miss", False, (), ())
    assert draft.swapped == ("server.port", "server.host")
    assert draft.case().answerable is False and draft.case().expected == ()
    assert "server.host" in names.passages[miss.nearest].text or "server.host" in names.passages[miss.nearest].section


def test_where_one_passage_of_the_collection_answers_it_there_is_no_such_draft() -> None:
    told = "# Hosts\n\nThe default of `server.host` is every address of the machine.\n"
    misses, _ = found(backup=BACKUP, clients=CLIENTS, hosts=told)
    assert all(item.draft.question != "What is the default of server.host?" for item in misses)


def test_an_abbreviation_that_is_spelt_out_somewhere_is_not_asked_for() -> None:
    text = "# A\n\nVite used Hot Module Replacement (HMR) over it. An SSR build is needed.\n"
    more = "# B\n\nThe SSR bundle stands in the file.\n"
    misses, _ = found(a=text, b=more)
    assert "What does SSR stand for?" in {item.draft.question for item in misses}
    spelt = "# C\n\nServer-side rendering is what the bundle is for.\n"
    misses, _ = found(a=text, b=more, c=spelt)
    assert "What does SSR stand for?" not in {item.draft.question for item in misses}


def test_the_nearest_passage_is_named_and_the_bar_decides() -> None:
    names = Names(passages(backup=BACKUP, clients=CLIENTS))
    swap = ("server.port", "server.host")
    question = "What is the address of server.host?"
    near = max(other_words(question, "server.host", item) for item in names.passages.values())
    assert near >= ANSWERS
    assert unanswered(question, swap, names, names.texts) is None
    assert unanswered(question, swap, names, names.texts, bar=1.1) is not None


def test_none_is_made_twice_and_no_more_than_asked_for() -> None:
    stored = passages(backup=BACKUP, clients=CLIENTS)
    drafts, names = drafts_of(stored, "docs"), Names(stored)
    told = Told(item.question for item in drafts)
    first = list(near_misses(drafts, names, "docs", 1, told))
    assert len(first) == 1
    again = [item.draft.question for item in near_misses(drafts, names, "docs", 20, told)]
    assert first[0].draft.question not in again
