"""Reading the JSON that chat models write as it is meant: with any quotes, bare words, LaTeX, and what is left out.

Pure. Nothing is guessed: what can be meant in two ways is broken.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

LONGEST_REPLY = 20_000
"""Characters of a reply that are looked at; a verdict takes some 300."""
_MOST_OBJECTS = 64
_MOST_BROKEN = 4
_MOST_DEPTH = 32
_ESCAPED_WHOLE = re.compile(r"[\s\"'`]*(?:json\s*)?\{\s*\\+[\"n]")
"""An object that was escaped as a whole, as if it were the string of another one."""
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_OBJECT = re.compile(r"[{｛]")


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Every outermost JSON object in a text, read as it is meant; unreadable ones are skipped."""
    text = text[:LONGEST_REPLY]
    if _ESCAPED_WHOLE.match(text):
        text = _ESCAPED.sub(lambda found: "\n" if found.group(1) == "n" else found.group(1), text)
    begun, broken = _OBJECT.search(text), 0
    for _ in range(_MOST_OBJECTS):
        # Each broken start costs a walk to the end of the text; a reply of nothing but those is not worth more.
        if begun is None or broken == _MOST_BROKEN:
            return
        reader = JsonReader(text, begun.start())
        if reader.cut or reader.broken:
            broken += 1
        else:
            yield reader.fields
        begun = _OBJECT.search(text, begun.end() if reader.cut else reader.end)


def cut_object(text: str) -> JsonReader | None:
    """The first object of a text that may break off; None where none begins."""
    begun = _OBJECT.search(text[:LONGEST_REPLY])
    return JsonReader(text[:LONGEST_REPLY], begun.start()) if begun else None


_CLOSING = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_SIGNS = {"，": ",", "：": ":", "｛": "{", "｝": "}"}
_WORDS = {"true": True, "false": False, "none": None, "null": None}
_BARE = re.compile(r"[^\s,:{}\[\]\"'“”‘’，：]+")
_ENDS_STRING = re.compile(r"\s*(?:[,:}\]，：｝]|//|/\*|$)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_COMMA_INSIDE = re.compile(r"([+-]?\d+),(\d+%?)(?=\s*[,}，｝])")
"""A number with a decimal comma: in an object, a name would have to follow the comma."""
_ESCAPES = re.compile(
    r"\\u[0-9a-fA-F]{4}"
    r'|\\["\\/]'
    # A path of Windows that begins with another letter than n: after "Option A:", \\n is a new line.
    r"|(?P<path>(?<![A-Za-z])[A-Za-z]:\\(?!n)\w[\w.-]*(?:\\\w[\w.-]*)*)"
    # No reply means form feeds, backspaces, or a carriage return before a word: \\frac, \\beta, \\right.
    r"|(?P<latex>\\(?:[fr](?=[A-Za-z])|b"
    r"|t(?=(?:heta|ext[a-z]*|imes|au|anh?|op?|ilde|frac|binom|riangle[a-z]*|herefore|otal|hinspace)(?![A-Za-z]))"
    r"|n(?=(?:u|eq|abla|ot|otin|mid|exists|olimits|onumber|ormalsize|ewline|atural|[ew]arrow|parallel|leq|geq|less|gtr"
    r"|sim|cong|prec|succ|(?:sub|sup)seteq|(?:left|right|Left|Right)arrow|vdash|vDash|icefrac)(?![A-Za-z]))"
    r"|n(?=e\s*[\d\\$])"
    # Anything else that is no escape of JSON, unless Markdown or a shell escapes a sign with it.
    r"|(?=[A-Za-z()\[\]{}|,;:])(?![nrtf])))"
    r"|(?P<operator>(?<![A-Za-z.!?。！？])\\n(?=eg?(?![A-Za-z])))"
    r'|\\[nrtf]|["\\]'
)
_BEGUN_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")


