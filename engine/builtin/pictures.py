"""Images decoded, upright and small enough; runs in a process apart, for decoders written in C meet foreign bytes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from engine.builtin.image_header import MOST_PIXELS
from engine.errors import SourceDamaged
from engine.messages import N_

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_SIDE_READ = 3000
"""Pixels: a page of A4 at 250 dpi, at which the smallest print can be read."""
_DOTS_AN_INCH = 200
MOST_SIDE_SENT = 1568
"""Pixels: vision models make larger images smaller themselves."""
_QUALITY = 90


def pixels(name: str, data: bytes) -> NDArray[np.uint8]:
    """Rows × columns × (blue, green, red), the way text recognition takes them; raises ``SourceDamaged``."""
    import numpy as np

    image = _upright(name, data, _MOST_SIDE_READ)
    return np.ascontiguousarray(np.asarray(image)[:, :, ::-1])


def page_pixels(name: str, data: bytes, number: int) -> NDArray[np.uint8]:
    """A page of a PDF, from 1, as :func:`pixels` gives an image; raises ``SourceDamaged``."""
    import numpy as np
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(data) as document:
            page = document[number - 1]
            scale = min(_DOTS_AN_INCH / 72, _MOST_SIDE_READ / max(page.get_size()))
            return np.ascontiguousarray(page.render(scale=scale).to_numpy()[:, :, :3])
    except (pypdfium2.PdfiumError, IndexError, ValueError, ZeroDivisionError) as error:
        raise SourceDamaged.named(name=name, found=N_("a page or its outline cannot be read")) from error


def jpeg(name: str, data: bytes, most_side: int = MOST_SIDE_SENT) -> bytes:
    """A JPEG for a vision model, without a camera's metadata, such as its place."""
    out = io.BytesIO()
    _upright(name, data, most_side).save(out, "JPEG", quality=_QUALITY)
    return out.getvalue()


def _upright(name: str, data: bytes, most_side: int) -> Any:
    from PIL import Image

    # Its header was checked before; the decoder may still see something else.
    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    try:
        image: Image.Image = Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP"))
        # Of a JPEG only as many pixels are decoded as are needed.
        image.draft("RGB", (most_side, most_side))
        image.thumbnail((most_side, most_side))
        image = _turned(image)
        if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
            # Writing on a transparent ground was made to stand on a page.
            page = Image.new("RGBA", image.size, "white")
            image = Image.alpha_composite(page, image.convert("RGBA"))
        return image.convert("RGB")
    except (
        Image.DecompressionBombError,
        OSError,
        ValueError,
        SyntaxError,
        IndexError,
        KeyError,
        TypeError,
        EOFError,
    ) as error:
        raise SourceDamaged.named(name=name, found="it is no whole image") from error


def _turned(image: Any) -> Any:
    """The picture as the camera was held; damaged metadata does not get in the way."""
    from PIL import ExifTags, Image

    try:
        how = image.getexif().get(ExifTags.Base.Orientation)
    except Exception:  # its parser has no errors of its own, and a picture is worth more than its metadata
        return image
    turns = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }
    turn = turns.get(how) if isinstance(how, int) else None
    return image if turn is None else image.transpose(turn)
