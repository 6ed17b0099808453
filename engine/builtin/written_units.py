"""Units and months as two languages write them, each under one name."""

from __future__ import annotations

import re

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


def unit_named(text: str) -> str:
    """The name of a unit; empty for a text that is none."""
    return next((name for name, pattern in _ONE_OF if pattern.fullmatch(text)), "") if text else ""


def units_in(text: str) -> frozenset[str]:
    """Units that a text names anywhere, beside a number or not."""
    return frozenset(match.lastgroup for match in _LONE.finditer(text) if match.lastgroup)
