"""A question and its sentences as the generator weighs them, and whether a sentence has the form of an answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from engine.builtin import segmenting
from engine.builtin.answer_kind import Asked
from engine.builtin.evidence import Question
from engine.builtin.terms import question_terms, stem, terms

WANTS_CODE = re.compile(
    r"\b(?:commands?|code|examples?|syntax|install\w*|snippets?|import|config\w*)\b"
    r"|命令|代码|示例|例子|语法|安装|导入|配置|怎么写",
    re.IGNORECASE,
)
"""A question that code answers better than words do."""
_WANTS_NAME = re.compile(
    r"\b(?:which|what)\s+(?:[\w-]+\s+){0,2}?(?:command|option|flag|function|method|parameter|argument|prop|attribute|"
    r"property|variable|setting|key|field|package|library|tool|module|class|hook|directive|header|tag|file|type|value)s?\b"
    r"|(?:哪一?[个种款些]|什么)[^，。？?]{0,4}?"
    r"(?:命令|选项|函数|方法|参数|属性|变量|设置|字段|包|库|工具|模块|类|钩子|指令|标签|文件|类型|值)",
    re.IGNORECASE,
)
_NAME = re.compile(r"`([^`\n]{2,60})`")
_IS_EN = re.compile(
    r"^\W*(?:what|which)(?:\s+[\w-]+)?\s+(?:is|are|was|were)\s+(?:the|an?|its|their)?\s*"
    r"((?:(?!(?:of|for|in|on|to|at|by|with|from|that|used)\b)[\w'’-]+\s*){1,5})",
    re.IGNORECASE,
)
_IS_ZH = re.compile(
    r"的?([\u3400-\u9fff]{1,6}?)(?:是|为)(?:什么|多少|哪|何|谁)|(?:哪|什么)[个种些]?([\u3400-\u9fff]{1,4})"
)
_DEFINE = re.compile(
    r"^\W*what\s+(?:is|are)\s+(?:an?\s+|the\s+)?((?:[\w'’-]+\s+){0,3}[\w'’-]+)\s*\??$"
    r"|^什么是([^的，,？?]{1,12})[？?]?$|^([^的，,？?]{1,12})是什么[？?]?$",
    re.IGNORECASE,
)
_ASKS_DEFAULT = re.compile(r"\bdefaults?\b|默认|缺省", re.IGNORECASE)
_DEFAULT = re.compile(
    r"\bdefault(?:s to|ing to|(?: value)? is|(?: value)?[:=]| `)|[(\[](?:the |is )?default\b|\bdefault[)\]]"
    r"|(?:默认|缺省)值?(?:为|是|：|:|\s*`)|[（(](?:默认|缺省)|(?:默认|缺省)[)）]",
    re.IGNORECASE,
)
"""Says what the default is, which "by default" does not."""
_COPULA = re.compile(r"\b(?:is|are|was|were)\b|[:=]", re.IGNORECASE)
_WORD = re.compile(r"[\w'’-]+|[:=]")
_NEAR = 3
_WAY = 0.6
"""How much code is the answer to how something is done."""
_HOW_IS = re.compile(
    r"\bhow\s+(?:is|are|was|were|(?:can|could|should|may|might|must|will|would)\b.{0,80}?\bbe"
    r"|(?:has|have|had)\b.{0,80}?\bbeen)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"(?<!\band)(?<!\bor)\s([a-z]{2,}(?<!e)ed)(?=\s*(?:[?.,;!]|$|(?:in|at|by|for|from|with|into|on|to|of|as|when|if|during"
    r"|after|before|via|without|within|under|through|using)\b))",
    re.IGNORECASE,
)
"""A participle that no noun follows: *kept* things are *stored*."""
_DO_EN = re.compile(
    r"\bhow\s+(?:to|(?:do|does|did|can|could|should|would|will|might|must)\s+(?:i|you|we|one|they|people|he|she|it))"
    r"\s+(?:(?:best|also|\w+ly)\s+)?([a-z]+)|\b(?:ways?|methods?|means|steps|procedures?)\s+(?:to|of|for)\s+([a-z]+)",
    re.IGNORECASE,
)
_DO_ZH = re.compile(
    r"(?:如何|怎样|怎么|什么(?:方法|方式|办法|手段))(?:才|才能|能够?|可以|去|来|被|进行|加以)*([\u3400-\u9fff]{2,})"
)
_CLASS = re.compile(r"\b(?:what|which)\s+([\w-]+)\b|(?:哪一?[个种款些项家]|什么)([\u3400-\u9fff]{1,3})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """Expected form of the answer."""

    code: float
    """How much a block of code would be the answer, from 0 to 1."""
    name: bool
    """A word of code may be: a command, an option, a package."""
    head: str
    """The stem or word whose meaning or value the question asks for; empty where it asks otherwise."""
    subject: str
    """What the question asks to define and nothing else, *spanning tree* of "What is a spanning tree?"; else empty."""
    default: bool = False
    """The question asks what something is by default."""
    deed: str = ""
    """The term for what is to be done, where the question asks how: *treat* of "How is it treated?", 治疗."""


@lru_cache(maxsize=256)
def form_of(question: str, way: bool) -> Form:
    """The form that an answer would have; ``way``: the question asks how something is done."""
    text = unicodedata.normalize("NFKC", question).strip()
    code = WANTS_CODE.search(text) is not None
    name = way or code or _WANTS_NAME.search(text) is not None
    default = _ASKS_DEFAULT.search(text) is not None
    return Form(1.0 if code else _WAY * way, name, _head(text), _subject(text), default, _deed(text) if way else "")


def class_words(question: str) -> frozenset[str]:
    """The kind of thing a question asks for, *package* of "which package", which an answer need not say."""
    found = _CLASS.finditer(unicodedata.normalize("NFKC", question))
    return frozenset((match.group(1) or match.group(2)).lower() for match in found)


def says_what(form: Form, sentence: str) -> float:
    """Score how well a sentence defines the subject: "the default is 5", "5 is the default", 默认值为 5.

    1, or 0; 2 where it begins with what is to be defined, for its definition need not say *is*.
    """
    begins = rf"\W*(?:(?:an?|the)\s+)?{re.escape(form.subject)}(?![a-z0-9])"
    if form.subject and re.match(begins, sentence, re.IGNORECASE):
        return 2.0
    return float(_has_copula(form, sentence) or (form.default and _DEFAULT.search(sentence) is not None))


def _has_copula(form: Form, sentence: str) -> bool:
    if not form.head:
        return False
    if not form.head.isascii():
        bare = form.head.removesuffix("值")
        return re.search(rf"{re.escape(bare)}值?(?:是|为|：|:|即|设为)", sentence) is not None
    words = [word.lower() for word in _WORD.findall(sentence)]
    at = [place for place, word in enumerate(words) if stem(word) == form.head]
    return any(
        any(_COPULA.fullmatch(word) for word in (*words[place + 1 : place + _NEAR], *words[max(0, place - 4) : place]))
        for place in at
    )


def names_new(question: str, sentence: str) -> bool:
    """Return whether a sentence has a word of code that the question does not have."""
    known = unicodedata.normalize("NFKC", question).casefold()
    return any(name.casefold() not in known for name in _NAME.findall(sentence))


def _subject(text: str) -> str:
    found = _DEFINE.match(text)
    return next(filter(None, found.groups())).strip() if found else ""


def _head(text: str) -> str:
    found = _IS_EN.match(text)
    if found:
        said = [word for word in found.group(1).split() if terms(word)]
        return stem(said[-1].lower()) if said else ""
    han = _IS_ZH.search(text)
    word = (han.group(1) or "") if han else ""
    kept = [term for term in question_terms(text) if term and word.endswith(term)]
    return kept[-1] if kept else ""


def _deed(text: str) -> str:
    how, to_do, han = _HOW_IS.search(text), _DO_EN.search(text), _DO_ZH.search(text)
    done = _DONE.findall(text, how.end()) if how else [to_do[1] or to_do[2]] if to_do else []
    if done:
        return next(iter(question_terms(done[-1])), "")
    begins = [term for term in question_terms(text) if len(term) > 1 and han and han[1].startswith(term)]
    return begins[0] if begins and all(tag[0] == "v" for _, tag in segmenting.tag(begins[0])) else ""


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a passage with what it offers to the question."""

    marker: int
    position: int
    """Place within its passage, from 0."""
    text: str
    words: frozenset[str]
    covers: Mapping[str, float]
    """Each term of the question that it has, with the term's share of the question's weight."""
    kinds: tuple[float, ...]
    """How well it holds the kind of answer that each clause of the question asks for, in [0, 1]."""
    extra: float
    """Score that does not depend on what else is chosen."""
    scale: float
    """Below 1 for what reads badly as an answer: questions and fragments."""
    code: str = ""
    """The block of code behind it, between fences."""
    entry: str = ""
    """What its section describes, where the heading is a name in code: ``server.port``."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question as sentences are held against it."""

    question: Question
    clauses: tuple[Asked, ...]
    renamed: tuple[tuple[str, ...], ...]
    """Other names of the question's expressions."""
    form: Form

    @property
    def deed(self) -> str:
        """What the question asks the way of, as it writes it: *treated*; empty where it asks otherwise."""
        return self.question.forms.get(self.form.deed, "")
