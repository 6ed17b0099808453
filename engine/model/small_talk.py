"""Small talk: what is said to a person rather than asked about something (Chinese and English)."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

SmallTalk = Literal["greeting", "thanks", "farewell", "about"]

_GREETING = (
    r"(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day))(?: there| all| everyone| again)?"
    r"|how are you(?: doing)?(?: today)?|nice to meet you"
    r"|(?:您|你|大家|你们)好[呀啊吗]?|嗨|哈[喽啰罗]|喂|(?:早上|上午|中午|下午|晚上)好|早安|在吗|最近(?:怎么样|好吗)"
)
_THANKS = (
    r"(?:many |much )?(?:thanks?|thx|thank you|cheers)(?: (?:very|so) much| a lot| again)?(?: for (?:your|the) help)?"
    r"|(?:that(?:'s| is| was) )?(?:great|perfect|excellent|very helpful|helpful|got it|ok(?:ay)?|nice|well done)"
    r"|(?:非常|十分|太|多)?(?:感谢|谢谢|谢了|谢啦|多谢)(?:您|你)?(?:的?帮助|了|啦|啊|呀)?|辛苦(?:您|你)?了?"
    r"|太?好的?[了呀啊]?|明白了?|知道了|懂了|收到|不错|很有帮助|没问题|太棒了"
)
_FAREWELL = (
    r"(?:good ?)?bye(?: bye)?|see you(?: later| soon| tomorrow)?|good night|have a (?:nice|good|great) (?:day|evening)"
    r"|再见|拜拜|回头见|明天见|晚安|下次(?:再聊|见)"
)
_TOOL = r"(?: (?:tool|app|page|workbench|system|program))?"
_THIS_ZH = r"(?:这个|这款|该)(?:工作台|工具|系统|应用|程序|软件)"
_ABOUT = (
    r"(?:so )?(?:who|what) are you|what(?:'s| is) your name|what can you do(?: for me)?|what do you do"
    r"|(?:how|what) can you help(?: me)?(?: with)?|help|introduce yourself|are you (?:an? )?(?:ai|bot|robot|human)"
    rf"|what is this{_TOOL}(?: for)?|how do(?:es)? (?:i use )?this{_TOOL}(?: work)?"
    r"|what (?:can|does) (?:this|the) (?:tool|app|page|workbench) do(?: for me)?"
    rf"|{_THIS_ZH}(?:是(?:做|干|用来做)什么(?:用)?的?|(?:能|会|可以)(?:帮我)?(?:做|干)些?什么|怎么(?:使用|用)|有什么(?:功能|用))"
    rf"|怎么(?:使用|用){_THIS_ZH}|什么是{_THIS_ZH}"
    r"|(?:您|你)是谁|(?:您|你)叫什么(?:名字)?|(?:您|你)(?:能|会|可以)(?:帮我)?(?:做|干)些?什么|(?:您|你)有什么(?:功能|用)"
    r"|介绍一下(?:您|你)?自己|自我介绍(?:一下)?|(?:您|你)是(?:机器人|人工智能|AI|真人)吗?"
    r"|怎么(?:使用|用)(?:你|这个(?:工具|系统)?)?|帮助"
)
_KINDS: tuple[tuple[SmallTalk, re.Pattern[str]], ...] = (
    ("about", re.compile(_ABOUT, re.IGNORECASE)),
    ("thanks", re.compile(_THANKS, re.IGNORECASE)),
    ("farewell", re.compile(_FAREWELL, re.IGNORECASE)),
    ("greeting", re.compile(_GREETING, re.IGNORECASE)),
)
_CLAUSE = re.compile(r"[\s~～…\-—]+")
_BREAK = re.compile(r"[,，.。!！?？;；:：\n]+")
_LONGEST = 120
"""Characters: no one greets at more length, and a longer text has something to say."""


def small_talk(question: str) -> SmallTalk | None:
    """Return the kind of small talk a whole text is; None if any clause asks or states something else.

    Of several kinds the one that calls for an answer most: what the tool is, thanks, good-bye, a greeting.
    """
    folded = unicodedata.normalize("NFKC", question).strip()
    if not folded or len(folded) > _LONGEST:
        return None
    clauses = [clause.strip() for clause in _BREAK.split(folded) if any(map(str.isalnum, clause))]
    found = [_kind_of(clause) for clause in clauses]
    if not found or None in found:
        return None
    return next(kind for kind, _ in _KINDS if kind in found)


def without_small_talk(question: str) -> str:
    """A question without small talk before and after it; as it is where nothing else would be left."""
    pieces = re.split(f"({_BREAK.pattern})", question)
    clauses = list(zip(pieces[::2], [*pieces[1::2], ""], strict=True))
    while clauses and _empty(clauses[0][0]):
        clauses.pop(0)
    while clauses and _empty(clauses[-1][0]):
        clauses.pop()
    return "".join(clause + sign for clause, sign in clauses).strip() or question.strip()


def _empty(clause: str) -> bool:
    """Return whether a clause says nothing but small talk, or nothing at all."""
    folded = unicodedata.normalize("NFKC", clause).strip()
    return not any(map(str.isalnum, folded)) or _kind_of(folded) is not None


def _kind_of(clause: str) -> SmallTalk | None:
    words = " ".join(part for part in _CLAUSE.split(clause) if part)
    return next((kind for kind, pattern in _KINDS if pattern.fullmatch(words)), None)
