"""Content terms of a text in Chinese and English, and how much each of them says (IDF)."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import rjieba

_TOKEN = re.compile(
    r"(?P<han>[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+)"
    r"|(?P<number>\d+(?:[.,]\d+)*(?![A-Za-z\d]))"
    r"|(?P<word>[^\W_\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+(?:['\u2019][A-Za-z]+)?)"
)

STOP_EN = frozenset(
    "a about above across after again against all almost alone along already also although always am among an and any "
    "anyone anything are aren't around as at away back be became because become been before being below between both "
    "but by can can't cannot could did didn't do does doesn't doing don't done down during each either else enough "
    "etc even ever every for from further get gets give given go goes got had has hasn't have haven't having he her "
    "here hers herself him himself his i if in indeed instead into is isn't it it's its itself just least less let "
    "let's like likely many may maybe me might mine more most much must my myself near neither never no nobody none "
    "nor not nothing now of off often on once one ones only onto or other others otherwise our ours ourselves out over "
    "own per perhaps quite rather really s same seem seems several shall she should since so some someone something "
    "still such t than that that's the their theirs them themselves then there therefore these they thing things this "
    "those though through thus to together too toward towards under until up upon us use used uses using very via was "
    "wasn't we well were weren't while will with within without won't would yet you your yours yourself".split()
)
"""English words that carry no subject; the question words come on top in :data:`_ASKING_EN`."""

_ASKING_EN = frozenset(
    "what which who whom whose when where why how what's who's where's how's please tell explain describe define "
    "mean means meaning meant call called name named know want need help show say said called happen happened".split()
)
_ASKING_PHRASE_EN = re.compile(
    r"\b(?:what|which|whose)\s+(?:is\s+the\s+|was\s+the\s+|are\s+the\s+|were\s+the\s+)?"
    r"(?:names?|years?|dates?|months?|days?|centur(?:y|ies)|percent(?:age)?s?|numbers?|amounts?|kinds?|types?|sorts?|"
    r"reasons?|ways?|terms?|words?|things?)(?:\s+of)?\b"
    r"|\bhow\s+(?:many|much|long|often|old|far|big|large|tall|high|fast|come|do|does|did|can|is|are|was|were)\b"
    r"|\bwhat\s+(?:does|do|did)\b|\b(?:give|tell)\s+(?:me|us)\b|\b(?:can|could)\s+you\b|\bi\s+(?:want|need|would like)\b",
    re.IGNORECASE,
)

STOP_ZH = frozenset(
    "的 了 是 在 和 与 及 或 或者 而 而且 并 并且 但 但是 也 都 就 才 又 还 还是 再 很 更 最 太 非常 十分 比较 不 没 没有 无 非 未 "
    "有 为 被 把 将 让 使 给 对 对于 关于 由 由于 从 向 往 到 至 于 以 以及 以上 以下 之 之间 之后 之前 其 其中 其他 其它 此 这 那 这个 那个 "
    "这些 那些 这样 那样 这种 那种 这里 那里 它 它们 他 她 他们 她们 我 我们 你 你们 您 自己 咱们 大家 人家 某 某个 某些 每 每个 各 各个 各种 "
    "所 所有 所以 因为 因此 因而 如果 若 假如 虽然 即 即使 便 则 只 只有 只要 只是 仅 仅仅 可 可以 可能 能 能够 会 要 应 应该 应当 必须 需 "
    "需要 得 地 着 过 来 去 上 下 里 中 内 外 前 后 时 时候 等 等等 吗 呢 吧 啊 呀 嘛 么 啦 哦 个 些 种 件 位 次 只 条 项 名 "
    "一 一个 一些 一种 一样 一定 一般 一直 一起 两 两个 几 几个 多 少 许多 很多 不少 不同 不是 不会 不能 就是 还有 也是 都是 而是 "
    "已 已经 曾 曾经 正在 正 刚 刚刚 通常 往往 常 常常 经常 总 总是 通过 根据 按照 按 经过 作为 成为 称为 叫做 叫 称 "
    "随 随着 比 比如 例如 如 如此 同 同时 同样 跟 当 当中 用 使用 利用 进行 做 作 当时 该 本 今 且 越 着 呀 者".split()
)
"""Chinese words that carry no subject; the question words come on top in :data:`_ASKING_ZH`."""

_ASKING_ZH = frozenset(
    "什么 谁 哪 哪个 哪些 哪里 哪儿 哪位 哪种 何 何时 何地 何处 何种 何人 为什么 为何 怎么 怎样 怎么样 怎么办 如何 多少 多大 多久 多长 多远 "
    "多高 几时 几 请 请问 告诉 介绍 解释 说明 描述 说说 谈谈 讲讲 一下 意思 含义 定义 指 是否 是不是 有没有 能否 能不能 可否 想 想要 知道 "
    "名字 名称 叫 称作 哪年 年 月 日 时间 原因 方法 方式 办法 个 哪一年".split()
)
_ASKING_PHRASE_ZH = re.compile(
    r"为什么|是什么|有什么|什么(?:时候|时间|地方|样的?|意思|叫|是)?|哪一?(?:年|天|个|些|位|种|里|儿|月|日|项|座|条|支|家|国|名|类|方面|部)?"
    r"|(?:在|于)?何[时地处种人故]|为何|怎么[样办]?|怎样|如何|多[少大久长远高快重]|几[个种岁年次位月天条项部]?(?=\W|$|[\u4e00-\u9fff])"
    r"|(?:请问|请|告诉我|介绍一下|说明一下|解释一下|有没有|是不是|能不能|是否|能否)|(?:的)?(?:定义|含义|意思)是?|[吗呢]"
)

_SUFFIXES = (
    ("iveness", "ive", 4), ("fulness", "ful", 4), ("ousness", "ous", 4), ("ization", "ize", 3), ("isation", "ize", 3),
    ("ational", "ate", 3), ("ations", "ate", 3), ("ation", "ate", 3), ("ating", "ate", 3), ("ated", "ate", 3),
    ("ates", "ate", 3), ("ators", "ate", 3), ("ator", "ate", 3), ("ically", "ic", 3), ("ical", "ic", 3),
    ("ments", "ment", 3), ("ities", "ity", 3), ("sses", "ss", 1), ("ches", "ch", 2), ("shes", "sh", 2), ("xes", "x", 1),
    ("ies", "y", 2), ("ied", "y", 2), ("ing", "", 3), ("edly", "", 3), ("ed", "", 3), ("ly", "", 4),
)  # fmt: skip
_IRREGULAR: Mapping[str, str] = {
    "men": "man", "women": "woman", "children": "child", "people": "person", "persons": "person", "feet": "foot",
    "teeth": "tooth", "mice": "mouse", "won": "win", "wins": "win", "winning": "win", "wrote": "write",
    "written": "write", "began": "begin", "begun": "begin", "born": "birth", "birth": "birth", "died": "die",
    "dies": "die", "death": "die", "deaths": "die", "dead": "die", "lost": "lose", "found": "find", "made": "make",
    "making": "make", "built": "build", "led": "lead", "held": "hold", "took": "take", "taken": "take",
    "gave": "give", "came": "come", "went": "go", "saw": "see", "seen": "see", "grew": "grow", "grown": "grow",
    "growth": "grow", "chose": "choose", "chosen": "choose", "fought": "fight", "taught": "teach", "sold": "sell",
    "bought": "buy", "left": "leave", "kept": "keep", "sent": "send", "spent": "spend", "thought": "think",
    "brought": "bring", "vertices": "vertex", "vertexes": "vertex", "indices": "index", "matrices": "matrix",
    "lives": "life", "proven": "prove", "proof": "prove", "proofs": "prove", "diagnosis": "diagnose",
    "diagnoses": "diagnose", "diabetic": "diabetes", "diabetics": "diabetes", "analyses": "analysis",
    "hypotheses": "hypothesis", "criteria": "criterion", "lay": "lie", "ran": "run", "running": "run",
    "knew": "know", "known": "know", "spoke": "speak", "spoken": "speak", "broke": "break", "broken": "break",
    "fell": "fall", "fallen": "fall", "drew": "draw", "drawn": "draw", "meant": "mean", "became": "become",
}  # fmt: skip
"""Irregular forms that questions and passages often do not share."""

_DATA = Path(__file__).with_name("common_words.json")
_DICTIONARY_WORDS = 60_101_967
"""Sum of the word counts of jieba's dictionary, which rjieba carries."""
_PASSAGE_WORDS = 100
"""Length at which a word's frequency is turned into the share of passages that hold it."""