class JsonReader:
    """One walk over an object as models write it: with any quotes, bare words, trailing commas and Chinese signs."""

    def __init__(self, text: str, start: int) -> None:
        self.end = start
        """The place after the object."""
        self.fields: dict[str, Any] = {}
        self.unfinished: tuple[str, Any] = "", None
        """The field in which it breaks off, with the text or the complete items of the list that were begun."""
        self.cut = False
        """Whether the text ends before the object does, or goes too deep."""
        self.broken = False
        """Whether it cannot be known what the object means."""
        self._text = text
        self._depth = 0
        try:
            self._members("}", lambda: self._field(self.fields))
        except IndexError:
            self.cut = True

    def _sign(self) -> str:
        while True:
            while self._text[self.end].isspace():
                self.end += 1
            comment = _COMMENT.match(self._text, self.end)
            if comment is None:
                break
            self.end = comment.end()
        return _SIGNS.get(self._text[self.end], self._text[self.end])

    def _members(self, closing: str, take: Callable[[], None]) -> None:
        """Read what stands between brackets, with a comma between any two and perhaps one behind the last."""
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise IndexError
        self.end += 1
        ready = True
        while (sign := self._sign()) not in ("}", "]"):
            self.broken = self.broken or (sign == ",") is ready
            ready = sign == ","
            if ready:
                self.end += 1
            else:
                take()
        self.broken = self.broken or sign != closing
        self.end += 1
        self._depth -= 1

    def _field(self, fields: dict[str, Any]) -> None:
        name = unicodedata.normalize("NFKC", str(self._value())).strip().casefold()
        if self._sign() != ":":
            self.broken = True
            return
        self.end += 1
        outermost = self._depth == 1
        if outermost:
            self.unfinished = name, None
        self._sign()
        if number := _COMMA_INSIDE.match(self._text, self.end):
            self.end = number.end()
        value = f"{number.group(1)}.{number.group(2)}" if number else self._value()
        if outermost:
            self.unfinished = "", None
        # A quotation that escapes its string repeats a key; the last one winning would let a passage decide.
        self.broken = self.broken or (name in fields and fields[name] != value)
        fields[name] = value

    def _value(self) -> Any:
        sign = self._sign()
        if sign == "{":
            fields: dict[str, Any] = {}
            self._members("}", lambda: self._field(fields))
            return fields
        if sign == "[":
            items: list[Any] = []
            self._begin(items)
            self._members("]", lambda: items.append(self._value()))
            return items
        if sign in _CLOSING:
            return self._string(_CLOSING[sign])
        if sign in "}],:":
            self.broken = True
            self.end += sign == ":"
            return None
        return self._bare()

    def _begin(self, value: Any) -> None:
        if self._depth == 1 and self.unfinished[0]:
            self.unfinished = self.unfinished[0], value

    def _string(self, closing: str) -> str:
        start = self.end + 1
        for found in re.compile(rf"\\.|{closing}", re.DOTALL).finditer(self._text, start):
            # A quote inside the string, such as an apostrophe, is not followed by a sign of JSON.
            if found.group() == closing and _ENDS_STRING.match(self._text, found.end()):
                self.end = found.end()
                return _unescaped(self._text[start : found.start()])
        self._begin(_unescaped(_BEGUN_ESCAPE.sub("", self._text[start:])))
        raise IndexError

    def _bare(self) -> Any:
        found = _BARE.match(self._text, self.end)
        word = found.group() if found else self._text[self.end]
        self.end += len(word)
        if word.casefold() in _WORDS:
            return _WORDS[word.casefold()]
        if self.end == len(self._text):
            # A number or a word at the very end may continue.
            raise IndexError
        try:
            return json.loads(word)
        except ValueError:
            return word


def _unescaped(text: str) -> str:
    """Decode a JSON string; an inner quote stands for itself, as does a backslash that escapes nothing."""
    return str(json.loads(f'"{_ESCAPES.sub(_as_meant, text)}"', strict=False))


def _as_meant(found: re.Match[str]) -> str:
    written = found.group()
    if found["path"] or found["latex"] or found["operator"]:
        return written.replace("\\", "\\\\")
    return {'"': '\\"', "\\": ""}.get(written, written)
