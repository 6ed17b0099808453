"""The encoding of a text file: recognised by its marks, by what decodes, and only then by its statistics."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass

from engine.errors import SourceEncoding, SourceMislabelled
from engine.messages import N_

ENCODINGS: tuple[str, ...] = ("utf-8", "utf-16", "gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1252")

MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", N_("a PDF document")),
    (b"PK\x03\x04", N_("a ZIP archive or an Office document")),
    (b"\xd0\xcf\x11\xe0", N_("an old Office document")),
    (b"{\\rtf", N_("an RTF document")),
    (b"\x89PNG", N_("a PNG image")),
    (b"\xff\xd8\xff", N_("a JPEG image")),
    (b"GIF8", N_("a GIF image")),
    (b"RIFF", N_("a sound or image file")),
    (b"\x1f\x8b", N_("a gzip archive")),
    (b"7z\xbc\xaf", N_("a 7-Zip archive")),
    (b"\x7fELF", N_("a program")),
    (b"MZ\x90", N_("a program")),
    (b"SQLite format 3", N_("a database")),
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROL = 0.01

_OLDER = ("euc_jp", "euc_kr", "big5", "cp932", "cp1252")
_SAMPLE = 60_000
"""Characters that are looked at for statistics."""
_LEAST_FOREIGN = 20
"""Characters beyond ASCII, signs left out, that statistics need; fewer say too little."""
_SIGNS = frozenset("\u3000、。，．・：；？！“”‘’（）〔〕［］｛｝〈〉《》「」『』【】…—–―～·°§€«»¿¡")
_WESTERN = (
    ("äöüß", "und der die das ist nicht mit für von ein eine den"),
    ("àâçéèêëîïôùûüÿœæ", "le la les des est une dans pour que qui pas sur"),
    ("áéíóúüñ", "el la los las que una por con para del es como"),
    ("áàâãéêíóôõúç", "o os uma que não com para por como mais do da"),
    ("àèéìîòóù", "il la che di una per con non sono del della gli"),
    ("åäöæøéü", "och att det som en är av og er til ikke på med"),
)
"""Letters of six languages with some of their commonest words: a text in cp1252 keeps to one row."""


@dataclass(frozen=True, slots=True)
class Decoded:
    text: str
    encoding: str
    """As Python names it."""
    guessed: bool = False
    """Found out by statistics: the reader should have a look."""


def kind_of(data: bytes) -> str:
    """Name the kind of a file by its first bytes, e.g. ``a PDF document``; else ``text`` or ``binary data``."""
    found = next((kind for magic, kind in MAGIC if data.startswith(magic)), "")
    if found:
        return found
    head = data[:1000].lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html")):
        return N_("an HTML page")
    return N_("binary data") if b"\x00" in data or _CONTROL.search(head.decode("latin-1")) else N_("plain text")


def decode(name: str, data: bytes) -> str:
    """Text of a file, line ends as ``\\n``; raises like :func:`read_text`."""
    return read_text(name, data).text


def read_text(name: str, data: bytes, declared: str = "") -> Decoded:
    """Text of a file in UTF-8, UTF-16, GB 18030 or, where its statistics leave no doubt, an older encoding.

    ``declared`` is what the file says of itself; it is taken where the bytes agree. Raises ``SourceMislabelled`` for
    what is no text, ``SourceEncoding`` where no encoding fits: a guess that turned words into other words would be
    worse than a refusal.
    """
    found = next((kind for magic, kind in MAGIC if data.startswith(magic)), "")
    if found:
        raise SourceMislabelled(name=name, found=found)
    decoded = _declared(data, declared) or _decoded(data)
    if decoded is None:
        if b"\x00" in data:
            raise SourceMislabelled(name=name, found=N_("binary data"))
        raise SourceEncoding(name=name, tried=ENCODINGS)
    if len(_CONTROL.findall(decoded.text)) > _MOST_CONTROL * len(decoded.text):
        raise SourceMislabelled(name=name, found=N_("binary data"))
    text = decoded.text.lstrip("\ufeff")  # a second byte-order mark, as some editors write
    # A stray control character (an old form feed, a NUL) means nothing to a reader, and Milvus may choke on it.
    text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return Decoded(text, decoded.encoding, decoded.guessed)


def without_control(text: str) -> str:
    return _CONTROL.sub("", text)


def _declared(data: bytes, declared: str) -> Decoded | None:
    """The text in the encoding that the file names, unless its bytes are UTF-8 or do not fit."""
    if not declared or data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return None
    if _strictly(data, "utf-8") is not None:
        return None
    try:
        known = codecs.lookup(declared).name
    except LookupError:
        return None
    # Browsers read these names as the larger sets that programs really write.
    known = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252", "shift_jis": "cp932"}.get(
        known, known
    )
    if known.startswith(("utf", "unicode", "raw", "punycode", "idna")):
        return None
    text = _strictly(data, known)
    return Decoded(text, known) if text is not None else None


def _decoded(data: bytes) -> Decoded | None:
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            text = _strictly(data, encoding)
            return Decoded(text, encoding.removesuffix("-sig")) if text is not None else None
    text = _strictly(data, "utf-8")
    if text is not None and "\x00" not in text:
        return Decoded(text, "utf-8")
    if b"\x00" in data:
        # Some programs write a zero here and there, and broken downloads end with many.
        plain = data.rstrip(b"\x00") if data.endswith(bytes(4)) else data
        stray = plain.count(b"\x00") <= _MOST_CONTROL * len(plain)
        return _utf_16_without_mark(data) or (_decoded(plain.replace(b"\x00", b"")) if stray else None)
    return _gb18030(data) or _by_statistics(data)


def _utf_16_without_mark(data: bytes) -> Decoded | None:
    # ASCII signs (spaces, line ends, digits) have a zero byte on one side only, and every text has some.
    high_first, low_first = data[0::2].count(0), data[1::2].count(0)
    encoding = "utf-16-be" if high_first > low_first else "utf-16-le"
    text = _strictly(data, encoding)
    if text is None or "\x00" in text:
        return None
    # Any even number of bytes is some UTF-16, mostly of rare characters; a text keeps to common ones.
    common = sum(char.isascii() or _encodes(char, "gb2312") for char in text)
    return Decoded(text, encoding) if common >= 0.9 * len(text) else None


def _gb18030(data: bytes) -> Decoded | None:
    text = _strictly(data, "gb18030")
    if text is None:
        return None
    # Almost any bytes decode; what is really Chinese keeps to the characters of GB 2312. The Japanese and Korean EUC
    # lie in the same bytes: Chinese holds no kana, and to Korean eyes only half of it are syllables.
    foreign = [char for char in text if ord(char) > 127]
    if any(_plausible(other, name) for name in ("euc_jp", "euc_kr") if (other := _strictly(data, name)) is not None):
        return None
    common = sum(_encodes(char, "gb2312") for char in foreign)
    return Decoded(text, "gb18030") if common >= 0.9 * len(foreign) else None


def _by_statistics(data: bytes) -> Decoded | None:
    """The one older encoding whose text is plausible; none where several are."""
    found: list[Decoded] = []
    for encoding in _OLDER:
        if encoding == "big5" and found:
            continue  # its bytes cover those of the EUC, which almost no text in Big5 keeps to
        text = _strictly(data, encoding)
        if text is not None and _plausible(text, encoding):
            found.append(Decoded(text, encoding, guessed=True))
    return found[0] if len(found) == 1 else None


def _plausible(text: str, encoding: str) -> bool:
    """Return whether the characters beyond ASCII are typical of a text in this encoding."""
    sample = text[:_SAMPLE]
    foreign = [char for char in sample if ord(char) > 127 and char not in _SIGNS]
    if len(foreign) < _LEAST_FOREIGN:
        return False
    kinds = Counter(_script(char) for char in foreign)
    share = {kind: count / len(foreign) for kind, count in kinds.items()}
    if encoding == "big5":
        # The frequent characters lie in its first level; a wrong reading scatters over both.
        return sum(_frequent_in_big5(char) for char in foreign) > 0.95 * len(foreign)
    if encoding in ("cp932", "euc_jp"):
        return share.get("kana", 0) > 0.25 and share.get("kana", 0) + share.get("han", 0) > 0.95
    if encoding == "euc_kr":
        return share.get("hangul", 0) > 0.95
    words = set(re.findall(r"\w+", sample.lower()))
    letters = {char.lower() for char in foreign}
    return any(letters <= set(used) and len(words & set(usual.split())) >= 2 for used, usual in _WESTERN)


def _script(char: str) -> str:
    code = ord(char)
    if 0x3040 <= code <= 0x30FF:
        return "kana"
    if 0xAC00 <= code <= 0xD7AF:
        return "hangul"
    return "han" if 0x4E00 <= code <= 0x9FFF else "other"


def _frequent_in_big5(char: str) -> bool:
    try:
        code = char.encode("big5")
    except UnicodeEncodeError:
        return False
    return len(code) == 2 and 0xA1 <= code[0] <= 0xC6


def _encodes(char: str, encoding: str) -> bool:
    try:
        char.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None