def terms(text: str) -> list[str]:
    """Content terms of a text in order, repeats kept.

    NFKC; Chinese words by rjieba; English lower-cased and lightly stemmed; stop words left out; numbers kept without
    thousands separators; lower-case single letters left out, since ``p`` and ``n`` name nothing.
    """
    return [term for term, _ in _pairs(unicodedata.normalize("NFKC", text))]


def question_terms(question: str) -> tuple[str, ...]:
    """Distinct content terms of a question in order, without question words and filler.

    A question made of nothing else ("what does it mean?") keeps its content terms, if it has any.
    """
    return tuple(surface_terms(question, question=True))


def surface_terms(text: str, *, question: bool = False) -> dict[str, str]:
    """Each distinct term and how it is first written in the NFKC form of the text, in order.

    With ``question`` the terms are those of :func:`question_terms`.
    """
    folded = unicodedata.normalize("NFKC", text)
    if not question:
        return _first_forms(_pairs(folded))
    asked = without_asking(folded)
    kept = _first_forms(pair for pair in _pairs(asked) if not _asks(pair[1]))
    return kept or _first_forms(pair for pair in _pairs(folded) if not _asks(pair[1])) or _first_forms(_pairs(folded))


def without_asking(folded: str) -> str:
    """A question in NFKC without its phrases of asking ("in which year", "是什么"), which no answer repeats."""
    return _ASKING_PHRASE_EN.sub(" ", _ASKING_PHRASE_ZH.sub(" ", folded))


