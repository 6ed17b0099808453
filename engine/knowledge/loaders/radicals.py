"""Characters that PDF writers put in place of others which look the same."""

from __future__ import annotations

import re
import unicodedata

# Fonts share one glyph between a radical and the character it is; a PDF made with them names either.
_SUPPLEMENT = dict(
    zip(
        "⺁⺇⺋⺟⺠⺮⻁⻄⻅⻆⻉⻋⻓⻔⻘⻙⻚⻛⻜⻝⻢⻣⻤⻥⻦⻧⻨⻩⻬⻮⻰⻳",
        "厂几卩母民竹虎西见角贝车长门青韦页风飞食马骨鬼鱼鸟卤麦黄齐齿龙龟",
        strict=True,
    )
)
_COMPATIBLE = re.compile(r"[\u2e80-\u2fdf\uf900-\ufaff\ufb00-\ufb06]")


def unified(text: str) -> str:
    """The text with radicals and ligatures as the characters that a reader types."""
    return _COMPATIBLE.sub(lambda match: _SUPPLEMENT.get(match.group()) or _normal(match.group()), text)


def _normal(char: str) -> str:
    return unicodedata.normalize("NFKC", char)
