"""Sentences of a passage that can be quoted: without headings, list signs and table bars, whole where possible."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from engine.builtin.entries import Stretch, stretches
from engine.builtin.markers import quoted
from engine.model.language import sentences

LONGEST_WORDS = 60
LONGEST_HAN = 160
"""Length at which one sentence is cut, in words and in Chinese characters."""

_HEADING = re.compile(r"^\s*(?:#{1,6}(?:\s.*)?|[=\-*_~]{3,}|[|:\-\s]+)$")
_LIST_SIGN = re.compile(r"^\s*(?:>\s*)*(?:[-*+•·●▪◦–]\s+|\(?\d{1,3}[.)、]\s*(?=\D)|[①-⑳]\s*)?(?:\[[ xX]\]\s+)?")
_STEP = re.compile(r"^\s*\(?(\d{1,2})[.)、]\s*(?=\D)")
_STRESS = re.compile(r"`[^`]+`|(?<![\w*])(\*{1,3})(?=\S)(.+?)(?<=\S)\1(?![\w*])")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)[ \t]*$")
_MOST_CODE = 12
"""Lines of one block of code that are quoted."""
_LONGEST_CODE = 160
"""Characters of one of them."""
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_FULL_STOP = re.compile(r"[.!?…。！？；;:：]['\"”’）)】\]]*$")
_OPEN_END = re.compile(
    r"(?:[;；:：]|[\w)]!(?<=[\d)]!)|\b(?:a\.m|p\.m|e\.?g|i\.?e|etc|cf|vs|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|approx|ca|al)\.|(?:^|\s)[A-Z]\.)$"
)
"""A sentence splitter stops here, but the sentence continues: clauses, factorials, abbreviations, initials."""
_CLOSING = re.compile(r"^[”’」』）》】)\]]+")
_END = "\ue000"
_BROKEN = "\ue002"
_NARROWEST, _WIDEST = 50, 100
"""Characters of a line that may have been broken for width, and of the longest one next to it."""
_OPENS = re.compile(r"[-+*#>•●▪◦]\s|#|\(?\d+[.)、]")
"""Begins a line that continues nothing."""
_ITEM = "\ue001"
"""Begins the line of an item of a list while sentences are separated."""
_BULLET = re.compile(r"^\s*(?:>\s*)*[-*+•●▪◦]\s+\S")
_SHORT_CELL = 0.2
_SHORT_ROW = 0.7
"""Lengths up to which a cell stays with its row, and a row stays whole."""
_SHORT_ITEM = 0.7
_SHORT_LIST = 0.8
"""Length up to which an item stays one sentence, and a list stays with the line that leads to it."""
_CODE_WORDS = re.compile(r"`[^`\n]*`")
_PATH = re.compile(r"`[\w@./+-]+\.\w+`")
"""The name of an included file, which no sentence leads to."""
_PROPERTY = re.compile(r"[^:：`]{1,24}[:：]\s*`[^`]+`")
"""A line of an entry in a reference: "Default: `5173`"."""
_DASH = re.compile(r"^[-–—]\s+")
_SHOWS = re.compile(
    r"(?:this|the above|the previous|these) (?:commands?|code|will|example|snippets?|lines?)\b"
    r"|(?:这|该|此|上|以上)[^，。]{0,6}(?:命令|指令|代码|示例|例子)",
    re.IGNORECASE,
)
"""What speaks of the code that stands before it."""
_PAIRS = (("“", "”"), ("「", "」"), ("『", "』"))
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_LEANS = re.compile(
    r"^(?:(?:it|its|they|their|them|this|these|those|that|he|she|his|her|such|here|both|even so|however|but|so|thus|"
    r"hence|also|then|and|or|yet|instead|likewise|otherwise|therefore|for example|for instance|in contrast|by contrast|"
    r"conversely|similarly|the (?:former|latter|same|first|second|other|others|rest))\b"
    r"|它|他|她|此|这|那|其|该|但|不过|然而|因此|所以|于是|因而|例如|比如|同样|相反|反之|反过来|前者|后者|另|也|又|还|而|并|再|否则|只有这样)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quotable:
    """A sentence on one line, and the block of code right behind it, or before it where it speaks of that."""

    text: str
    code: str = ""
    entry: str = ""
    """The term that it says something of, where that stands above it: of a definition, a row or a list item."""
    heading: str = ""
    """The heading inside the passage that it stands under."""


def quotable(text: str, heading: str = "", context: str = "") -> list[Quotable]:
    """The sentences of a passage in order; ``heading`` is left out where the text repeats it.

    Brackets before digits get a space, so that a quoted ``[3]`` or ``[0, 1]`` cannot pass for a marker of the answer.
    ``context`` is what the passage continues: a row of a table is quoted with the names of its columns.
    """
    found: list[Quotable] = []
    begun = leads = False
    before = ""
    for item in _stretches(text.replace("\r", "\n").split("\n"), context):
        if item.kind == "code":
            if leads and not found[-1].code:
                found[-1] = replace(found[-1], code=_code(item.lines))
            before = before or _code(item.lines)
            continue
        if not any(map(str.strip, item.lines)):
            continue  # between two blocks of code
        read = _of_row(item) if item.kind == "row" else _of_text(item, "" if begun else heading)
        made = [replace(quote, heading=item.heading) for quote in read]
        if made and _SHOWS.match(made[0].text):
            made[0] = replace(made[0], code=before)
        found.extend(made)
        begun, leads, before = True, bool(made), ""
    return found


def _stretches(lines: list[str], context: str) -> Iterator[Stretch]:
    for kind, block in _blocks(lines):
        yield from [Stretch("code", tuple(block))] if kind == "code" else stretches(block, context)
        context = ""


def _of_text(item: Stretch, heading: str) -> Iterator[Quotable]:
    said = [line for line in _with_ends(item.lines) if line.strip() and not _HEADING.match(line)]
    if said and heading and _bare(said[0]) == _bare(heading):
        said = said[1:]
    entry = _line(item.entry)
    cleaned = [line.replace(_END, "").replace(_BROKEN, "") for line in _unwrapped(_with_steps_together(said))]
    for part in _whole(_with_lists(list(_pieces(cleaned)))):
        if any(map(str.isalnum, part)) and not _PATH.fullmatch(part):
            yield Quotable(_balanced(shortened(_DASH.sub("", part))), entry=entry)


def _of_row(item: Stretch) -> Iterator[Quotable]:
    """A row with the names of its columns; of one that is long, the long cells sentence by sentence."""
    cells = [_line(cell) for cell in item.lines]
    names = [_line(name) for name in item.header] if len(item.header) == len(cells) else [""] * len(cells)
    pairs = [(name, cell) for name, cell in zip(names, cells, strict=True) if any(map(str.isalnum, cell))]
    whole = _paired(pairs)
    long = [pair for pair in pairs[1:] if length(pair[1]) > _SHORT_CELL] if length(whole) > _SHORT_ROW else []
    if pairs:
        yield Quotable(shortened(_paired([pair for pair in pairs if pair not in long])))
    for _, cell in long:
        yield from (Quotable(_balanced(shortened(part)), entry=pairs[0][1]) for part in _whole(_pieces([cell])))


def _paired(pairs: Sequence[tuple[str, str]]) -> str:
    if not any(name for name, _ in pairs):
        return ", ".join(cell for _, cell in pairs)
    wide = any(_HAN.search(cell) for pair in pairs for cell in pair)
    between, colon = ("；", "：") if wide else ("; ", ": ")
    return between.join(f"{name}{colon}{cell}" if name else cell for name, cell in pairs)


def prose(text: str) -> str:
    """A passage without its blocks of code, and without words of code between back-ticks."""
    kept = [line for kind, lines in _blocks(text.split("\n")) if kind == "text" for line in lines]
    return _CODE_WORDS.sub("", "\n".join(kept))


def leans_on_previous(sentence: str) -> bool:
    """Return whether a sentence begins with a word that points back, so that it needs the one before it."""
    return _LEANS.match(sentence) is not None


def length(text: str) -> float:
    """Length as a share of one longest sentence: words for spaced text, characters for Chinese, whichever is more."""
    return max(len(text.split()) / LONGEST_WORDS, len(_HAN.findall(text)) / LONGEST_HAN, len(text) / 600)


def shortened(sentence: str, share: float = 1.0) -> str:
    """A sentence cut to ``share`` of the longest length, at a word or clause, with an ellipsis."""
    size = length(sentence)
    if size <= share:
        return sentence
    cut = sentence[: max(1, int(len(sentence) * share / size))]
    at = max(cut.rfind(sign) for sign in (" ", "，", "、", ","))
    return (cut[:at] if at > len(cut) // 2 else cut).rstrip(" ,，、;；") + "…"


def is_property(text: str) -> bool:
    """Return whether a text says what value something has, and not of what: "Default: `5173`"."""
    return _PROPERTY.match(text) is not None


def is_sentence(text: str) -> bool:
    """Return whether a text ends as a sentence does."""
    return _FULL_STOP.search(text) is not None


def ends(sentence: str) -> str:
    """A sentence with a full stop where it has none, as list items often do."""
    if _FULL_STOP.search(sentence):
        return sentence
    return sentence + ("。" if _HAN.search(sentence) else ".")


def _with_ends(lines: Sequence[str]) -> Iterator[str]:
    """The lines, with a sign behind the last one of each paragraph, and another behind those broken for width."""
    width = max(map(len, lines), default=0)
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        ends = number + 1 < len(lines) and not following.strip() and line.strip() and not _STEP.match(line)
        if _HEADING.match(line):
            yield line
        elif ends:
            yield f"{line.rstrip()}{_END}"
        else:
            yield f"{line.rstrip()}{_BROKEN}" if _broken(line, following, width) else line


def _broken(line: str, following: str, width: int) -> bool:
    """Return whether a line was broken because no word of the next one had room in it."""
    words = following.split()
    if not words or width > _WIDEST or len(line) < _NARROWEST or _OPENS.match(following.lstrip()):
        return False
    return len(line.rstrip()) + 1 + len(words[0]) > width


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Stretches of text and of code, without the fences; a passage may begin or end in the middle of code."""
    marks = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    if len(marks) % 2 and not _language(lines[marks[0]]) and _looks_like_code(lines[: marks[0]]):
        yield "code", lines[: marks[0]]
        lines, marks = lines[marks[0] + 1 :], [mark - marks[0] - 1 for mark in marks[1:]]
    start = 0
    for number, mark in enumerate([*marks, len(lines)]):
        yield ("code" if number % 2 else "text"), lines[start:mark]
        start = mark + 1


