"""Equations of Office files (OMML) and web pages (MathML) on one line.

``(a)/(b)``, ``x^2``, ``√(x)``, ``∑_(i=1)^n i``, ``[1, 2; 3, 4]``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from engine.knowledge.loaders.contents import lowered, raised

MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_LEAVES = frozenset({"t", "mi", "mn", "mo", "ms", "mtext"})
_SILENT = frozenset({"del", "moveFrom", "annotation", "annotation-xml", "mphantom", "none", "mprescripts"})
_DEEPEST = 60
"""Elements of a page inside each other; of deeper ones only the words are read."""
_STYLED = re.compile(r"\{\\(?:display|text)style\s+(.*)\}", re.DOTALL)
_UNSEEN = str.maketrans("", "", "\u2061\u2062\u2063\u2064")
_SET_OFF = re.compile(r"[_^]\w+$")
_OFF = frozenset({"0", "false", "off"})
_LETTERS = re.compile("[\U0001d400-\U0001d7ff]+")
"""Letters that are slanted or bold by their number; a search looks for the plain ones."""
_ONE_WORD = re.compile(r"\w[\w\u0300-\u036f]*|.|[([{|][^()\[\]{}|]*[)\]}|]", re.DOTALL)


def equation(math: Any) -> str:
    """The TeX of an equation in a page, where the page has it, else its words and signs."""
    for note in math.iter("annotation"):
        if "tex" in (note.get("encoding") or "").lower() and (note.text or "").strip():
            tex = " ".join(note.text.split())
            styled = _STYLED.fullmatch(tex)
            return styled.group(1).strip() if styled else tex
    if math.find("/".join("*" * _DEEPEST)) is not None:
        return " ".join("".join(math.itertext()).split())
    return (math.get("alttext") or "").strip() or linear(math).strip()


def linear(element: Any) -> str:
    """The words and signs below an element of an equation, on one line."""
    text, before = "", False
    for child in element:
        part = _part(child)
        # What follows a letter that is set below another must not become one with it, nor a word with the next.
        is_word = isinstance(child.tag, str) and child.tag.endswith("mi") and len(part) > 1
        runs_on = part[:1].isalnum() and text[-1:].isalnum() and (is_word or before)
        text += " " if runs_on or (part[:1].isalnum() and _SET_OFF.search(text[-40:])) else ""
        text += part
        before = is_word
    return text


def _part(element: Any) -> str:
    name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "ctrlPr"
    if name in _LEAVES:
        words = "".join(element.itertext()).translate(_UNSEEN)
        words = words if name == "t" else " ".join(words.split())
        words = _LETTERS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), words)
        return f" {words} " if name == "mtext" else words
    if name.endswith("Pr") or name in _SILENT:
        return ""
    if name in _WRITTEN:
        arguments, written = _WRITTEN[name]
        return written(*(_of(element, argument) for argument in arguments))
    if name in _PLACED:
        count, placed = _PLACED[name]
        inside = [_part(child).strip() for child in element]
        return placed(*inside) if len(inside) == count else linear(element)
    return _RULES.get(name, linear)(element)


def _of(element: Any, name: str) -> str:
    """The argument of this name, or nothing."""
    found = element.find(f"{MATH}{name}")
    return "" if found is None else linear(found).strip()


def _setting(element: Any, name: str, default: str = "") -> str:
    found = element.find(f"{MATH}{element.tag.rpartition('}')[2]}Pr/{MATH}{name}")
    return default if found is None else found.get(f"{MATH}val") or ""


def _one(text: str) -> str:
    return text if _ONE_WORD.fullmatch(text) or not text else f"({text})"


def _scripts(base: str, below: str, above: str = "") -> str:
    return _one(base) + lowered(below) + raised(above)


def _divided(top: str, bottom: str) -> str:
    return f"({top})/({bottom})"


def _root(degree: str, inside: str) -> str:
    return f"√{degree and f'[{degree}]'}({inside})"


def _fraction(element: Any) -> str:
    top, bottom = _of(element, "num"), _of(element, "den")
    return f"{top}; {bottom}" if _setting(element, "type") == "noBar" else _divided(top, bottom)


def _sum(element: Any) -> str:
    sign = _setting(element, "chr", "∫") + lowered(_of(element, "sub")) + raised(_of(element, "sup"))
    return f"{sign} {_of(element, 'e')}"


def _delimited(element: Any) -> str:
    inside = _setting(element, "sepChr", "|").join(linear(one).strip() for one in element.findall(f"{MATH}e"))
    return _setting(element, "begChr", "(") + inside + _setting(element, "endChr", ")")


def _matrix(element: Any) -> str:
    rows = "; ".join(
        ", ".join(linear(cell).strip() for cell in row.findall(f"{MATH}e")) for row in element.findall(f"{MATH}mr")
    )
    above = element.getparent()
    alone = above.tag == f"{MATH}e" and len(above.findall(f"{MATH}m")) == len(above.findall("*"))
    return rows if alone and above.getparent().tag == f"{MATH}d" else f"[{rows}]"


def _table(element: Any) -> str:
    return f"[{'; '.join(', '.join(linear(cell).strip() for cell in row) for row in element)}]"


def _fenced(element: Any) -> str:
    inside = ", ".join(_part(child).strip() for child in element)
    return f"{element.get('open', '(')}{inside}{element.get('close', ')')}"


def _lines(element: Any) -> str:
    # The sign says where the lines are aligned.
    return "; ".join(linear(line).replace("&", "").strip() for line in element.findall(f"{MATH}e"))


def _accent(element: Any) -> str:
    return _of(element, "e") + (_setting(element, "chr", "\u0302") or "\u0302")


def _bar(element: Any) -> str:
    mark = "\u0305" if _setting(element, "pos") == "top" else "\u0332"
    return "".join(letter + mark for letter in _of(element, "e"))


def _phantom(element: Any) -> str:
    return "" if _setting(element, "show", "1") in _OFF else linear(element)


_WRITTEN: dict[str, tuple[tuple[str, ...], Callable[..., str]]] = {
    **dict.fromkeys(("sSup", "sSub", "sSubSup"), (("e", "sub", "sup"), _scripts)),
    "sPre": (("sub", "sup", "e"), lambda below, above, base: lowered(below) + raised(above) + base),
    "limLow": (("e", "lim"), lambda base, below: base + lowered(below)),
    "limUpp": (("e", "lim"), lambda base, above: base + raised(above)),
    "rad": (("deg", "e"), _root),
    "func": (("fName", "e"), lambda name, of: f"{name}{of}" if of.startswith(("(", "[", "{", "|")) else f"{name} {of}"),
}
"""Of each element the arguments, and how they are written."""
_PLACED: dict[str, tuple[int, Callable[..., str]]] = {
    "mfrac": (2, _divided),
    **dict.fromkeys(("msup", "mover"), (2, lambda base, above: _scripts(base, "", above))),
    **dict.fromkeys(("msub", "munder"), (2, _scripts)),
    **dict.fromkeys(("msubsup", "munderover"), (3, _scripts)),
    "mroot": (2, lambda inside, degree: _root(degree, inside)),
}
"""Of each element of MathML how many arguments it has, and how they are written."""
_RULES: dict[str, Callable[[Any], str]] = {
    "f": _fraction,
    "nary": _sum,
    "d": _delimited,
    "m": _matrix,
    "eqArr": _lines,
    "acc": _accent,
    "bar": _bar,
    "phant": _phantom,
    "mtable": _table,
    "mfenced": _fenced,
    "msqrt": lambda element: _root("", linear(element).strip()),
}
"""Elements that are written by their settings, too."""
