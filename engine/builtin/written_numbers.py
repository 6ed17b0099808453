"""Numbers and units of a text however they are written: 1,000, 1.5万, ten, 百分之十, ¥3, 5 March, 5 kg."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

_DIGITS_ZH = {char: n for n, chars in enumerate("零〇 一 二两 三 四 五 六 七 八 九".split()) for char in chars}
_STEPS_ZH = {"十": 10, "百": 100, "千": 1000}
_SCALES_ZH = {"万": 10**4, "亿": 10**8}
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12} | {
    f"{word}th": value for value, word in enumerate(_SMALL)
}
_WORDS_EN = (
    {word: value for value, word in enumerate(_SMALL)}
    | {word: (place + 2) * 10 for place, word in enumerate(_TENS)}
    | {f"{word[:-1]}ieth": (place + 2) * 10 for place, word in enumerate(_TENS)}
    | _ORDINALS
)
_SCALES_EN = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12}
_SAID_OTHERWISE = {
    "once": ("1",),
    "twice": ("2",),
    "double": ("2",),
    "triple": ("3",),
    "half": ("0.5", "50", "30"),
    "quarter": ("0.25", "25", "15"),
    "半": ("0.5", "50", "30"),
    "双": ("2",),
    "decade": ("10",),
    "century": ("100",),
    "may": ("5",),
}
"""What a word says of a source: half is 0.5, 50 percent, and 30 minutes of an hour."""
_NAMED = "|".join(sorted((*_WORDS_EN, *_SCALES_EN), key=len, reverse=True))
_HAN_NUMBER = "零〇一二两三四五六七八九十百千万亿"
_NUMBER = re.compile(
    r"(?P<parts>百|千)分之(?P<share>\d+(?:\.\d+)?|[零〇一二两三四五六七八九十百点]+)"
    r"|(?<![A-Za-z\d_])(?P<digits>\d{1,3}(?:[ '’]\d{3})+(?![\d.,]*\d)|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)"
    r"|\d+(?:\.\d+)+(?:,\d+)?|\d+(?:,\d{1,2}(?!\d))?)"
    r"(?:(?P<ordinal>st|nd|rd|th|s)(?![A-Za-z])|(?P<scale>\s?(?:百万|千万|万亿|百亿|千亿|十万|十亿|[万亿千百]"
    r"|(?:hundred|thousand|million|billion|trillion|bn|k)(?![A-Za-z])))|(?P<letters>[A-Za-z_]*))"
    rf"|(?<![A-Za-z])(?P<words>(?:{_NAMED})(?:(?:[\s-]+(?:and\s+)?)(?:{_NAMED}))*)(?![A-Za-z])"
    rf"|(?P<han>[{_HAN_NUMBER}]+(?:点[零〇一二两三四五六七八九]+)?)"
    r"|(?<![A-Za-z])(?P<month>(?-i:January|February|March|April|June|July|August|September|October|November|December"
    r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)(?=\.?\s\d)|May(?=\s\d)|(?<=\d\s)May))(?![A-Za-z])",
    re.IGNORECASE,
)
_RANGE = re.compile(
    r"\s*(?:到|至|-|–|—|~|～|to|and|or)\s*\d+(?:\.\d+)?\s?(?P<scale>百万|千万|万亿|[万亿千百]|(?:hundred|thousand|million|billion)(?![a-z]))",
    re.IGNORECASE,
)
"""The rest of "3 to 5 million", whose scale is that of both."""
_CENTURY = re.compile(r"(?:(?P<century>\d{1,2})世纪|上个?世纪)(?P<decade>\d0)年代")
_LONGEST_SIGN = 5
"""Characters of a currency and a space before its number."""
_THOUSANDS = re.compile(r"\d{1,3}(?:[,' ’]\d{3})+(?:\.\d+)?")
_POINTS = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_SCALE_OF = {"k": 10**3, "bn": 10**9, **_SCALES_EN}
_OTHERWISE = re.compile(r"\b(?:(?i:once|twice|double|triple|half|quarter|decade|century)|May)\b|[半双]")
_UNITS = {
    "dollar": r"US\$|\$|USD|dollars?|美元|美金",
    "euro": r"€|EUR|euros?|欧元",
    "pound": r"£|GBP|英镑",
    "yuan": r"¥|￥|RMB|CNY|JPY|yuan|yen|人民币|元|日元|块钱",
    "rupee": r"₹|INR|rupees?|卢比",
    "cent": r"cents?|美分",
    "percent": r"%|percent|per cent|pct|个百分点|percentage points?",
    "mg": r"mg|milligrams?|毫克",
    "mcg": r"mcg|µg|μg|ug|micrograms?|微克",
    "kg": r"kg|kilograms?|kilos?|公斤|千克",
    "g": r"g|grams?|克",
    "tonne": r"t|tons?|tonnes?|吨",
    "mm": r"mm|millimet(?:er|re)s?|毫米",
    "cm": r"cm|centimet(?:er|re)s?|厘米",
    "km": r"km|kilomet(?:er|re)s?|公里|千米",
    "m": r"m|met(?:er|re)s?|米",
    "mile": r"miles?|英里",
    "inch": r"in\.|inch(?:es)?|英寸",
    "foot": r"ft|foot|feet|英尺",
    "ml": r"ml|millilit(?:er|re)s?|毫升",
    "l": r"l|lit(?:er|re)s?|升",
    "celsius": r"°\s?C|degrees? celsius|degrees? centigrade|摄氏度|度",
    "fahrenheit": r"°\s?F|degrees? fahrenheit|华氏度",
    "kb": r"KB|KiB|kilobytes?",
    "mb": r"MB|MiB|megabytes?|兆",
    "gb": r"GB|GiB|gigabytes?",
    "tb": r"TB|TiB|terabytes?",
    "mmol": r"mmol|millimoles?|毫摩尔",
    "kcal": r"kcal|kilocalories?|calories?|千卡|大卡|卡路里",
    "hertz": r"Hz|赫兹",
    "ms": r"ms|milliseconds?|毫秒",
    "second": r"s|secs?|seconds?|秒钟?",
    "minute": r"mins?|minutes?|分钟",
    "hour": r"h|hrs?|hours?|个?(?:小时|钟头)",
    "day": r"days?|天|日",
    "week": r"weeks?|周|个?星期",
    "month": r"months?|个月|月份?",
    "year": r"years?|yrs?|周?年|周?岁",
}
TIMES = frozenset({"ms", "second", "minute", "hour", "day", "week", "month", "year"})
"""Often left out or implied ("aged 5", "in 2019"), so that they are compared only with other units of time."""
MONTHS = {name: n for n, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)}
_WORDY = r"(?![A-Za-z])"
_ANY = "|".join(
    f"{option}{_WORDY if option[-1].isascii() and option[-1] not in '$%.' else ''}"
    for pattern in sorted(_UNITS.values(), key=len, reverse=True)
    for option in re.split(r"\|(?![^(]*\))", pattern)
)
UNIT_AFTER = re.compile(rf"[\s-]{{0,2}}(?P<unit>{_ANY})", re.IGNORECASE)
"""A unit behind a number."""
BEFORE = re.compile(r"(?:US\$|[$€£¥￥₹]|(?<![A-Za-z])(?:USD|EUR|GBP|RMB|CNY|JPY|INR))\s?$", re.IGNORECASE)
"""A currency before a number."""
_ONE_OF = [(name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _UNITS.items()]
_LONE = re.compile(
    "|".join(
        f"(?P<{name}>(?<![A-Za-z])(?:{pattern}){_WORDY})"
        for name, pattern in _UNITS.items()
        if name not in ("g", "tonne", "m", "l")
    ),
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Number:
    """One number as a text writes it."""

    text: str
    """With its unit, as it is written."""
    values: frozenset[str]
    """Normal forms that it may have: ``1.234`` is 1.234, or 1234 as some countries write it."""
    unit: str = ""
    """The canonical name of the unit next to it; empty without a known one."""
    spelled: bool = False
    """In words or Chinese characters, which also count out what follows, and stand in other words."""
    month: bool = False
    start: int = 0
    end: int = 0


def numbers_in(text: str) -> Iterator[Number]:
    """The numbers of a text in NFKC, in order."""
    for match in _NUMBER.finditer(text):
        values = _values_of(match)
        if match.group("digits") and (rest := _RANGE.match(text, match.end("digits"))):
            values |= _scaled(match.group("digits"), rest.group("scale").casefold())
        if not values:
            continue
        start, end = match.span()
        letters = match.group("letters") or ""
        unit = "percent" if match.group("parts") == "百" else unit_named(letters)
        if letters and not unit:
            continue
        if not unit and (before := BEFORE.search(text, max(0, start - _LONGEST_SIGN), start)) and before.end() == start:
            unit, start = unit_named(before.group().strip()), before.start()
        if not unit and (after := UNIT_AFTER.match(text, end)):
            unit, end = unit_named(after.group("unit")), after.end()
        spelled = any(match.group(name) for name in ("words", "han"))
        yield Number(text[start:end].strip(), values, unit, spelled, bool(match.group("month")), start, end)


def with_decades(text: str) -> str:
    """Write 20世纪70年代 as 1970年代, as other languages do."""
    return _CENTURY.sub(lambda m: f"{(int(m['century'] or 20) - 1) * 100 + int(m['decade'])}年代", text)


def said_otherwise(text: str) -> frozenset[str]:
    """Values that words of a text stand for: twice, half."""
    words = (match.group().casefold() for match in _OTHERWISE.finditer(text))
    return frozenset(value for word in words for value in _SAID_OTHERWISE[word])


def normal(value: Decimal) -> str:
    """The one form of a value: ``10`` for 10, 10.0 and 1E+1."""
    return format(value.normalize(), "f")


def _values_of(match: re.Match[str]) -> frozenset[str]:
    if share := match.group("share"):
        value = Decimal(share) if share[0].isdigit() else _han_value(share)
        return frozenset() if value is None else frozenset({normal(value)})
    if digits := match.group("digits"):
        return _scaled(digits, (match.group("scale") or "").strip().casefold())
    if words := match.group("words"):
        return frozenset({normal(value)}) if (value := _english_value(words)) is not None else frozenset()
    if han := match.group("han"):
        return frozenset({normal(value)}) if (value := _han_value(han)) is not None else frozenset()
    return frozenset({str(MONTHS[match.group("month")[:3].casefold()])})


def _scaled(digits: str, scale: str) -> frozenset[str]:
    found = _digit_values(digits)
    if not scale:
        return found
    factor = _SCALE_OF.get(scale) or int(_han_value("一" + scale) or 1)
    return frozenset(normal(Decimal(value) * factor) for value in found if value.count(".") < 2)


def _digit_values(digits: str) -> frozenset[str]:
    if _THOUSANDS.fullmatch(digits):
        return frozenset({normal(Decimal(re.sub(r"[,' ’]", "", digits)))})
    if digits.count(".") > 1 or ("," in digits and "." in digits):
        # A version, an address of a network, or German thousands.
        german = {normal(Decimal(digits.replace(".", "").replace(",", ".")))} if _POINTS.fullmatch(digits) else set()
        return frozenset({digits, *german})
    if digits.count(",") > 1:
        return frozenset({digits})
    plain = digits.replace(",", ".")
    german = {normal(Decimal(digits.replace(".", "")))} if _POINTS.fullmatch(digits) else set()
    return frozenset({normal(Decimal(plain)), *german})


def _english_value(words: str) -> Decimal | None:
    total, current, scaled = 0, 0, False
    for word in re.split(r"[\s-]+", words.casefold()):
        if word == "and":
            continue
        if word in _WORDS_EN:
            current += _WORDS_EN[word]
        elif word in ("hundred", "dozen"):
            current, scaled = max(current, 1) * _SCALES_EN[word], True
        else:
            total, current, scaled = total + max(current, 1) * _SCALES_EN[word], 0, True
    return Decimal(total + current) if total or current or not scaled else None


def _han_value(text: str) -> Decimal | None:
    whole, _, rest = text.partition("点")
    if whole and all(char in _DIGITS_ZH for char in whole) and (len(whole) > 1 or rest):
        value = Decimal("".join(str(_DIGITS_ZH[char]) for char in whole))
    else:
        value = Decimal(_steps(whole))
    decimals = "".join(str(_DIGITS_ZH[char]) for char in rest)
    return value + Decimal(f"0.{decimals}") if decimals else value


def _steps(text: str) -> int:
    """三千二百万 as positions write it: digits times steps, summed under each scale."""
    total = section = digit = 0
    for char in text:
        if char in _DIGITS_ZH:
            digit = _DIGITS_ZH[char]
        elif char in _STEPS_ZH:
            section, digit = section + (digit or 1) * _STEPS_ZH[char], 0
        else:
            total, section, digit = (total + section + digit or 1) * _SCALES_ZH[char], 0, 0
    return total + section + digit


def unit_named(text: str) -> str:
    """The name of a unit; empty for a text that is none."""
    return next((name for name, pattern in _ONE_OF if pattern.fullmatch(text)), "") if text else ""


def units_in(text: str) -> frozenset[str]:
    """Units that a text names anywhere, next to a number or not."""
    return frozenset(match.lastgroup for match in _LONE.finditer(text) if match.lastgroup)