def _language(line: str) -> str:
    found = _FENCE.match(line)
    return found.group(2) if found else ""


def _looks_like_code(lines: list[str]) -> bool:
    filled = [line.strip() for line in lines if line.strip()]
    signs = sum(line.endswith((";", "{", "}", ")", "(", ",", ">", "]")) or "=" in line for line in filled)
    return bool(filled) and signs * 2 >= len(filled)


def _code(lines: Sequence[str]) -> str:
    """A block between fences, cut where it is long; brackets around numbers cannot pass for markers."""
    kept = "\n".join(line.rstrip()[:_LONGEST_CODE] for line in lines).strip("\n").split("\n")
    if len(kept) > _MOST_CODE:
        kept = [*kept[:_MOST_CODE], "…"]
    text = quoted("\n".join(kept).replace("```", "``"))
    return f"```\n{text}\n```" if text.strip() else ""


def _pieces(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Sentences, and short items of lists whole: the second sentence of an item says nothing without the first."""
    for line in lines:
        text = line.removeprefix(_ITEM)
        item = line.startswith(_ITEM) and length(text) <= _SHORT_ITEM
        yield from [(text, True)] if item else ((part, False) for part in sentences(text))


def _with_lists(pieces: Sequence[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
    """The pieces, with a short list behind the line that leads to it, and the properties of an entry in one."""
    at = 0
    while at < len(pieces):
        text, item = pieces[at]
        at += 1
        end = at
        while item and is_property(text) and end < len(pieces) and pieces[end][1] and is_property(pieces[end][0]):
            text = f"{text}{'；' if _HAN.search(text) else '; '}{pieces[end][0]}"
            at = end = end + 1
        while not item and text.endswith((":", "：")) and end < len(pieces) and pieces[end][1]:
            end += 1
        wide = bool(text) and _wide(text[-1])
        listed = ("；" if wide else "; ").join(part.rstrip(".。;； ") for part, _ in pieces[at:end])
        whole = f"{text}{'' if wide else ' '}{listed}"
        if end > at + 1 and length(whole) <= _SHORT_LIST:
            text, at = whole, end
        yield text, item


def _whole(pieces: Iterable[tuple[str, bool]]) -> list[str]:
    """Sentences put back together where the splitter stopped too early, with closing quotes at their own end."""
    joined: list[str] = []
    for piece, item in pieces:
        if item:
            joined.append(piece)
            continue
        closing = _CLOSING.match(piece) if joined else None
        if closing:
            joined[-1] += closing.group()
        rest = piece[closing.end() :].lstrip() if closing else piece
        if joined and rest and _OPEN_END.search(joined[-1]):
            joined[-1] += ("" if _wide(joined[-1][-1]) or _wide(rest[0]) else " ") + rest
        elif rest:
            joined.append(rest)
    return joined


def _balanced(sentence: str) -> str:
    """A sentence out of a longer quotation with the quotation mark that it lacks."""
    if sentence.count('"') % 2:
        sentence = f'"{sentence}' if sentence.endswith('"') else f'{sentence}"'
    for left, right in _PAIRS:
        if sentence.count(left) > sentence.count(right):
            sentence += right
        elif sentence.count(left) < sentence.count(right):
            sentence = left + sentence
    return sentence


def _wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in {"W", "F"}


def _line(line: str) -> str:
    sign = _ITEM if _BULLET.match(line) else ""
    found = _LIST_SIGN.sub("", line, count=1).strip()
    found = _LINK.sub(r"\1", found)
    found = _STRESS.sub(lambda match: match.group(2) or match.group(), found)
    return sign + quoted(" ".join(found.split()))


def _with_steps_together(lines: list[str]) -> list[str]:
    """The lines cleaned, with the items of a numbered list on one: "(1) Open it; (2) Fill it"."""
    made: list[str] = []
    steps: list[str] = []
    for line in [*lines, ""]:
        step = _STEP.match(line)
        if step:
            steps.append(_line(line).rstrip(".。;；"))
            continue
        if len(steps) > 1:
            made.append("; ".join(f"({number}) {text}" for number, text in enumerate(steps, 1)))
        else:
            made.extend(steps)
        steps = []
        made.append(_line(line))
    return made


def _unwrapped(lines: list[str]) -> list[str]:
    """Lines broken for width put back together: the first ends openly, the next continues in lower case or Chinese."""
    whole: list[str] = []
    for line in lines:
        broken = bool(whole) and whole[-1].endswith(_BROKEN)
        previous = whole[-1].removesuffix(_BROKEN) if whole else ""
        open_end = previous and not previous.endswith(_END) and not _FULL_STOP.search(previous)
        if open_end and (broken or _goes_on(previous, line)):
            whole[-1] = previous + ("" if _HAN.match(line) and _HAN.search(previous[-1]) else " ") + line
        else:
            whole.append(line)
    return whole


def _goes_on(previous: str, line: str) -> bool:
    # Short lines are items of a list or verses, broken on purpose.
    if line[:1].islower():
        return len(previous) > 30
    return len(previous) > 20 and _HAN.match(line) is not None and _wide(previous[-1])


def _bare(text: str) -> str:
    return "".join(char for char in text if char.isalnum()).casefold()
