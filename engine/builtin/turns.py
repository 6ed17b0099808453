"""Small words that turn a question into another one, though no search and no grader counts them as content.

"Which graphs are planar?" and "Which graphs are not planar?" have the same content words and opposite answers; so have
"Does A cause B?" and "Does B cause A?".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

_TURNS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        turn: re.compile(pattern, re.IGNORECASE)
        for turn, pattern in {
            # 是不是, 能不能, 有没有 ask; 不同, 不少 and 非常 deny nothing.
            "not": r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|except)\b|n['’]t\b"
            r"|(?<!是)(?<!能)(?<!会)(?<!可)(?<!要)(?<!该)(?<!差)不(?![同少仅但])|(?<!有)没|无(?!论)"
            r"|(?<![是除])非(?!常)|未|别(?=[吃喝用做打])|勿|除了",
            "before": r"\bbefore\b|\bprior to\b|(?<![目提])前(?!提)|之前|以前",
            "after": r"\bafter(?:wards)?\b|(?<![最然])后(?!果)|之后|以后",
            "more": r"\bmore\b|更多|多于|增加",
            "less": r"\b(?:less|fewer)\b|更少|少(?=[吃喝用做打])|减少",
            "most": r"\bmost\b|最多|最(?![多少近后初])",
            "least": r"\bleast\b|最少",
            "above": r"\b(?:above|over|beyond)\b|以上|高于|超过|大于|多于",
            "below": r"\b(?:below|under(?! what))\b|以下|低于|不足|小于|少于",
            "all": r"\b(?:all|every|always)\b|所有|一切|每|总是|都(?!是(?:谁|什么))",
            "some": r"\b(?:some|sometimes|several|few)\b|有的|有些|有时|某些",
            "only": r"\bonly\b|[只仅](?!不过)",
        }.items()
    }
)
_YES_OR_NO = re.compile(
    r"(?:^|[,;:.]\s*)(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|must|may|might)\b"
    r"|\btrue that\b|\bwhether\b|吗|是否|能否|是不是|会不会|能不能|可不可以|有没有|对不对",
    re.IGNORECASE,
)
_RELATES = re.compile(
    r"\b(?:caus(?:e[sd]?|ing)|le(?:ad|d|ads|ading) to|impl(?:y|ies|ied)|convert\w*|become\w*|turn\w* into|contain\w*|"
    r"includ\w*|belong\w*|infect\w*|transmit\w*|follow\w*|preced\w*|produc\w*|depend\w*|affect\w*|influenc\w*|than|"
    r"from|into|rais\w*|lower\w*|prevent\w*|replac\w*|beat\w*|defeat\w*|divid\w*|subtract\w*)\b"
    r"|导致|引起|造成|推出|蕴含|转换|换算|转化|变成|包含|包括|属于|影响|决定|产生|取代|预防|除以|减去|早于|晚于|比|从|对"
)


def turns(question: str) -> frozenset[str]:
    """Which small words turn the meaning of a question: negation, before and after, more and less, all and some."""
    folded = unicodedata.normalize("NFKC", question)
    return frozenset(turn for turn, pattern in _TURNS.items() if pattern.search(folded))


def directed(question: str) -> bool:
    """Whether it matters which of its subjects a question names first: in yes-or-no questions and about relations."""
    folded = unicodedata.normalize("NFKC", question).strip()
    return bool(_YES_OR_NO.search(folded) or _RELATES.search(folded))
