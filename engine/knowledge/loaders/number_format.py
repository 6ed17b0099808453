"""Excel's display of values: the number formats of ECMA-376, part 1, 18.8.30 and 18.8.31.

A date whose order the reader's system would choose is written as in ISO 8601.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import floor, isfinite, log10

from engine.knowledge.loaders.date_format import CHINESE, LAST_DAY, Token, date_text

_TOKEN = re.compile(
    r'"(?P<text>[^"]*)"?|\\(?P<sign>.)|!(?P<mark>[^0#?;\s])|_(?P<room>.)|\*(?P<fill>.)'
    r"|\[\$(?P<currency>[^\]-]*)-?(?P<locale>[^\]]*)\]|\[(?P<condition>[<>=]{1,2}\s*-?[\d.]+)\]"
    r"|(?P<elapsed>\[(?:h+|m+|s+)\](?:\.0+)?)|(?P<look>\[[^\]]*\])|(?P<general>General|G/通用格式)"
    r"|(?P<half>AM/PM|A/P|上午/下午|午前/午後)|(?P<exponent>E[+-])"
    r"|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?|e+|g+|aaaa?)|(?P<digit>[0#?])|(?P<end>;)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_DATED = frozenset({"date", "elapsed", "half"})
_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}
_BELOW = ((operator.lt, operator.le), (operator.gt, operator.ge))
"""Conditions under which only negative numbers come to a section: its own, and that of the one before it."""
_LONGEST_CODE = 255
"""Of a format in Excel."""
_EXACT = Context(prec=1000, rounding=ROUND_HALF_UP)
_FRACTION = re.compile(r"(?:(#+) )?#+/(#+|[1-9][#0-9]*)")
_COMMAS, _SCALING = re.compile(r"(?<=#),+"), re.compile(r"(?<=#),+(?![#,])")
"""In a format whose placeholders are written ``#``: commas that are not shown, and those of them that scale."""
_UNFILLED = {"0": "0", "?": " ", "#": ""}
_SYSTEM_DATE = re.compile(r"\[\$-(F800|x-sysdate)", re.IGNORECASE)

_ACCOUNTS = '_(* #,##0{0}_);_(* (#,##0{0});_(* "-"_);_(@_)'
BUILT_IN: Mapping[int, str] = dict(
    enumerate(
        ["General", "0", "0.00", "#,##0", "#,##0.00"]
        + [f"$#,##0{part}_);($#,##0{part})" for part in ("", "", ".00", ".00")]
        + ["0%", "0.00%", "0.00E+00", "# ?/?", "# ??/??", "yyyy-mm-dd", "d-mmm-yy", "d-mmm", "mmm-yy"]
        + ["h:mm AM/PM", "h:mm:ss AM/PM", "h:mm", "h:mm:ss", "yyyy-mm-dd h:mm", *["General"] * 4]
        + ['yyyy"年"m"月"', 'm"月"d"日"', 'm"月"d"日"', "yyyy-mm-dd", 'yyyy"年"m"月"d"日"', 'h"时"mm"分"']
        + ['h"时"mm"分"ss"秒"', '上午/下午h"时"mm"分"', '上午/下午h"时"mm"分"ss"秒"', 'yyyy"年"m"月"']
        + [f"#,##0{part}_);(#,##0{part})" for part in ("", "", ".00", ".00")]
        + [_ACCOUNTS.format(part) for part in ("", "", ".00", ".00")]
        + ["mm:ss", "[h]:mm:ss", "mm:ss.0", "##0.0E+0", "@", 'yyyy"年"m"月"', 'm"月"d"日"', 'yyyy"年"m"月"']
        + [
            'm"月"d"日"',
            'm"月"d"日"',
            '上午/下午h"时"mm"分"',
            '上午/下午h"时"mm"分"ss"秒"',
            'yyyy"年"m"月"',
            'm"月"d"日"',
        ]
    )
)
"""What a file names by number alone: in ISO 8601 or Chinese where it would differ by the reader's system."""


@dataclass(frozen=True, slots=True)
class _Section:
    """One section of a number format; a value takes one by its sign or by a condition."""

    show: Callable[[float], str]
    """Of a number without its sign; of a date."""
    kind: str
    """``number``, ``date`` or ``text``."""
    condition: tuple[Callable[[float, float], bool], float] | None
    signed: bool = True
    """Positive numbers come here too: a minus has to be put before negative ones."""


