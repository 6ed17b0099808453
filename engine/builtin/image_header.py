"""Kind and size of an image by its first bytes: nothing is decoded, so nothing can unpack to gigabytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from engine.roles import ImageType

MOST_PIXELS = 40_000_000
"""Of one image: what a telephone takes; each is three bytes once decoded."""
_PNG = b"\x89PNG\r\n\x1a\n"
_NO_SIZE = (0x01, 0xFF, *range(0xD0, 0xDA))
"""JPEG markers without a length of their own."""
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""JPEG markers that tell the size: start of frame, regardless of the coding."""


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """Facts in the header of an image; width and height are 0 if missing."""

    media_type: ImageType
    width: int
    height: int

    @property
    def pixels(self) -> int:
        return self.width * self.height


def image_header(data: bytes) -> ImageHeader | None:
    """The header of a PNG, JPEG or WebP image, no matter what its name says; None for anything else."""
    if data.startswith(_PNG):
        return ImageHeader("image/png", *_png(data))
    if data.startswith(b"\xff\xd8\xff"):
        return ImageHeader("image/jpeg", *_jpeg(data))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ImageHeader("image/webp", *_webp(data))
    return None


def _png(data: bytes) -> tuple[int, int]:
    return struct.unpack(">II", data[16:24]) if data[12:16] == b"IHDR" and len(data) >= 24 else (0, 0)


def _jpeg(data: bytes) -> tuple[int, int]:
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker in _FRAMES:
            height, width = struct.unpack(">HH", data[place + 5 : place + 9])
            return width, height
        place += (1 if marker == 0xFF else 2) if marker in _NO_SIZE else 2 + int.from_bytes(data[place + 2 : place + 4])
    return 0, 0


def _webp(data: bytes) -> tuple[int, int]:
    kind, body = data[12:16], data[20:30]
    if len(body) < 10:
        return 0, 0
    if kind == b"VP8X":
        return int.from_bytes(body[4:7], "little") + 1, int.from_bytes(body[7:10], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and body[3:6] == b"\x9d\x01\x2a":
        width, height = struct.unpack("<HH", body[6:10])
        return width & 0x3FFF, height & 0x3FFF
    return 0, 0
