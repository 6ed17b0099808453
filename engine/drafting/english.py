"""Questions that sentences and headings in English hold, by their form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from engine.drafting.values import Found

_CODE = re.compile(r"`([^`]+)`")
_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|this|these|that(?= (?:is|case|way|reason|means))|those|such|above|below|following|"
    r"here|there|so|same|latter|former|example|one|ones|another|other|he|she|his|her|former|previous|next)\b",
    re.IGNORECASE,
)
"""Words that mean nothing to somebody who has not read the page."""
_NO_SUBJECT = re.compile(
    r"^(?:if|when|while|as|for|in|on|at|by|with|from|since|because|although|though|but|and|or|to|note|what|which|who|"
    r"how|why|where|both|all|each|every|some|any|most|many|no|not|only|also|please|currently|usually|your|our|my|we|"
    r"you|i|let|see|however|instead|therefore|thus|then|finally|first|second|use|using|set|run|add|make|default|"
    r"result|reason|goal|idea|problem|main|rest|point|way|value|thing|simplest|easiest|best|only)\b",
    re.IGNORECASE,
)
_SUBJECT = r"(?P<subject>(?:(?:An?|The)\s+)?[A-Za-z`@$_#][^,;:()?!\"]{1,58}?)"
_NAMED = re.compile(r"`|[a-z][A-Z]|\b[A-Z]{2,}\b|[\w]\.[\w]|_|(?<!^)\b[A-Z][a-z]+")
_DEFINED = re.compile(
    rf"^{_SUBJECT}\s+(?P<be>is|are)\s+(?P<what>(?:an?|the)\s+(?!same\b|case\b|default\b|bit\b|good\b|must\b|only\b|"
    r"first\b|key\b|responsibility\b|result\b|reason\b|way\b|number\b|lot\b|few\b|following\b)[^?]{12,})$"
)
_PLAIN_CODE = re.compile(r"^`?[a-z]\w*`?$")
"""The name of a field, which means something only beside what it belongs to."""
_EXPLAINS = re.compile(r"\b(?:that|which|for|of|used|to|where|by|with|in|whose|from)\b")
_STANDS_FOR = re.compile(
    r"(?P<long>(?:[A-Z][\w'-]+\s+(?:(?:of|and|for|the|to)\s+)?){1,6}|(?:[a-z][\w-]+\s+){2,5})"
    r"\((?P<short>[A-Z][A-Za-z]?[A-Z]{1,5})s?\)"
)
_BE_FIGURE = re.compile(
    rf"^{_SUBJECT}\s+(?P<aux>is|are|was|were|must be|should be|can be)\s+(?:set to\s+|limited to\s+)?"
    r"(?P<figure>(?:at (?:least|most)\s+|up to\s+)?`?\d[\d.,:]*`?(?:\s?(?:%|[a-zA-Z]+))?)(?P<rest>[^?]{0,50})$"
)
_TIMED = re.compile(
    rf"^{_SUBJECT}\s+(?P<aux>is|are|was|were|can be|must be|should be|will be|can|must|should|will|may)\s+"
    r"(?P<verb>[a-z]+)(?P<object>[^,;]{0,40}?)\s+(?P<how>every|for|after|within|at least|up to|at most)\s+"
    r"(?P<figure>\d[\d.,]*\s+(?P<unit>[a-z]+))\b(?P<rest>[^?]{0,30})$"
)
_ASKS_TIME = {"every": "How often", "for": "For how long", "after": "After how long", "within": "Within what time"}
_COUNTED = re.compile(
    rf"^{_SUBJECT}\s+(?P<verb>has|have|supports?|contains?|includes?|takes?|requires?|needs?|allows?|accepts?|"
    r"provides?|keeps?|holds?|covers?|uses?|consists? of)\s+(?P<more>at least\s+|up to\s+|exactly\s+|at most\s+)?"
    r"(?P<figure>\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten|twelve)\s+"
    r"(?P<unit>[a-z][a-z-]+s(?:\s+of\s+[a-z]+)?)\b(?P<rest>[^?]{0,60})$"
)
_DEFAULTS = re.compile(
    r"^(?:By default,?\s+)?(?:The\s+)?(?P<subject>`[^`]+`)(?:\s+(?:option|setting|value|parameter|property|field|"
    r"attribute|plugin|flag))?\s+(?:(?:value\s+)?defaults?\s+to|is\s+(?:set\s+to\s+)?by\s+default|"
    r"(?:is|are)\s+(?:set\s+to\s+)?)\s*(?P<value>`[^`]+`|\d[\d.]*)(?P<rest>[^?]{0,60})$"
)
_THE_DEFAULT = re.compile(
    r"\b[Tt]he default (?P<of>(?:[\w-]+\s+){0,3}?(?:(?:value\s+)?(?:of|for)\s+(?:the\s+)?[^,;]{2,40}?)?)"
    r"\s*is\s+(?:set to\s+)?"
    r"(?P<value>`[^`]+`|\d[\d.]*(?:\s[a-z]+)?)"
)
_CONDITION = re.compile(
    r"^(?P<word>If|When|Whenever|Once)\s+(?P<clause>[^,;]{12,110}),\s+(?:then\s+)?(?P<main>.{15,})$"
)
_WISH = re.compile(r"^you(?:'d| would)?\s+(?:want|need|like|wish|prefer|have|plan|intend)\s+to\s+(?P<do>.+)$")
_TO_DO = re.compile(r"^(?:In order to|To)\s+(?P<do>[a-z][^,;:]{10,90}),\s+(?P<main>.{12,})$")
_USE_TO = re.compile(
    r"^(?:You (?:can|could|may|should) (?:also )?)?[Uu]se (?:the )?(?P<what>`[^`]+`)(?:\s+[\w-]+){0,3}?\s+"
    r"(?:(?:in order )?to|if you (?:want|need) to)\s+(?P<do>[a-z].{10,100}?)(?:\.|$)"
)
_YOU_CAN = re.compile(
    r"^You can (?:also |either )?(?P<do>[a-z][^,;]{8,80}?)\s+(?:by\s+[a-z]+ing|with|using|via|through)\b.{4,}$"
)
_CAN_BE = re.compile(
    rf"^{_SUBJECT}\s+can\s+(?:also\s+)?be\s+(?P<done>[a-z]+(?:ed|en|un|et|ilt|ent)\b[^,;]{{0,40}}?)\s+"
    r"(?:by\s+[a-z]+ing|using|via|through|with)\b.{4,}$"
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|does|do|can|cannot|need|needs|set|sets|fails?|runs?|starts?|uses?|contains?|"
    r"exists?|receives?|sends?|returns?|changes?|matches|reaches|exceeds?|enabled?|calls?|throws?|loads?|"
    r"provided|specified|you|[a-z]+(?:es|ed))\b"
)
_TELLS = re.compile(
    r"^(?:you\s+(?:can|should|must|need|may|could|have|will need)|please|make sure|use|set|add|run|try|call|pass|"
    r"consider|specify|install|enable|disable|create|configure|define|import|export|include|remove|replace|update|"
    r"change|move|keep|put|write|start|stop|open|avoid|wrap|return|do|place|extend|split|prefer|append|check)\b",
    re.IGNORECASE,
)
_POINTS_ON = re.compile(
    r"^(?:see|refer|check out|read|please|note|head|visit|have a look|learn|remember|keep in mind|be sure|feel free|"
    r"we\b|make sure|follow|let|be aware|you should be aware|you'll see|you will see|consider)\b",
    re.IGNORECASE,
)
_WITH_SUBJECT = re.compile(
    r"^(?:you|an?|the|your|no|each|any|all|some|two|both|multiple|there)\s+\S+|^`|^[A-Z]|"
    r"^(?!\w+(?:ed|ing)\b|(?:not|set|run|built|given|used|in|on|at|to|for|with|doing|possible)\b)"
    r"(?:[\w-]+\s+){1,3}(?:is|are|was|were|has|have|does|do|can|cannot)\b"
)
_STATE_OF_READER = re.compile(
    r"^you(?:'re| are) (?:\w+ing|new|already|familiar|unsure|not sure|interested|on|in|an?|the)\b|"
    r"^you were\b|^you (?:want|need|like|prefer|wish|know|encounter|see|think|"
    r"have (?:not|never|questions|trouble|problems|any))\b"
)
_VAGUE = re.compile(r"^\w+ (?:the|an?|and|all|some|more|new)? ?[\w-]+$")
"""A verb and one word: nothing says where."""
_FILLER = re.compile(
    r"\b(?:also|further|quickly|easily|simply|too|either|even|now|still|just|instead|safely|manually)\s*\b"
)
_NO_TASK = re.compile(
    r"^(?:be|see|learn|help|summari[sz]e|recap|understand|do so|get started|achieve|know|put|avoid confusion|ensure|"
    r"demonstrate|illustrate|follow along|make sure|sum up|keep things|name|experiment|join|contribute|leverage|"
    r"continue|begin|proceed|benefit|work around|opt)\b"
)
_GERUND = re.compile(r"^(?P<verb>[A-Z][a-z]+ing)\s+(?P<object>\S.*)$")
_IMPERATIVE = re.compile(r"^(?P<verb>[A-Z][a-z]+)\s+(?P<object>\S.*)$")
_TASKS = frozenset(
    "access add apply attach author bind bundle call choose combine configure connect create customize customise "
    "declare define delete deploy disable download embed emit enable encrypt enforce exclude extend extract fix "
    "generate handle hide implement include inject install integrate invoke join make manage map migrate modify "
    "monitor mount override pass provide publish read reduce reference register reload remove rename replace reset "
    "resolve restart restrict rewrite rotate run scaffold secure select serve set skip split switch transform "
    "trigger troubleshoot uninstall upload use validate verify view wrap write".split()
)
"""Verbs that begin a heading which tells how to do something."""
_TASKS_OR_NOUNS = frozenset(
    "build change check debug export filter find forward get import limit list load open profile proxy query send "
    "share start stop store test try update upgrade".split()
)
"""Those that are nouns too: "Build Optimizations"."""
_OBJECT = re.compile(r"^(?:an?|the|your|all|multiple|new|custom|with|from|to|by|on|in|for|as)\b", re.IGNORECASE)
_NOMINAL = re.compile(r"(?:ing|ion|ions|ment|ance|ence|strategy|handling|flow|guide|options|mode)$", re.IGNORECASE)
_LISTS = re.compile(
    r"^(?:Known\s+)?(?P<what>Limitations?|Caveats?|Advantages?|Disadvantages?|Requirements?|Prerequisites?|Drawbacks?|"
    r"Benefits?|Breaking Changes|Side Effects|Trade-?offs|Use Cases|Restrictions?)$",
    re.IGNORECASE,
)
_VERSUS = re.compile(r"^(?P<one>.{2,40}?)\s+(?:vs\.?|versus)\s+(?P<other>.{2,40})$")
_FEWEST_WORDS, _MOST_WORDS = 3, 24


def of_sentence(sentence: str) -> Iterator[Found]:
    """Questions that one sentence answers."""
    text = sentence.strip().rstrip(".。")
    if not 5 <= len(text.split()) <= 45 or "\n" in text or text.endswith(("?", ":")) or "](" in text:
        return
    for rule in (_stands_for, _defaults, _figures, _use_to, _ways, _conditions, _definitions):
        for found in rule(text):
            words = len(found.question.split())
            if _FEWEST_WORDS <= words <= _MOST_WORDS and not _odd(found.question):
                yield Found(found.rule, found.question, found.gold, sentence)


def of_heading(heading: str, title: str, usage: Usage) -> Iterator[Found]:
    """Questions that a heading poses."""
    plain = heading.strip().strip("#").strip()
    if not plain or len(plain.split()) > 10:
        return
    if plain.endswith("?") and len(plain.split()) >= 4:
        yield Found("heading", _asked(plain), quote=heading)
        return
    if plain.startswith("How to "):
        yield Found("heading", f"How do I {usage.lowered(plain[7:])}?", quote=heading)
        return
    if (found := _LISTS.match(plain)) and title:
        what = found.group("what").lower()
        what = what if what.endswith("s") else f"{what}s"
        yield Found("heading", f"What are the {what} of {title}?", quote=heading)
        return
    if found := _VERSUS.match(plain):
        one, other = usage.lowered(found.group("one")), usage.lowered(found.group("other"))
        yield Found("heading", f"What is the difference between {one} and {other}?", quote=heading)
        return
    do = _mine(usage.lowered(_task(plain)))
    if do and not _POINTS_BACK.search(do):
        where = f" in {title}" if _VAGUE.match(do) and title and not _alike(do, title) else ""
        yield Found("heading", f"How do I {do}{where}?", quote=heading)


def _task(heading: str) -> str:
    """What a heading tells how to do, with its verb in the base form; empty where it tells of none."""
    found = _GERUND.match(heading) or _IMPERATIVE.match(heading)
    if found is None:
        return ""
    written, what = found.group("verb").lower(), found.group("object")
    verb = base_of(written) if written.endswith("ing") else written
    clear = _OBJECT.match(what) is not None or written.endswith("ing")
    if verb not in _TASKS and not (verb in _TASKS_OR_NOUNS and clear):
        return ""
    return "" if _NOMINAL.search(what) and not _OBJECT.match(what) and " " not in what else f"{verb} {what}"


def base_of(gerund: str) -> str:
    """The verb of a word in -ing: using → use, running → run, creating → create."""
    stem = gerund.removesuffix("ing")
    if stem in _TASKS or stem in _TASKS_OR_NOUNS:
        return stem
    return next((verb for verb in (f"{stem}e", stem[:-1]) if verb in _TASKS or verb in _TASKS_OR_NOUNS), stem)


def _stands_for(text: str) -> Iterator[Found]:
    for found in _STANDS_FOR.finditer(text):
        long, short = " ".join(found.group("long").split()), found.group("short")
        words = [word for word in re.split(r"[\s-]+", long) if word.lower() not in ("of", "and", "for", "the", "to")]
        letters = "".join(char for char in short if char.isupper())
        if len(words) < len(letters):
            continue
        words = words[-len(letters) :]
        if "".join(word[0] for word in words).upper() == letters:
            start = long.rfind(words[0])
            yield Found("definition", f"What does {short} stand for?", (long[start:],))


def _definitions(text: str) -> Iterator[Found]:
    found = _DEFINED.match(text)
    if found is None or not _EXPLAINS.search(found.group("what")) or len(found.group("what").split()) < 5:
        return
    subject = found.group("subject").strip()
    bare = re.sub(r"^(?:An?|The)\s+", "", subject)
    if _PLAIN_CODE.match(bare) or bare.split()[0].endswith("ing"):
        return
    if len(bare.split()) <= 4 and "|" not in bare and _names(bare) and _NAMED.search(bare):
        lead = subject[0].lower() + subject[1:] if subject.startswith(("A ", "An ", "The ")) else subject
        yield Found("definition", f"What {found.group('be')} {_plain(lead)}?")


def _defaults(text: str) -> Iterator[Found]:
    found = _DEFAULTS.match(text)
    if found and "default" in text.lower():
        yield Found("figure", f"What is the default of {_plain(found.group('subject'))}?", _gold(found.group("value")))
        return
    found = _THE_DEFAULT.search(text)
    if found and not _POINTS_BACK.search(found.group("of")) and found.group("of").strip():
        of = " ".join(found.group("of").split())
        if len(of.split()) >= 2 and of not in ("value for", "value of"):
            yield Found("figure", f"What is the default {_plain(of)}?", _gold(found.group("value")))


def _figures(text: str) -> Iterator[Found]:
    if found := _TIMED.match(text):
        how = found.group("how")
        asks = _ASKS_TIME.get(how, f"{how.capitalize()} how many {found.group('unit')}")
        aux, *more = found.group("aux").split()
        parts = [_subject(found), *more, found.group("verb"), found.group("object").strip()]
        if _names(found.group("subject"), loose=True):
            yield Found("figure", f"{asks} {aux} {' '.join(filter(None, parts))}?", (found.group("figure"),))
    elif found := _COUNTED.match(text):
        unit, verb = found.group("unit"), found.group("verb")
        does = "do" if verb in ("have", "consist of") or not verb.split()[0].endswith("s") else "does"
        base = {"has": "have"}.get(verb, re.sub(r"s(?= of$|$)", "", verb, count=1))
        more = (found.group("more") or "").strip()
        if _names(found.group("subject"), loose=True):
            asked = f"How many {unit} {does} {_subject(found)} {base}{' ' + more if more else ''}?"
            yield Found("figure", asked, (found.group("figure"),))
    elif (found := _BE_FIGURE.match(text)) and _names(found.group("subject"), loose=True):
        aux, *more = found.group("aux").split()
        asked = f"What {aux} {_subject(found)}{' ' + ' '.join(more) if more else ''}?"
        if not more and len(found.group("subject").split()) > 1:
            yield Found("figure", asked, _gold(found.group("figure")))


def _use_to(text: str) -> Iterator[Found]:
    found = _USE_TO.match(text)
    if found and not _POINTS_BACK.search(found.group("do")) and not _NO_TASK.match(found.group("do")):
        yield Found("way", f"What can I use to {_mine(_plain(found.group('do')))}?", _gold(found.group("what")))


def _ways(text: str) -> Iterator[Found]:
    do = ""
    if found := _TO_DO.match(text):
        do = "" if _POINTS_ON.match(found.group("main")) else found.group("do")
    elif (found := _CONDITION.match(text)) and (wish := _WISH.match(found.group("clause"))):
        do = "" if _POINTS_ON.match(found.group("main")) else wish.group("do")
    elif found := _YOU_CAN.match(text):
        do = found.group("do")
        do = "" if re.match(r"(?:then|now|use|find|see|also|check|start|read)\b", do) else do
    elif (found := _CAN_BE.match(text)) and _names(found.group("subject"), loose=True):
        yield Found("way", f"How can {_subject(found)} be {_mine(_plain(found.group('done')))}?")
    do = " ".join(_FILLER.sub("", re.sub(r"^be able to\s+", "", do)).split())
    if do and not _VAGUE.match(do) and not _POINTS_BACK.search(do) and not _NO_TASK.match(do) and len(do.split()) >= 2:
        yield Found("way", f"How do I {_mine(_plain(do))}?")


def _conditions(text: str) -> Iterator[Found]:
    found = _CONDITION.match(text)
    if found is None or _WISH.match(found.group("clause")):
        return
    clause, main = found.group("clause"), found.group("main")
    if _POINTS_BACK.search(clause) or _POINTS_ON.match(main) or clause.endswith(("possible", "needed", "necessary")):
        return
    if not _FINITE.search(clause) or not _WITH_SUBJECT.match(clause) or _STATE_OF_READER.match(clause):
        return
    if re.search(r"\b(?:was|were|we|us|our|let's)\b", clause):
        return
    word = found.group("word").lower()
    asks = "What should I do" if _TELLS.match(main) else "What happens"
    yield Found("condition", f"{asks} {word} {_mine(_plain(clause))}?")


def placed(found: Found, name: str) -> Found | None:
    """A question with the name of the option it is about; None where it is vague and there is no name.

    "If a callback is passed" means nothing outside of the entry of an option.
    """
    if found.rule not in ("condition", "way") or _NAMED.search(found.question[1:].replace(" I ", " ")):
        return found
    if name:
        return Found(
            found.rule, f"For {name}: {found.question[0].lower()}{found.question[1:]}", found.gold, found.quote
        )
    few = len(found.question.split()) <= (9 if found.rule == "condition" else 6)
    return None if few and found.rule == "condition" else found


def _names(subject: str, *, loose: bool = False) -> bool:
    """Whether a subject says by itself what it is; ``loose``: also where it is no name."""
    bare = re.sub(r"^(?:An?|The)\s+", "", subject.strip())
    if not bare or _NO_SUBJECT.match(bare) or _POINTS_BACK.search(bare):
        return False
    # A verb inside means that the subject ended before.
    if re.search(r"\b(?:is|are|was|were|has|have|will|can|should|must|which|who|you|we|[a-z]+ly)\b", bare):
        return False
    words = bare.split()
    return bool(_NAMED.search(bare)) or (loose and (2 <= len(words) <= 7 or (len(bare) > 5 and bare.endswith("s"))))


def _subject(found: re.Match[str]) -> str:
    subject = _plain(found.group("subject").strip())
    return subject[0].lower() + subject[1:] if re.match(r"(?:An?|The|[A-Z][a-z]+s?)\s", subject) else subject


def _gold(value: str) -> tuple[str, ...]:
    value = found.group(1) if (found := _CODE.match(value.strip())) else value
    plain = _plain(value).strip(" .,;'\"")
    return (plain,) if plain and len(plain) <= 60 else ()


def _plain(text: str) -> str:
    return " ".join(_CODE.sub(r"\1", text).replace("**", "").split()).strip(" ,;")


def _mine(text: str) -> str:
    """Said by who asks: your → my."""
    for pattern, mine in (
        (r"\byou(?:'re| are)\b", "I am"),
        (r"\byou(?:'ve| have)\b", "I have"),
        (r"\byour\b", "my"),
        (r"\byourself\b", "myself"),
        (r"\b(for|to|by|of) you\b", r"\1 me"),
        (r"\byou\b", "I"),
    ):
        text = re.sub(pattern, mine, text)
    return text


class Usage:
    """How the prose of a collection writes its words: which capitals are names, and which only begin something."""

    def __init__(self, prose: str) -> None:
        self._within = Counter(re.findall(r"(?<=[a-z,] )[A-Z][a-z'-]+", prose))
        self._small = Counter(re.findall(r"(?<![\w./@`-])[a-z][a-z'-]+", prose))
        self._pairs = frozenset(re.findall(r"(?<=[a-z,] )([A-Z]\w* [A-Z][a-z]+)", prose))

    def lowered(self, heading: str) -> str:
        """A heading without the capitals that only headings have."""
        words = heading.split()
        return _plain(" ".join(self._as_written(words, place) for place in range(len(words))))

    def _as_written(self, words: Sequence[str], place: int) -> str:
        word = words[place]
        if not re.fullmatch(r"[A-Z][a-z'-]+[,:]?", word):
            return word  # a name of code, an abbreviation, or small already
        bare = word.rstrip(",:")
        before = words[place - 1] if place else ""
        if f"{before} {bare}" in self._pairs or self._within[bare] > self._small[bare.lower()]:
            return word
        return word.lower()


def _alike(task: str, title: str) -> bool:
    """Whether a title says what the task is about already: "add a plugin", "Using Plugins"."""
    own = {word.lower()[:5] for word in re.findall(r"\w{4,}", title)}
    return any(word.lower()[:5] in own for word in re.findall(r"\w{4,}", task))


def _asked(question: str) -> str:
    return _plain(question)


def _odd(question: str) -> bool:
    """Whether a question came out broken: a bracket or quotation mark left open, or nothing but stop words."""
    pairs = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"))
    return any(question.count(one) != question.count(other) for one, other in pairs) or question.count('"') % 2 == 1