def shown(value: float, code: str, since_1904: bool = False) -> str:
    """A number, date or time as a cell with this format shows it; as ``General`` where Excel would show only ####."""
    section = None if code == "General" else _chosen(value, _sections(code))
    if section is None or not isfinite(value):
        return general(value)
    if section.kind == "date":
        days = value + 1462 * since_1904
        return _single(section.show(days)) if 0 <= days < LAST_DAY + 1 else general(value)
    text = section.show(abs(value))
    return _single(f"-{text}" if text and value < 0 and section.signed else text)


def shown_text(text: str, code: str) -> str:
    """A text as a cell with this format shows it: formats may put words around it."""
    if "@" not in code or code == "@":
        return text
    words = next((part for part in _parts(code) if ("other", "@") in part), [])
    return "".join(text if token == ("other", "@") else token[1] for token in words if token[0] != "condition").strip()


def general(value: float) -> str:
    """A number without a format: every digit of a whole one; of others ten, as Excel shows."""
    if not isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    power = floor(log10(abs(value)))
    digits = 15 if 9 < power < 15 else 10 + min(power, 0) if power >= -4 else 6
    return f"{value:.{digits}G}"


def _single(text: str) -> str:
    return " ".join(text.split()) if " " in text else text


def _chosen(value: float, sections: Sequence[_Section]) -> _Section | None:
    numeric = [section for section in sections if section.kind != "text"][:3]
    if len(numeric) == 1 and not numeric[0].condition:
        return numeric[0]
    if any(section.condition for section in numeric):
        return next(
            (item for item in numeric if not item.condition or item.condition[0](value, item.condition[1])), None
        )
    place = 0 if value > 0 else 1 if value < 0 else 2 if len(numeric) > 2 else 0
    return numeric[place] if numeric else None


@lru_cache(maxsize=4096)
def _parts(code: str) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    for match in _TOKEN.finditer(code[:_LONGEST_CODE]):
        kind = str(match.lastgroup)
        if kind == "end":
            parts.append([])
        elif kind in ("currency", "locale"):
            parts[-1] += [("text", match["currency"]), ("locale", match["locale"])]
        elif kind == "room":
            parts[-1].append(("text", " "))
        elif kind != "fill":
            parts[-1].append(("text" if kind in ("sign", "mark") else kind, match[kind]))
    return parts


@lru_cache(maxsize=4096)
def _sections(code: str) -> tuple[_Section, ...]:
    code = "yyyy-mm-dd" if _SYSTEM_DATE.match(code) else code
    sections = [_section(part, place) for place, part in enumerate(_parts(code)[:4])]
    for place, section in enumerate(sections):
        # A section for negative numbers alone marks them itself.
        limits = [section.condition] if section.condition else [item.condition for item in sections[:place]][-1:]
        below = any(limit and limit[1] <= 0 and limit[0] in _BELOW[section.condition is None] for limit in limits)
        sections[place] = replace(section, signed=not below and (place != 1 or limits != [None]))
    return tuple(sections)


def _section(part: Sequence[Token], place: int) -> _Section:
    condition = None
    language = 0
    for kind, text in part:
        if kind == "condition":
            sign = text.rstrip("-. 0123456789")
            condition = (_COMPARED.get(sign, operator.eq), float(text[len(sign) :]))
        elif kind == "locale":
            named = {"zh": CHINESE, "ja": 0x11}.get(text[:2].lower(), 0)
            language = int(text[-4:], 16) & 0x3FF if re.fullmatch(r"[0-9A-Fa-f]{3,8}", text) else named
    tokens = [token for token in part if token[0] not in ("condition", "locale", "look")]
    kinds = {kind for kind, _ in tokens}
    if place == 3 or ("other", "@") in tokens:
        return _Section(general, "text", None)
    if "digit" not in kinds and kinds & _DATED:
        return _Section(date_text(list(_dated(tokens)), language), "date", condition)
    # A format with both is none that Excel takes: some program left out the quotes around a unit.
    tokens = [("text" if kind in _DATED else kind, text) for kind, text in tokens]
    if part and not tokens:  # a colour alone
        tokens = [("general", "")]
    return _Section(_numeric(tokens) if "digit" in kinds else _around(tokens), "number", condition)