def is_han(term: str) -> bool:
    """Whether a term is Chinese, so that it is found as a substring rather than as a word."""
    return bool(term) and ("\u3400" <= term[0] <= "\u9fff" or "\uf900" <= term[0] <= "\ufaff")


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A light stem of a lower-case English word: plural, tense and the commonest derivations taken off."""
    if word.endswith(("'s", "\u2019s")):
        word = word[:-2]
    word = _IRREGULAR.get(word, word)
    if len(word) <= 3 or not word.isascii() or not word.isalpha():
        return word
    for ending, replacement, shortest in _SUFFIXES:
        if word.endswith(ending) and len(word) - len(ending) >= shortest:
            return _closed(word[: -len(ending)] + replacement)
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return _closed(word)


class Idf:
    """How much a term says: the negative logarithm of the share of passages that would hold it.

    No corpus is shipped for it. Chinese weights come from the word counts of the dictionary inside rjieba, turned into
    the share of 100-word passages that hold the word. English ones come from ``common_words.json``: general words in
    three tiers of commonness, set down by hand, all others counting as rare. Weights run from 1 to 8.
    """

    RARE = 7.0
    NUMBER = 5.5
    MOST = 8.0
    LEAST = 1.0

    def __init__(self, english: Mapping[str, float]) -> None:
        self._english = dict(english)

    @classmethod
    def load(cls) -> Idf:
        """The weights that ship with the product."""
        return cls(_english_weights())

    def weight(self, term: str) -> float:
        """Weight of a term as :func:`terms` gives it; unseen terms get that of a rare word."""
        if is_han(term):
            return _chinese_weight(term)
        if term[:1].isdigit():
            return self.NUMBER
        return self._english.get(term, self.RARE)


@lru_cache(maxsize=1)
def _english_weights() -> dict[str, float]:
    tiers = json.loads(_DATA.read_text(encoding="utf-8"))
    return {stem(word): float(tier["weight"]) for tier in reversed(tiers) for word in tier["words"].split()}


@lru_cache(maxsize=20_000)
def _chinese_weight(term: str) -> float:
    if not rjieba.has_word(term):
        return Idf.RARE if len(term) > 1 else Idf.LEAST * 3
    share = min(rjieba.suggest_freq(term) / _DICTIONARY_WORDS, 0.5)
    in_passage = 1.0 - (1.0 - share) ** _PASSAGE_WORDS
    return min(max(-math.log(max(in_passage, 1e-9)), Idf.LEAST), Idf.MOST)


def _pairs(folded: str) -> Iterator[tuple[str, str]]:
    """(term, surface form) of every content word of a text already in NFKC."""
    for match in _TOKEN.finditer(folded):
        found = match.group()
        if match.lastgroup == "han":
            for word in rjieba.cut(found):
                if word not in STOP_ZH:
                    yield word, word
        elif match.lastgroup == "number":
            yield found.replace(",", ""), found
        else:
            lower = found.lower().replace("\u2019", "'")
            single = len(found) == 1 and (found.islower() or lower in STOP_EN)
            if lower not in STOP_EN and not single:
                yield stem(lower), found


def _first_forms(pairs: Iterator[tuple[str, str]]) -> dict[str, str]:
    forms: dict[str, str] = {}
    for term, surface in pairs:
        forms.setdefault(term, surface)
    return forms


def _asks(surface: str) -> bool:
    return surface in _ASKING_ZH or surface.lower().replace("\u2019", "'") in _ASKING_EN


def _closed(root: str) -> str:
    """One form for roots that differ in a doubled consonant or a silent e: stopp/stop, make/mak."""
    if len(root) > 4 and root[-1] == root[-2] and root[-1] not in "lsz":
        root = root[:-1]
    return root[:-1] if len(root) > 3 and root.endswith("e") and not root.endswith("ee") else root
