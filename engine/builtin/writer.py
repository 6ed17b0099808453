"""The writer that needs no model: it quotes at first, then changes what was criticised and nothing else (AE-07)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from engine.builtin.answer_checks import KIND_THERE, PART_COVERED, Part, asked_kinds, kind_strength, parts_of
from engine.builtin.answer_form import Quote
from engine.builtin.answer_kind import Asked
from engine.builtin.answer_reading import MARKER, Shown, Statement, best_support, shown_passages, statements
from engine.builtin.generator import BuiltinGenerator, asking_of, compose, quotes_of
from engine.builtin.phrases import Phrases
from engine.builtin.quotable import ends, leans_on_previous
from engine.builtin.report import spoken
from engine.builtin.terms import terms
from engine.builtin.unmentioned import missing_terms
from engine.model.values import Message, Suggestion
from engine.model.wording import KINDS
from engine.roles import SILENT, GenerationRequest, Trace
from engine.roles.conversation import Revision, request_of, revision_of

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

_ROLES: dict[str, Literal["system", "user", "assistant"]] = {"system": "system", "human": "user", "ai": "assistant"}
_MENTIONED = 0.34
"""Share of a suggestion's own words that a sentence must have in order to be what the reviewer misses."""
_DROPPING = frozenset({"off_point", "repeated", "invented", "not_shown"})
_REWRITTEN = frozenset({"no_answer", "off_topic"})


class BuiltinWriter:
    """Extractive (contract: :class:`engine.roles.Writer`): every sentence that it adds stands in a passage.

    It reads request and revision as values from the conversation, not from its words. ``ValueError`` for a
    conversation that was not made by ``engine.llm.writer_prompts``.
    """

    def __init__(self) -> None:
        self._generator = BuiltinGenerator()

    @property
    def context_tokens(self) -> int:
        return self._generator.context_tokens

    def count_tokens(self, text: str) -> int:
        """Estimate tokens as the built-in generator does."""
        return self._generator.count_tokens(text)

    async def write(self, messages: Sequence[BaseMessage], trace: Trace = SILENT) -> str:
        asked = tuple(Message(_ROLES[item.type], item.text) for item in messages)
        return await spoken(trace, asked, _pieces(messages))


def _pieces(messages: Sequence[BaseMessage]) -> Iterator[str]:
    request, revision = request_of(messages), revision_of(messages)
    if revision is None:
        yield from compose(request)
    else:
        yield from pieces(revise(request, revision))


@dataclass(frozen=True)
class _Line:
    """A statement and the white space before it; an empty text is a sentence that was left out."""

    gap: str
    text: str
    claim: bool
    markers: tuple[int, ...] = ()


