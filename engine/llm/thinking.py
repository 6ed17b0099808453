"""Keeping a model's thinking apart from its reply, for whole replies and for streams: one table of marks, one rule.

A block of thinking may stand anywhere in a reply, and any number of times. A closing mark alone ends thinking as well:
some chat templates write the opening one into the prompt. Marks inside code or quotation marks are text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class _Pair:
    """Marks around a block of thinking."""

    opening: str
    closings: tuple[str, ...]
    alone: bool = True
    """Whether a closing mark without an opening one ends thinking too."""
    spoken: bool = False
    """Plain words: they count at the very beginning of a reply, as they are written here, and only where they end."""
    ends: tuple[str, ...] = ()
    """Marks that may then stand at the end of the answer, and are no part of it."""


_TAGS = ("think", "thinking", "ant_thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad")
_FINAL = ("<|start|>assistant<|channel|>final<|message|>", "<|channel|>final<|message|>")
_HARMONY_ENDS = ("<|return|>", "<|end|>")
_GRANITE = ("Here is my response:", "Here's my response:")

_PAIRS = (
    # DeepSeek, Qwen, GLM, Kimi K2, MiniMax, Nemotron, OLMo, Phi and most others; EXAONE Deep; Reflection.
    *(_Pair(f"<{tag}>", (f"</{tag}>",)) for tag in (*_TAGS, "seed:think", "longcat_think")),
    _Pair("[THINK]", ("[/THINK]",)),  # Magistral
    _Pair("◁think▷", ("◁/think▷",)),  # Kimi-VL
    _Pair("<|START_THINKING|>", ("<|END_THINKING|>",)),  # Command R and A
    _Pair("<|begin_of_thought|>", ("<|end_of_thought|>",)),  # OpenThinker, Sky-T1
    _Pair("<|inner_prefix|>", ("<|inner_suffix|>",)),  # Apertus
    _Pair("<|think:start|>", ("<|think:end|>",)),  # Solar
    _Pair("<|channel>thought", ("<channel|>",)),  # Gemma 4
    _Pair("<unused94>thought", ("<unused95>",)),  # MedGemma
    # gpt-oss (Harmony), with its special tokens and where a server leaves them out.
    *(
        _Pair(f"<|channel|>{name}<|message|>", (*_FINAL, "<|end|>"), alone=False, ends=_HARMONY_ENDS)
        for name in ("analysis", "commentary")
    ),
    _Pair("analysis", ("assistantfinal",), alone=False, spoken=True),
    # Granite 3.2, Apriel
    _Pair("Here is my thought process:", _GRANITE, alone=False, spoken=True),
    _Pair("Here's my thought process:", _GRANITE, alone=False, spoken=True),
    _Pair(
        "Here are my reasoning steps:",
        ("[BEGIN FINAL RESPONSE]",),
        alone=False,
        spoken=True,
        ends=("[END FINAL RESPONSE]",),
    ),
    # How chat programs keep the thinking of earlier messages.
    _Pair('<details type="reasoning"', ("</details>",), alone=False),
)
_WRAPPINGS = {
    "<answer>": "</answer>",
    "<response>": "</response>",
    "<output>": "</output>",
    "<|START_RESPONSE|>": "<|END_RESPONSE|>",
    "<|begin_of_solution|>": "<|end_of_solution|>",
    **dict.fromkeys(_FINAL, "<|return|>"),
}
"""Marks around an answer that follows thinking; those of special tokens need no thinking before them."""
_OPENED = {pair.opening.lower(): pair for pair in _PAIRS}
_ALONE = tuple(closing for pair in _PAIRS if pair.alone for closing in pair.closings)
_UNOPENED = _Pair("", (*_ALONE, *_FINAL), spoken=True)
"""What a reply begins with whose opening mark stands in the prompt."""


def _any_of(marks: Iterable[str]) -> str:
    return "|".join(re.escape(mark) for mark in sorted(marks, key=len, reverse=True))


_OPENING = re.compile(_any_of(pair.opening for pair in _PAIRS if not pair.spoken), re.IGNORECASE)
_SPOKEN = re.compile(_any_of(pair.opening for pair in _PAIRS if pair.spoken))
_WRAPPING = re.compile(_any_of(_WRAPPINGS), re.IGNORECASE)
_MARK = re.compile(
    rf"(?P<fence>```)|(?P<code>`[^`\n]+`)|(?P<begun>`+[^`\n]*\Z)|(?P<opening>{_OPENING.pattern})"
    rf"|(?P<closing>{_any_of((*_ALONE, *_FINAL))})|(?P<end>{_any_of((*_WRAPPINGS.values(), *_HARMONY_ENDS))}"
    r"|\[END FINAL RESPONSE\])",
    re.IGNORECASE,
)
_CLOSING = {pair: re.compile(_any_of(pair.closings), re.IGNORECASE) for pair in (*_PAIRS, _UNOPENED)}
_BEGINNINGS = frozenset(
    mark[:length].lower()
    for mark in (*_OPENED, *_ALONE, *_FINAL, *_WRAPPINGS, *_WRAPPINGS.values(), *_HARMONY_ENDS, "[END FINAL RESPONSE]")
    for length in range(1, len(mark))
)
_LONGEST = max(map(len, _BEGINNINGS))
_CODE_BEGUN = re.compile(r"`+[^`\n]*\Z")
_JSON = re.compile(r"\{|```|\[\s*[{\[\"\d]")
_LINE_START = re.compile(r"(?:\A|\n)[ \t]*\Z")
_QUOTES = {'"': '"', "“": "”", "‘": "’", "«": "»", "「": "」", "『": "』", "`": "`"}


def split_thinking(reply: str) -> tuple[str, str]:
    """A reply that is JSON or a whole text without its thinking, and the thinking.

    What begins like JSON is taken as it is: marks in its strings are what a passage says.
    """
    whole = ThinkingFilter(lambda _: None, structured=True)
    whole.feed(reply)
    whole.finish()
    return whole.text, whole.thinking


class ThinkingFilter:
    """Passes a streamed reply on piece by piece, without its thinking and the blanks before the answer.

    What was passed on is exactly :attr:`text`. Where a closing mark alone shows that what went out was thinking,
    ``take_back`` is called, and all that follows is passed on from the beginning.
    """

    def __init__(
        self,
        hear: Callable[[str], None],
        take_back: Callable[[], None] = lambda: None,
        *,
        structured: bool = False,
        unopened: bool = False,
    ) -> None:
        """``structured``: JSON is expected; ``unopened``: thinking without its opening mark, nothing goes out of it."""
        self._hear = hear
        self._take_back = take_back
        self._structured = structured
        self._held = ""
        self._state: Literal["before", "thinking", "answer", "fence", "raw"] = "before"
        self._thoughts: list[str] = []
        self._ends: set[str] = set()
        self._fence = 0
        self.text = ""
        self.unopened = False
        """Whether thinking was closed that was never opened."""
        if unopened:
            self._think(_UNOPENED, "")

    @property
    def thinking(self) -> str:
        """All blocks, in their order."""
        return "\n".join(filter(None, self._thoughts))

    def feed(self, piece: str) -> None:
        self._held += piece
        self._run(final=False)

    def finish(self) -> None:
        """The stream has ended: what was held back is text, and thinking that was never closed stays thinking."""
        self._run(final=True)

    def _run(self, *, final: bool) -> None:
        steps = {"before": self._before, "thinking": self._find_end, "answer": self._answer, "fence": self._code}
        while self._held or final:
            if self._state == "raw":
                self._say(len(self._held))
                return
            if not steps[self._state](final):
                return

    def _before(self, final: bool) -> bool:
        """Skip blanks and wrappings before an answer, or find that thinking begins."""
        head = self._held.lstrip()
        kept = self._held[: len(self._held) - len(head)] if self.text and not self.text[-1].isspace() else ""
        wrapped = _WRAPPING.match(head)
        if wrapped and (self._thoughts or wrapped.group().startswith("<|")):
            self._ends.add(_WRAPPINGS.get(wrapped.group(), _WRAPPINGS.get(wrapped.group().lower(), "")).lower())
            self._held = kept + head[wrapped.end() :]
            return True
        opened = _OPENING.match(head) or (None if self.text or self._thoughts else _SPOKEN.match(head))
        if opened:
            self._held = head[opened.end() :]
            self._think(_OPENED[opened.group().lower()], opened.group(), at_start=not kept)
            return True
        if not final and (not head or head.lower() in _BEGINNINGS):
            return False
        self._held = kept + head
        self._state = "raw" if self._structured and _JSON.match(head) else "answer"
        return bool(self._held)

    def _think(self, pair: _Pair, mark: str, *, at_start: bool = True) -> None:
        self._state = "thinking"
        self._pair, self._mark, self._at_start, self._searched = pair, mark, at_start, 0

    def _find_end(self, final: bool) -> bool:
        closings = list(_CLOSING[self._pair].finditer(self._held, self._searched))
        closed = next((item for item in closings if not _quoted(self._held, item)), None)
        if not final and (closed is None or self._open_ended(closed)):
            self._searched = 0 if closings else max(0, len(self._held) - _LONGEST)
            return False
        # An answer may begin, and thinking end, with a quotation: then this was the end after all.
        closed = closed or (closings[-1] if closings else None)
        if closed is not None:
            self._thoughts.append(self._held[: closed.start()].strip())
            self._ends.update(end.lower() for end in self._pair.ends)
            self.unopened = self.unopened or self._pair is _UNOPENED
            self._held, self._state = self._held[closed.end() :], "before"
            return True
        if self._pair.spoken or not self._at_start:
            # A sentence about the mark.
            if self._pair is _UNOPENED:
                self._state = "before"
                return bool(self._held.strip())
            self._held, self._state = self._mark + self._held, "answer"
            self._say(len(self._mark))
            return bool(self._held)
        self._thoughts.append(self._held.strip())
        self._held = ""
        return False

    def _answer(self, final: bool) -> bool:
        """Pass on what is surely answer."""
        at = 0
        while found := _MARK.search(self._held, at):
            kind, at = found.lastgroup, found.end()
            if kind == "begun":
                at = found.start()
                if not final:
                    break
                at += 1
            elif kind == "fence":
                self._fence = len(self.text) + found.start()
                self._say(found.end())
                self._state = "fence"
                return True
            elif kind != "code" and not (kind == "end" and found.group().lower() not in self._ends):
                if not final and self._open_ended(found):
                    self._say(found.start() if kind == "opening" else 0)
                    return False
                if not _quoted(self._held, found, self.text):
                    return self._meet(found, final)
        self._say(len(self._held) if final else _certain(self._held, at))
        return False

    def _meet(self, found: re.Match[str], final: bool) -> bool:
        """Act on a mark in the answer."""
        rest = self._held[found.end() :]
        if found.lastgroup == "closing":
            if not rest.strip() and not final:
                return False
            if rest.strip() or not self._thoughts:
                # With nothing behind it, a mark after thinking that was closed is a slip.
                self._was_thinking(found.start())
                self._held = rest
                return True
        mark = found.group()
        self._say(found.start())
        self._held = rest
        if found.lastgroup == "opening":
            self._think(_OPENED[mark.lower()], mark, at_start=_LINE_START.search(self.text) is not None)
        return True

    def _was_thinking(self, until: int) -> None:
        """Take back what has gone out, with what is held up to there: it was thinking."""
        self._thoughts.append((self.text + self._held[:until]).strip())
        if self.text:
            self.text = ""
            self._take_back()
        self.unopened, self._state = True, "before"

    def _code(self, final: bool) -> bool:
        end = self._held.find("```")
        if end >= 0:
            self._say(end + 3)
            self._state = "answer"
            return True
        self._say(len(self._held if final else self._held.rstrip("`")))
        closings = list(_CLOSING[_UNOPENED].finditer(self.text, self._fence)) if final else []
        # Code that never ends is none: what was thought may break off in it.
        if not closings or not (rest := self.text[closings[-1].end() :]).strip():
            return False
        self.text = self.text[: closings[-1].start()]
        self._was_thinking(0)
        self._held = rest
        return True

    def _open_ended(self, mark: re.Match[str]) -> bool:
        """Return whether what has yet to come may show that a mark is quoted."""
        before = (self.text if self._state == "answer" else "") + self._held[: mark.start()]
        return mark.end() == len(self._held) and before[-1:] in _QUOTES

    def _say(self, length: int) -> None:
        text, self._held = self._held[:length], self._held[length:]
        if text:
            self.text += text
            self._hear(text)


def _quoted(text: str, mark: re.Match[str], before: str = "") -> bool:
    """Return whether a mark stands alone inside quotation marks, which have not been closed on its line before."""
    line = (before + text[: mark.start()]).rpartition("\n")[2]
    quote = line[-1:]
    closing = _QUOTES.get(quote)
    return closing is not None and text[mark.end() :][:1] == closing and (quote != closing or line.count(quote) % 2 > 0)


def _certain(text: str, at: int) -> int:
    """Return how much of a text, read up to ``at``, precedes what may be the start of a marker or of code."""
    begun = _CODE_BEGUN.search(text, at)
    last = begun.start() if begun else len(text)
    for start in range(max(at, len(text) - _LONGEST), last):
        if text[start:].lower() in _BEGINNINGS:
            return start
    return last