def _dated(tokens: Sequence[Token]) -> Iterator[Token]:
    for kind, text in tokens:
        # The year of an era and a sign, such as e-m-d.
        yield from [("date", text[0]), ("text", text[1])] if kind == "exponent" else [(kind, text)]


def _around(tokens: Sequence[Token]) -> Callable[[float], str]:
    return lambda value: "".join(general(value) if kind == "general" else text for kind, text in tokens)


def _numeric(tokens: list[Token]) -> Callable[[float], str]:
    signs = "".join("#" if kind == "digit" else text if kind == "other" else "x "[text == " "] for kind, text in tokens)
    if fraction := _FRACTION.search(signs):
        return _fraction(tokens, fraction)
    exponent = next((place for place, (kind, _) in enumerate(tokens) if kind == "exponent"), None)
    if exponent is not None:
        return _power(tokens, signs, exponent)
    scale = 2 * signs.count("%") - 3 * sum(len(match[0]) for match in _SCALING.finditer(signs))
    grouped = "#,#" in signs
    commas = {place for match in _COMMAS.finditer(signs) for place in range(*match.span())}
    kept = [token for place, token in enumerate(tokens) if place not in commas]
    point = next((place for place, token in enumerate(kept) if token == ("other", ".")), len(kept))
    whole, part = kept[:point], kept[point + 1 :]
    step = Decimal(1).scaleb(-sum(kind == "digit" for kind, _ in part))
    dot = "." if point < len(kept) else ""

    def show(value: float) -> str:
        size = Decimal(f"{value:.15g}").scaleb(scale)
        before, _, behind = f"{size.quantize(step, context=_EXACT):f}".partition(".")
        after = _behind(part, behind)
        # Excel leaves a point with nothing behind it, which reads as the end of a sentence.
        return f"{_filled(whole, before, grouped)}{dot if after.strip() else ''}{after}"

    return show


def _power(tokens: list[Token], signs: str, exponent: int) -> Callable[[float], str]:
    """A number with a power of ten: one digit before the point, and no fewer in all than the format shows."""
    first, last = signs.index("#"), signs.rindex("#")
    before, after = ("".join(text for _, text in part) for part in (tokens[:first], tokens[last + 1 :]))
    places = max(signs[:exponent].count("#") - 1, 0)
    return lambda value: f"{before}{value:.{places}E}{after}"


def _filled(slots: Sequence[Token], digits: str, grouped: bool) -> str:
    """Put digits into placeholders from the right; the first takes all that are left."""
    rest = digits.lstrip("0")
    left = sum(kind == "digit" for kind, _ in slots)
    made: list[str] = [] if left else [rest]
    count = 0
    for kind, text in reversed(slots):
        if kind != "digit":
            made.append(text)
            continue
        left -= 1
        taken = rest if left == 0 else rest[-1:]
        rest = rest[: len(rest) - len(taken)]
        for sign in reversed(taken or _UNFILLED[text]):
            made.append(f"{sign}," if grouped and count and count % 3 == 0 and sign != " " else sign)
            count += 1
    return "".join(reversed(made))


def _behind(slots: Sequence[Token], digits: str) -> str:
    """Put the digits of a decimal fraction into placeholders, zeros at its end where they are asked for."""
    kept = iter(digits.rstrip("0"))
    return "".join(next(kept, _UNFILLED[text]) if kind == "digit" else text for kind, text in slots)


def _fraction(tokens: Sequence[Token], place: re.Match[str]) -> Callable[[float], str]:
    mixed = place[1] is not None
    parts = (tokens[: place.start()], tokens[slice(*place.span(2))], tokens[place.end() :])
    before, below, after = ("".join(text for _, text in part) for part in parts)

    def show(value: float) -> str:
        size = Fraction(f"{value:.15g}")
        whole = int(size) if mixed else 0
        rest = size - whole
        over = int(below) if below.isdigit() and int(below) else 0
        near = rest.limit_denominator(10 ** len(below) - 1)
        top, bottom = (floor(rest * over + Fraction(1, 2)), over) if over else (near.numerator, near.denominator)
        if mixed and top == bottom:
            whole, top = whole + 1, 0
        said = [str(whole)] * (mixed and bool(whole or not top)) + [f"{top}/{bottom}"] * bool(top or not mixed)
        return f"{before}{' '.join(said)}{after}"

    return show
