"""Characters that Office files name by their place in a symbol font."""

from __future__ import annotations

import re
from collections import Counter

_SYMBOL = dict(
    enumerate(
        " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
        + "\0" * 33
        + "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\0〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
        0x20,
    )
)
_WINGDINGS = {
    **dict(enumerate("⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿", 0x80)),
    **dict(enumerate("←→↑↓↖↗↙↘⬅➔⬆⬇", 0xDF)),
    **dict(enumerate("⇦⇨⇧⇩⬄⇳", 0xEF)),
    **dict(enumerate("▪▫✗✓☒☑", 0xF9)),
    **dict(zip((0x4A, 0x4C, 0x6C, 0x6E, 0x6F, 0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76), "☺☹●■□❐❑❒⬧⧫◆❖", strict=True)),
    **dict(zip((0x21, 0x22, 0x28, 0x29, 0x2A, 0x36, 0x9F, 0xA1, 0xA7, 0xA8, 0xAB, 0xD8), "✏✂☎✆✉⌛•○▪☐★➢", strict=True)),
}
_FONTS = {
    "symbol": _SYMBOL,
    "wingdings": _WINGDINGS,
    "wingdings 2": dict(zip((0x4F, 0x50, 0x51, 0x52, 0x53, 0x54, 0xA3), "✗✓☒☑☒☒☐", strict=True)),
}
_PLACES = re.compile("[\uf020-\uf0ff]")


def symbol_text(text: str, font: str, lost: Counter[str]) -> str:
    """The text with characters of the common symbol fonts in Unicode; those of others are left out and counted."""
    known = _FONTS.get(font.strip().lower(), {})

    def read(place: re.Match[str]) -> str:
        sign = known.get(ord(place[0]) - 0xF000, "").strip("\0")
        lost["symbols"] += not sign
        return sign

    return _PLACES.sub(read, text)
