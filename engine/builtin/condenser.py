"""The last message of a chat as a question of its own, by rules: what it leaves out is taken from the one before.

A message counts as a follow-up where it is short and points back (``it``, ``它``), begins or ends as one does (``and
…``, ``那…呢``), or names nothing at all; any other stands as it was sent.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from engine.builtin.terms import question_terms, surface_terms, weight_of
from engine.model.language import language_of
from engine.model.small_talk import small_talk

_SHORT = 4
"""Terms up to which a message may be a follow-up; one that names more says itself what it is about."""
_ELLIPTIC = 2
_CARRIED = 6
"""Terms that are taken over, those that say most."""
_BEGINNING = re.compile(
    r"(?:and|but|so|then|or|also|what about|how about|what if|which of|in that case|the same)\b"
    r"|那|还有|另外|然后|而(?!且)|但|可是|所以|如果是|换成|再|以及",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"(?:in|for|with|without|on|at|during|after|before|by|to|from|under)\b", re.IGNORECASE)
_BARE = re.compile(
    r"(?:(?:please |can you |could you )?(?:why(?: not)?|how(?: so| come)?|when|where|who|explain|elaborate|continue|"
    r"go on|(?:tell me |say )?more|(?:for )?(?:an )?examples?|more details|details)(?: please)?"
    r"|(?:请|能)?(?:为什么|为何|怎么(?:做|办)?|如何|什么时候|哪里|继续|再?详细(?:一点|点|说说|说明|解释)?|举个?例子?|例如|解释一下|多说一点|还有吗))"
    r"[\s?？.。!！]*",
    re.IGNORECASE,
)
_ENDING = re.compile(r"呢[？?。！!\s]*$")
_POINTING = re.compile(
    r"\b(?:it|its|itself|they|them|their|theirs|he|him|his|she|her|hers)\b"
    r"|\b(?:this|that|these|those)\b(?=\s*(?:[?.,!]|$)|\s+(?:is|are|was|were|do|does|did|has|have|can|could|will|mean))"
    r"|\bthe (?:former|latter|other|second|first)(?: ones?)?\b(?=\s*(?:[?.,!]|$))|\b(?:this|that) one\b"
    r"|[它他她]|其(?![他它中实余次])|这|上述|前者|后者|该(?=[一-鿿])|此(?!外)",
    re.IGNORECASE,
)


def condensed(earlier: Sequence[str], asked: str, longest: int) -> str:
    """``asked`` as a question that needs none of the ``earlier`` ones, oldest first, in at most ``longest`` characters.

    The first question of a chat, small talk and a message that is no follow-up come back as they are.
    """
    subject = ""
    for question in (*earlier, asked):
        if not small_talk(question):
            subject = _with_subject(question.strip(), subject, longest)
    return asked.strip() if small_talk(asked) else subject


def follows_up(question: str) -> bool:
    """Return whether a message leaves out what it is about."""
    text = unicodedata.normalize("NFKC", question).strip()
    found = len(question_terms(text))
    if not found or _BARE.fullmatch(text):
        return True
    if found <= _ELLIPTIC and _PREPOSITION.match(text):
        return True
    return found <= _SHORT and bool(_BEGINNING.match(text) or _ENDING.search(text) or _POINTING.search(text))


def _with_subject(question: str, subject: str, longest: int) -> str:
    if not subject or not follows_up(question):
        return question
    chinese = "zh" in (language_of(question), language_of(subject) if language_of(question) == "other" else "")
    for phrases in _fewer(_carried(question, subject)):
        added = f"（{'、'.join(phrases)}）" if chinese else f" ({', '.join(phrases)})"
        if len(question) + len(added) <= longest:
            return question + added
    return question


def _fewer(phrases: list[str]) -> Sequence[list[str]]:
    return [phrases[:count] for count in range(len(phrases), 0, -1)]


def _carried(question: str, subject: str) -> list[str]:
    """List the words in the subject but not in the question, in order; adjacent words stay together."""
    known = set(question_terms(question))
    named = surface_terms(subject, question=True)
    most = set(sorted(named.keys() - known, key=weight_of, reverse=True)[:_CARRIED])
    folded = unicodedata.normalize("NFKC", subject)
    phrases: list[tuple[str, bool]] = []
    for term, form in named.items():
        last, wanted = phrases[-1] if phrases else ("", False)
        joined = next((text for text in (f"{last}{form}", f"{last} {form}") if last and text in folded), "")
        if joined:
            phrases[-1] = joined, wanted or term in most
        else:
            phrases.append((form, term in most))
    return [phrase for phrase, wanted in phrases if wanted]