class Reviser:
    """One revision: applies each suggestion to the lines of the answer, and leaves the others alone."""

    def __init__(self, request: GenerationRequest, revision: Revision) -> None:
        self._request = request
        self._phrases = Phrases("revision", request.language)
        self._glue = self._phrases.gap
        self._lines = list(_lines(revision.answer))
        self._suggestions = revision.evaluation.suggestions
        self._shown = shown_passages(request.read)
        self._asking = asking_of(request.question)
        self._quotes = quotes_of(self._asking, request.passages, request.around)
        self._by_code: Mapping[str, Callable[[Suggestion], None]] = {
            "uncited": self._cite,
            "unsupported": self._cite,
            "dead_marker": self._without_dead_markers,
            "contradiction": self._say_difference,
            "part_open": self._answer_part,
            "part_unsaid": self._answer_part,
            "kind_missing": self._give_kind,
            "kind_unsaid": self._give_kind,
            "terms_unsaid": self._say_terms,
            "no_structure": self._make_list,
        }

    def revised(self) -> str:
        """The whole answer; rewritten where it did not speak of the question at all."""
        if any(item.code in _REWRITTEN for item in self._suggestions):
            return "".join(compose(self._request))
        for item in self._suggestions:
            if item.code in _DROPPING:
                self._drop(item)
            else:
                self._by_code.get(item.code, self._heed)(item)
        return "".join(line.gap + line.text for line in self._lines if line.text).strip()

    def _drop(self, item: Suggestion) -> None:
        for place in self._about(item):
            if sum(line.claim and bool(line.text) for line in self._lines) > 1:
                self._lines[place] = replace(self._lines[place], text="")

    def _cite(self, item: Suggestion) -> None:
        """Name the passage that says it; a sentence that none says goes, one that the cited passage has stays."""
        for place in self._about(item):
            line = self._lines[place]
            statement = _statement(line)
            cited = [self._shown[marker - 1] for marker in line.markers if 1 <= marker <= len(self._shown)]
            if any(shown.bears_out(statement) for shown in cited):
                # The reviewer saw it cut; in full it does say so.
                continue
            best = best_support(statement, self._shown) or self._named(item)
            if best is None:
                self._drop(item)
                continue
            bare = MARKER.sub("", line.text).rstrip()
            self._lines[place] = replace(
                line, text=f"{bare}{self._glue}[{best.marker}]", markers=(best.marker,), claim=True
            )

    def _without_dead_markers(self, _: Suggestion) -> None:
        for place, line in enumerate(self._lines):
            if any(not 1 <= marker <= len(self._shown) for marker in line.markers):
                alive = tuple(marker for marker in line.markers if 1 <= marker <= len(self._shown))
                bare = MARKER.sub("", line.text).rstrip()
                best = best_support(_statement(line), self._shown) if not alive else None
                kept = alive or ((best.marker,) if best else ())
                tail = "".join(f"[{marker}]" for marker in kept)
                self._lines[place] = replace(line, text=f"{bare}{self._glue}{tail}".rstrip(), markers=kept)

    def _say_difference(self, item: Suggestion) -> None:
        other = item.params.get("other", "")
        pair = [*(place for place, line in enumerate(self._lines) if other and _plain(line) == other)]
        pair += self._about(item)
        markers = list(dict.fromkeys(marker for place in sorted(pair) for marker in self._lines[place].markers))
        if not markers:
            return
        said = self._phrases("differ", what=" ".join(f"[{marker}]" for marker in markers))
        self._lines.insert(max(pair) + 1, _Line(" ", said, claim=False, markers=tuple(markers)))

    def _answer_part(self, item: Suggestion) -> None:
        wanted = item.params.get("part", "")
        part = next((known for known in parts_of(self._request.question) if known.text == wanted), None)
        if part is None or not self._add(partial(_of_part, part)):
            self._say("part", wanted)

    def _give_kind(self, item: Suggestion) -> None:
        kind = item.params.get("kind", "")
        for asked in asked_kinds(self._request.question):
            if asked.kind == kind and self._add(partial(_of_kind, asked)):
                return
        self._say("kind", KINDS[self._phrases.written].get(kind, kind))

    def _say_terms(self, item: Suggestion) -> None:
        """Call a term missing if no passage has it; answer it if only the reviewer missed it."""
        missing = list(missing_terms(self._asking, self._request.read))
        for form in re.split(r",\s*", item.params.get("terms", "")):
            if form and form not in missing and not self._add(partial(_of_term, form)):
                missing.append(form)
        if missing:
            self._say("terms", self._phrases.listed(missing))

    def _make_list(self, _: Suggestion) -> None:
        for place, line in enumerate(self._lines):
            if line.claim and line.text:
                self._lines[place] = replace(line, gap="\n", text=f"- {line.text.removeprefix('- ')}")

    def _heed(self, item: Suggestion) -> None:
        """A reviewer's own words: about a sentence it is cited or left out, about the whole something is added."""
        if item.quote and self._about(item):
            if item.dimension == "evidence_marking":
                self._cite(item)
            else:
                self._drop(item)
            return
        wanted = frozenset(terms(item.text)) - {term for line in self._lines for term in terms(line.text)}
        if wanted:
            self._add(partial(_of_words, wanted))

    def _add(self, worth: Callable[[Quote], float]) -> bool:
        """Add the sentence of the passages that is worth most and is not there yet; whether there was one."""
        there = _letters("".join(line.text for line in self._lines))
        fresh = [quote for quote in self._quotes if _letters(quote.text) not in there]
        best = max(fresh, key=lambda quote: (worth(quote), -quote.marker, -quote.position), default=None)
        if best is None or worth(best) <= 0:
            return False
        group = [best]
        if leans_on_previous(best.text):
            group = [
                item for item in fresh if item.marker == best.marker and item.position == best.position - 1
            ] + group
        at = self._place_for(best.marker)
        for quote in group:
            text = f"{ends(quote.text)}{self._glue}[{quote.marker}]"
            self._lines.insert(at, _Line(" ", text, claim=True, markers=(quote.marker,)))
            at += 1
        return True

    def _place_for(self, marker: int) -> int:
        """Find the place after the last claim that cites the same passage, else after the last claim."""
        claims = [place for place, line in enumerate(self._lines) if line.claim]
        same = [place for place in claims if marker in self._lines[place].markers]
        return (same or claims or [len(self._lines) - 1])[-1] + 1

    def _say(self, phrase: str, what: str) -> None:
        said = self._phrases(phrase, what=what)
        if what and all(said not in line.text for line in self._lines):
            self._lines.append(_Line("\n\n", said, claim=False))

    def _about(self, item: Suggestion) -> list[int]:
        """Places of the sentences that a suggestion quotes, wholly or in part."""
        quoted = _letters(item.quote)
        if not quoted:
            return []
        return [
            place
            for place, line in enumerate(self._lines)
            if line.text and line.claim and (quoted in _letters(line.text) or _letters(line.text) in quoted)
        ]

    def _named(self, item: Suggestion) -> Shown | None:
        """The passage that the reviewer itself names as the source."""
        number = item.params.get("better") or item.params.get("marker", "")
        usable = item.code != "unsupported" or "better" in item.params
        if usable and number.isdigit() and 1 <= int(number) <= len(self._shown):
            return self._shown[int(number) - 1]
        return None


def revise(request: GenerationRequest, revision: Revision) -> str:
    """The last answer with what was criticised changed, and nothing else; never blank where that was not."""
    return Reviser(request, revision).revised()


def _lines(answer: str) -> Iterator[_Line]:
    at = 0
    for item in statements(answer):
        begins = answer.index(item.text, at)
        yield _Line(answer[at:begins], item.text, claim=item.part == "claim", markers=item.markers)
        at = begins + len(item.text)


def _statement(line: _Line) -> Statement:
    return Statement(line.text, "claim", line.markers, 0)


def _plain(line: _Line) -> str:
    return _statement(line).plain


def _of_part(part: Part, quote: Quote) -> float:
    return _at_least(part.share(quote.text), PART_COVERED)


def _of_kind(asked: Asked, quote: Quote) -> float:
    return _at_least(kind_strength(asked, quote), KIND_THERE)


def _of_term(form: str, quote: Quote) -> float:
    return quote.covers.get(form, 0.0)


def _of_words(wanted: frozenset[str], quote: Quote) -> float:
    return _at_least(len(wanted & quote.words) / len(wanted), _MENTIONED)


def _at_least(value: float, bar: float) -> float:
    return value if value >= bar else 0.0


def _letters(text: str) -> str:
    return "".join(char for char in MARKER.sub("", text).casefold() if char.isalnum())


def pieces(answer: str) -> Sequence[str]:
    """Yield an answer in pieces of one sentence; joined they are the answer."""
    return [line.gap + line.text for line in _lines(answer)]
