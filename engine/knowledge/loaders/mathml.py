"""Equations of web pages (MathML) on one line, written as those of Office files; TeX where the page has it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from engine.knowledge.loaders.contents import lowered, raised

_DEEPEST = 60
_STYLED = re.compile(r"\{\\(?:display|text)style\s+(.*)\}", re.DOTALL)
_UNSEEN = str.maketrans("", "", "\u2061\u2062\u2063\u2064")
_ONE_WORD = re.compile(r"\w+|.|[([{|].*[)\]}|]", re.DOTALL)


def equation(math: Any) -> str:
    """The TeX of an equation, else its words and signs: ``(a)/(b)``, ``x^2``, ``√(x)``, ``[1, 2; 3, 4]``."""
    for note in math.iter("annotation"):
        if "tex" in (note.get("encoding") or "").lower() and (note.text or "").strip():
            tex = " ".join(note.text.split())
            styled = _STYLED.fullmatch(tex)
            return styled.group(1).strip() if styled else tex
    return (math.get("alttext") or "").strip() or _inside(math, 0).strip()


def _inside(element: Any, depth: int) -> str:
    if depth > _DEEPEST:
        return "".join(element.itertext())
    return "".join(_part(child, depth + 1) for child in element)


def _part(element: Any, depth: int) -> str:
    name = element.tag if isinstance(element.tag, str) else "mphantom"
    if name in ("mi", "mn", "mo", "ms", "mtext"):
        words = " ".join("".join(element.itertext()).translate(_UNSEEN).split())
        return f" {words} " if name == "mtext" else words
    if name in ("annotation", "annotation-xml", "mphantom", "none", "mprescripts"):
        return ""
    if name == "mtable":
        rows = (", ".join(_inside(cell, depth + 2).strip() for cell in row) for row in element)
        return f"[{'; '.join(rows)}]"
    if name == "msqrt":
        return f"√({_inside(element, depth).strip()})"
    if name == "mfenced":
        inside = ", ".join(_part(child, depth + 1) for child in element)
        return f"{element.get('open', '(')}{inside}{element.get('close', ')')}"
    rule = _RULES.get(name)
    if rule is None:
        return _inside(element, depth)
    size, written = rule
    parts = [_part(child, depth + 1).strip() for child in element]
    return written(*parts) if len(parts) == size else _inside(element, depth)


def _one(text: str) -> str:
    return text if not text or _ONE_WORD.fullmatch(text) else f"({text})"


_RULES: dict[str, tuple[int, Callable[..., str]]] = {
    "mfrac": (2, lambda top, bottom: f"({top})/({bottom})"),
    "msup": (2, lambda base, up: _one(base) + raised(up)),
    "msub": (2, lambda base, down: _one(base) + lowered(down)),
    "msubsup": (3, lambda base, down, up: _one(base) + lowered(down) + raised(up)),
    "mover": (2, lambda base, over: _one(base) + raised(over)),
    "munder": (2, lambda base, under: _one(base) + lowered(under)),
    "munderover": (3, lambda base, under, over: _one(base) + lowered(under) + raised(over)),
    "mroot": (2, lambda inside, degree: f"√[{degree}]({inside})"),
}
"""Of each element how many arguments it has, and how they are written."""
