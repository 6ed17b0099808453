"""Kind of answer that a question asks for, and whether a text contains one (Chinese and English)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from engine.builtin import segmenting
from engine.builtin.terms import STOP_EN, stem
from engine.model.values import AnswerKind

_PERSON_NOUNS = (
    "person|people|man|woman|author|writer|king|queen|emperor|president|minister|player|artist|scientist|physicist|"
    "chemist|mathematician|philosopher|engineer|inventor|composer|singer|actor|actress|director|architect|general|"
    "leader|founder|professor|doctor|surgeon|researcher|astronomer|economist|governor|mayor|pope|saint|explorer|"
    "historian|poet|painter|coach|quarterback|captain|commander|character|god|student|nurse"
)
_PLACE_NOUNS = (
    "place|country|city|town|state|province|county|region|continent|island|river|lake|sea|ocean|mountain|street|"
    "stadium|village|district|area|location|hospital|airport|capital|territory|body part|organ"
)
_NUMBER_NOUNS = (
    "percentage|percent|number|amount|proportion|fraction|score|age|size|population|rate|temperature|distance|length|"
    "height|width|depth|price|cost|weight|speed|level|dose|volume|share|total|ratio|range|frequency|target|"
    "port|version|status code|timeout|limit"
)
_HEAD = (
    r"(?!\s+(?!(?:of|in|at|on|for|to|from|by|with|that|which|who|whose|where|is|are|was|were|do|does|did|has|have|had|can"
    r"|could|will|would|should|must|may|might)\b)[\w-]+(?:\s+[\w-]+)?\s+(?:is|are|was|were|do|does|did|has|have|can"
    r"|could|will|would|should|must|may|might)\b)"
)
"""Behind a noun: it is what is asked for, and not the first word of another noun ("which state library is …")."""
_ADJECTIVES = r"(?:[\w'’-]+\s+)"
_OF = rf"(?:(?:is|was|are|were)\s+(?:the|its|their|his|her|your|my)\s+{_ADJECTIVES}{{0,2}}?|{_ADJECTIVES}{{0,2}}?)"

_ASKS_EN: tuple[tuple[AnswerKind, str], ...] = (
    ("date", r"(?:^|[,;]\s*|\band\s+)when\s+(?:did|was|were|had|will|would|has|have)\b"),
    ("date", r"(?:^|\band\s+)when\s*(?:\?|$)"),
    ("date", rf"\b(?:what|which)\s+{_ADJECTIVES}?(?:years?|dates?|months?|days?|centur(?:y|ies)|decades?)\b"),
    ("date", r"\b(?:since|until)\s+when\b|\bhow long ago\b"),
    ("number", r"\bhow\s+(?:many|much|long|old|far|tall|high|large|big|deep|wide|fast|often|heavy|hot|cold)\b"),
    ("number", rf"\b(?:what|which)\s+{_OF}(?:{_NUMBER_NOUNS})\b{_HEAD}"),
    ("person", r"\b(?:who|whom|whose|who's)\b"),
    ("person", rf"\b(?:what|which)\s+{_ADJECTIVES}{{0,2}}?(?:{_PERSON_NOUNS})\b{_HEAD}"),
    ("place", r"\bwhere\b"),
    ("place", rf"\b(?:what|which)\s+(?:[\w'’-]+\s+)?(?:{_PLACE_NOUNS})\b{_HEAD}"),
    ("cause", r"\bwhy\b|\bhow come\b|\bwhat\s+(?:caused?|causes|led to|leads to|makes?|made)\b"),
    ("cause", rf"\b(?:what|which)\s+{_OF}(?:reasons?|causes?)\b"),
    ("way", r"\bhow\s+(?:do|does|did|can|could|should|is|are|was|were|to|would|might|has|have|will)\b"),
    ("way", rf"\b(?:what|which)\s+{_OF}(?:ways?|methods?|means|steps|procedures?)\b"),
    ("definition", r"\b(?:stands?|short) for\b|\bdefin(?:e|ition)\b|\bmeaning of\b|\bwhat is meant\b"),
    ("definition", r"\bwhat\s+(?:does|do|did)\b.{1,60}\bmean\b"),
    ("definition", r"^what\s+(?:is|are)\s+(?:an?\s+)?(?:[\w'’-]+\s+){0,2}[\w'’-]+\s*\??$"),
)
_WHICH = r"哪一?[个座条些]?"
_ASKS_ZH: tuple[tuple[AnswerKind, str], ...] = (
    ("date", r"哪一?[年天月日]|哪个(?:世纪|年代|月|朝代|时期|日子)|哪些年|何[时年]|几[月号日点]"),
    ("date", r"什么(?:时候|时间|时期|年代|日期)"),
    ("number", r"多少|多[大高长远久重快深宽厚]|几(?![乎何率])|百分之几"),
    ("number", r"(?:哪一?个|什么)(?:端口|版本|状态码)"),
    ("number", r"(?:数量|比例|人口|面积|年龄|温度)(?:是什么|为何|如何)"),
    ("person", r"谁|哪[一两几]?位|什么人|何人|哪些?人"),
    ("person", rf"{_WHICH}(?:人|球员|国王|皇帝|总统|科学家|作家|导演|演员|歌手|运动员|教授)"),
    ("place", r"哪[里儿]|何[处地]|什么(?:地方|地点|位置|部位)"),
    ("place", rf"{_WHICH}(?:国家|城市|省份?|州|地区|地方|岛屿?|河流?|山|海|大洲|部位|国)"),
    # "称为什么" asks for a name, not for a cause.
    ("cause", r"(?<![称名作分视认])为什么(?!\s*[？?]?$)|^为什么[？?]?$|为何|为啥|怎么会|何以"),
    ("cause", r"什么(?:原因|导致|引起|造成|使得)|(?:原因|理由|成因|起因)(?:是|有|在于)?"),
    ("way", r"怎么(?![会了])|怎样|如何|怎办|什么(?:方法|方式|办法|手段|步骤)|(?:方法|步骤|办法)[是有]"),
    ("definition", r"^什么是[^的，,]{1,12}[？?]?$|什么叫|指的?是?什么|什么意思|是什么东西"),
    ("definition", r"(?:定义|含义|意思|作用|用途|全称|缩写|简称)(?:是|$|[？?])|(?:做|干)什么用|代表什么"),
    ("definition", r"^[^的，,]{1,8}是什么[？?]?$"),
)
_ASKS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in (*_ASKS_EN, *_ASKS_ZH))

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
_YEAR = r"(?<![\d.,])(?:1\d{3}|20\d{2})(?:s|年)?(?![\d.,%]*\d)"
_DATE = re.compile(
    rf"{_YEAR}|\b(?:{_MONTHS})\b(?!\s+(?:be|have|not))|\b(?:{_DAYS})\b|\b\d{{1,2}}(?:st|nd|rd|th)[\s-]centur|"
    r"\b(?:[a-z]+th|first|second|third)[\s-]centur|\b\d+\s*(?:BC|AD|BCE|CE)\b|"
    r"\b(?:years|months|weeks|days) (?:ago|later)\b|\d+\s*年代?|\d+\s*[月日号]|[一二三四五六七八九〇零十]{2,}年|"
    r"\d+\s*世纪|世纪|公元前?|[上本去今]年|朝代|"
    r"\d+\s*(?:个?小时|天|周|个?月)(?:之|以)?[后前内]|[后前]\s*\d+(?:[–—~-]\d+)?\s*(?:个?小时|分钟|天|周|个?月|年)"
)
_NUMBER = re.compile(
    r"(?P<digits>\d+(?:[.,:]\d+)*)"
    r"|\b(?P<word>two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fifteen|twenty|thirty|forty|fifty|"
    r"sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|trillions?|dozens?|half|third|quarter|twice|"
    r"once|zero|none|double|triple)\b"
    r"|(?P<han>百分之[零一二三四五六七八九十百]+|[二两三四五六七八九十百千万亿半][零一二三四五六七八九十百千万亿]*"
    r"|一[十百千万亿半][零一二三四五六七八九十百千万亿]*)",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:because|since|due to|owing to|caus(?:e|es|ed|ing)|result(?:s|ed|ing)? (?:in|from|of)|therefore|thus|hence|"
    r"so that|reasons?|led to|leads to|in order to|as a result|thanks to|so\b(?! that)|prevents?|makes? it|"
    r"allow(?:s|ed|ing)?|for fear|explains?|follows)\b"
    r"|因为|由于|因此|所以|因而|导致|引起|造成|使得|原因|理由|为了|从而|以致|以便|于是|故而"
    r"|源于|归因|起因|由此|这样一来|来自|缘故|避免|防止|出于|致使",
    re.IGNORECASE,
)
_WAY = re.compile(
    r"\b(?:by|through|via|using|with the help of|by means of|methods?|steps?|first|then|must|should|need to|"
    r"process(?:es)?|techniques?|instead of|if you|make sure|apply|use[ds]?)\b"
    r"|通过|利用|使用|采用|运用|借助|方法|方式|步骤|办法|首先|然后|应|可以|需要|只要|必须|先|再"
    r"|依靠|凭借|用|以便|经由|按|根据|把|将",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"\b(?:is|are|was|were)\s+(?:an?|the|any|one|when|that)\b|\b(?:means?|refers? to|defined|definition|called|"
    r"known as|consists? of|describes?|denotes?|(?:stands|short) for|i\.e\.|that is|"
    r"a (?:kind|type|form|set|branch) of)\b"
    r"|是|指|称[为作之]|叫做?|即|所谓|定义|意思|意味|意为|全称|缩写|简称|用于|用来|研究",
    re.IGNORECASE,
)
_CAPITALISED = re.compile(r"[A-Z][\w'’.-]*(?:\s+(?:(?:of|de|von|van|der|la|the|al|bin|du)\s+)?[A-Z][\w'’-]*)*")
_PLACE_BEFORE = re.compile(
    r"\b(?:in|at|near|from|to|across|around|outside|inside|into|between|through|throughout|toward|towards|of|on|over)\s+"
    r"(?:the\s+)?(?:(?:north|south|east|west|central|southern|northern|eastern|western|modern|present-day)\w*\s+)?$",
    re.IGNORECASE,
)
_PLACE_WORDS = re.compile(
    r"\b(?:in|into|inside|at|on|under|near|behind|between|beneath|along|across)\s+(?:the|an?|each|its|their|your)\s+[a-z]+|"
    r"位于|坐落|地处|境内|[\u4e00-\u9fff]{1,6}(?:[市省县州岛河湖山镇村街区洋湾港]|大学|医院|机场|地区|部位)|"
    r"[在到于从自][\u4e00-\u9fff]{1,8}(?:[里内中上下处部]|附近|之间|地区)"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?。！？:：\n]\s*[\"“'(]?)$")
_HAN_NEAR = re.compile(r"[\u4e00-\u9fff，。、；]")
_NOT_NAMES = frozenset(f"{_MONTHS}|{_DAYS}".lower().split("|"))
_TAGS: Mapping[str, frozenset[str]] = {
    "person": frozenset({"nr", "nrt", "nrfg"}),
    "place": frozenset({"ns", "nt", "nsf", "nrt"}),
}
_UNIT_EN = re.compile(r"\bhow\s+(?:many|much)\s+((?:[\w'’-]+\s*){1,3})", re.IGNORECASE)
_UNIT_ZH = re.compile(r"(?:多少|几)(?=[\u4e00-\u9fff])([^？?，,。的是有]{1,3})")
_COUNTERS = frozenset("个名人位次只条件座家所篇本部台辆元克米度种项场户岁")
_BEFORE = 60
"""Characters before a name in which its preposition or the end of the last sentence is looked for."""
_AFTER_NUMBER = 28
"""Characters after a number in which the thing counted is looked for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Object of a question, and its own words, which cannot be the answer."""

    kind: AnswerKind
    folded: str
    """The question in NFKC and lower case."""
    units: tuple[str, ...] = ()
    """Stems or characters of the thing counted, for ``how many`` questions."""


def asked_by(question: str) -> Asked:
    """Read a question: kind of answer (that of its first question word) and, for counts, the thing counted."""
    folded = unicodedata.normalize("NFKC", question).strip()
    found = _asked_in(folded)
    kind: AnswerKind = min(found)[2] if found else "other"
    return Asked(kind=kind, folded=folded.lower(), units=_units(folded) if kind == "number" else ())


def kinds_asked(question: str) -> frozenset[AnswerKind]:
    """Every kind of answer that a question asks for: ``who and when`` asks for two."""
    return frozenset(kind for _, _, kind in _asked_in(unicodedata.normalize("NFKC", question).strip()))


def answer_strength(asked: Asked, text: str) -> float:
    """Score how well ``text`` contains an answer of the kind asked for: 0 none, 0.5 doubtful, 1 clear.

    What the question says itself does not count: a year it names is not the date it asks for. Always 0 where no
    kind is asked for.
    """
    finder = _FINDERS.get(asked.kind)
    return finder(asked, unicodedata.normalize("NFKC", text)) if finder else 0.0


def _asked_in(folded: str) -> list[tuple[int, int, AnswerKind]]:
    """Place, precedence and kind of every question word."""
    return [(match.start(), order, kind) for order, (kind, ask) in enumerate(_ASKS) if (match := ask.search(folded))]


_TIME_EN = re.compile(r"\bhow\s+(?:often|long|old|soon|frequently)\b", re.IGNORECASE)
_TIME_ZH = re.compile(r"多久|多长时间|多少时间")
_TIMES_EN = tuple(
    stem(word) for word in "millisecond second minute hour day week month year decade century time ms".split()
)
_OFTEN = re.compile(
    r"\b(?:hourly|daily|weekly|monthly|quarterly|yearly|annual(?:ly)?|(?:every|each|per|once a) "
    r"(?:second|minute|hour|day|week|month|quarter|year))\b|每(?:隔?\s*\d+\s*个?)?(?:秒|分钟|小时|天|日|周|月|季度?|年)",
    re.IGNORECASE,
)
"""A time given without a number."""
_TIMES_ZH = ("毫秒", "秒", "分", "小时", "天", "日", "周", "星期", "月", "年")


def _units(folded: str) -> tuple[str, ...]:
    if _TIME_EN.search(folded):
        return _TIMES_EN
    if _TIME_ZH.search(folded):
        return _TIMES_ZH
    if match := _UNIT_EN.search(folded):
        words = [word for word in match.group(1).lower().split() if word not in STOP_EN]
        return tuple(stem(word) for word in words[:2])
    if match := _UNIT_ZH.search(folded):
        return tuple(char for char in match.group(1)[:2] if char not in "个以上下种")
    return ()


def _date(asked: Asked, text: str) -> float:
    return float(any(found.lower() not in asked.folded for found in _DATE.findall(text)))


def _number(asked: Asked, text: str) -> float:
    if asked.units in (_TIMES_EN, _TIMES_ZH) and _OFTEN.search(text):
        return 1.0
    best = 0.0
    for match in _NUMBER.finditer(text):
        found = match.group().lower()
        if found in asked.folded and (len(found) > 1 or found.isdigit()):
            continue
        counted = text[match.end() : match.end() + _AFTER_NUMBER]
        if asked.units and _counts(asked.units, counted):
            return 1.0
        if not _dates(match, text):
            best = max(best, 0.5 if asked.units else 1.0)
    return best


def _counts(units: tuple[str, ...], counted: str) -> bool:
    if units[0] >= "\u3400":
        return any(unit in counted[:4] for unit in units)
    return any(stem(word) in units for word in re.findall(r"[a-z]+", counted.lower())[:4])


def _dates(match: re.Match[str], text: str) -> bool:
    """Return whether a number is (part of) a date rather than a count."""
    if not match.group("digits"):
        return False
    after = text[match.end() : match.end() + 2].strip()
    if after[:1] in {"年", "月", "日", "号"}:
        return True
    return re.fullmatch(r"1\d{3}|20\d{2}", match.group()) is not None and after[:1] not in _COUNTERS


def _named(kind: str, asked: Asked, text: str) -> float:
    """1 for a name of that kind that the question does not hold."""
    for word, tag in _tagged(text):
        if tag in _TAGS[kind] and len(word) > 1 and word not in asked.folded:
            return 1.0
    best = 0.0
    for match in _CAPITALISED.finditer(text):
        words = [word for word in match.group().split() if word.lower().strip(".'’") not in STOP_EN]
        fresh = [word for word in words if _is_name(word, asked)]
        before = text[max(match.start() - _BEFORE, 0) : match.start()]
        opens = _SENTENCE_START.search(before) is not None
        if fresh and not (opens and len(words) < 2) and (kind == "person" or _PLACE_BEFORE.search(before)):
            # Alone among Chinese words it is the name of a product rather than of a person.
            product = kind == "person" and len(words) < 2 and _HAN_NEAR.search(before[-2:])
            best = max(best, 0.5 if product else 1.0)
    return best


def _is_name(word: str, asked: Asked) -> bool:
    bare = word.strip(".,'’").lower().removesuffix("'s").removesuffix("’s")
    return len(bare) > 1 and bare not in asked.folded and bare not in _NOT_NAMES and not bare.isdigit()


@lru_cache(maxsize=512)
def _tagged(text: str) -> tuple[tuple[str, str], ...]:
    # A lone surrogate is no valid text for the tagger.
    text = text.encode("utf-8", "replace").decode()
    return tuple(segmenting.tag(text)) if re.search(r"[\u4e00-\u9fff]", text) else ()


def _person(asked: Asked, text: str) -> float:
    return _named("person", asked, text)


def _place(asked: Asked, text: str) -> float:
    return _named("place", asked, text) or 0.5 * float(_PLACE_WORDS.search(text) is not None)


def _says(pattern: re.Pattern[str]) -> Callable[[Asked, str], float]:
    def strength(_asked: Asked, text: str) -> float:
        return float(pattern.search(text) is not None)

    return strength


_FINDERS: Mapping[AnswerKind, Callable[[Asked, str], float]] = {
    "date": _date,
    "number": _number,
    "person": _person,
    "place": _place,
    "cause": _says(_CAUSE),
    "way": _says(_WAY),
    "definition": _says(_DEFINITION),
}
